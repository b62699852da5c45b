# vector: processes without end
import os, time
pids = []
try:
    for _ in range(400):
        pid = os.fork()
        if pid == 0:
            time.sleep(60)
            exit_now(0)
        pids.append(pid)
finally:
    for pid in pids:
        os.kill(pid, 9)
return True
