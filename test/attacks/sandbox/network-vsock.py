# vector: AF_VSOCK, which no network namespace bounds
# control: kernel
import socket
socket.socket(40, socket.SOCK_STREAM)
return True
