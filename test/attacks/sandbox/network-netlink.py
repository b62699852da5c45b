# vector: AF_NETLINK
import socket
socket.socket(16, socket.SOCK_RAW, 0)
return True
