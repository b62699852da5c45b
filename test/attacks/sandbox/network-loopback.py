# vector: a TCP connection to the host's loopback
import socket
target = await tools.target()
socket.create_connection(("127.0.0.1", target["port"]), timeout=2).close()
return True
