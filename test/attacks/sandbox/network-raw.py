# vector: a raw packet socket
# control: root
import socket
socket.socket(17, socket.SOCK_RAW)
return True
