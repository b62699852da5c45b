# vector: an abstract unix socket of the host, through the end of a datagram pair
import socket
target = await tools.target()
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
a.connect("\0" + target["abstract"] + "-datagram")
return True
