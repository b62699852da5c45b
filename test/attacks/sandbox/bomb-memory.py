# vector: memory in many processes, each below the cap
# control: group
import os, time
pids = []
ends = os.pipe()
try:
    for _ in range(6):
        pid = os.fork()
        if pid == 0:
            kept = b"x" * (48 << 20)
            os.write(ends[1], b"x")
            time.sleep(60)
            exit_now(0)
        pids.append(pid)
    os.close(ends[1])
    got = b""
    while len(got) < 6:
        piece = os.read(ends[0], 6)
        for pid in list(pids):
            if os.waitpid(pid, os.WNOHANG)[0]:
                return False
        got += piece
    return True
finally:
    for pid in pids:
        try:
            os.kill(pid, 9)
        except OSError:
            pass
