# vector: resource limits of another process
import os, resource
pid = os.fork()
if pid == 0:
    import time
    time.sleep(20)
    exit_now(0)
try:
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (64, 64))
    return True
finally:
    os.kill(pid, 9)
