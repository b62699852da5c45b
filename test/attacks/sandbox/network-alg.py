# vector: AF_ALG, the kernel's ciphers
# control: kernel
import socket
socket.socket(38, socket.SOCK_SEQPACKET)
return True
