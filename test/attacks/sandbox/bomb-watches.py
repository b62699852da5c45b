# vector: descriptors that are watched without end: the kernel counts them for the user, and Node ends when none is left
import os, select
files = [os.eventfd(0) for _ in range(100)]
watches = [select.epoll() for _ in range(100)]
for watch in watches:
    for file in files:
        watch.register(file, 0)
return True
