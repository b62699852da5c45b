# vector: a byte out of band on a socket pair: a part of the kernel that nobody needs, and that let a sandbox be left before
# control: kernel
import socket
left, right = socket.socketpair()
left.send(b"x", socket.MSG_OOB)
return right.recv(1, socket.MSG_OOB) == b"x"
