# vector: news of what others read, siblings and the host included: which modules they import, and when
import fcntl, os, signal, time
heard = []
signal.signal(signal.SIGIO, lambda number, frame: heard.append(number))
folder = os.open(os.path.dirname(os.__file__), os.O_RDONLY)
fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS | fcntl.DN_MULTISHOT)
with open(os.__file__, "rb") as file:
    file.read()
return len(heard) > 0
