# vector: a datagram to link-local and metadata addresses
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("169.254.169.254", 80))
return True
