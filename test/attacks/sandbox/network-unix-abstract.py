# vector: an abstract unix socket of the host
import socket
target = await tools.target()
s = socket.socket(socket.AF_UNIX)
s.connect("\0" + target["abstract"])
return True
