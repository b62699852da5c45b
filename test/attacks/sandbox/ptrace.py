# vector: tracing a process
import os, time
pid = os.fork()
if pid == 0:
    time.sleep(20)
    exit_now(0)
result, errno = call(101, 117, 16, pid, 0, 0)
os.kill(pid, 9)
return result == 0
