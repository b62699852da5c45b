# vector: a handle of the process at the other end of a socket, which is the host's
import os, socket
target = await tools.target()
try:
    end = socket.socket(fileno=os.dup(3))
    end.getpeername()
except OSError:
    end = socket.socket(socket.AF_UNIX)
    end.connect(target["socket"])
SO_PEERPIDFD, SO_PEERCRED, SO_PEERSEC = 77, 17, 31
found = []
for option in (SO_PEERPIDFD, SO_PEERCRED, SO_PEERSEC):
    try:
        found.append(end.getsockopt(socket.SOL_SOCKET, option, 256))
    except OSError:
        pass
return len(found) > 0
