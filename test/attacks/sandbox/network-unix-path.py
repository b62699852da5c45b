# vector: a unix socket of the host, by path
import socket
target = await tools.target()
s = socket.socket(socket.AF_UNIX)
s.connect(target["socket"])
return True
