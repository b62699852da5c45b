# vector: a socket of AF_INET6
import socket
socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
return True
