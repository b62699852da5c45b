# vector: a signal to every process that may be signalled
import os, signal
target = await tools.target()
pids = []
for pid in range(2, 400000):
    try:
        os.kill(pid, 0)
        pids.append(pid)
    except OSError:
        pass
return target["pid"] in pids
