# vector: a lease on a file that is read-only here: whoever opens it to write is held up for 45 seconds
# control: root
import fcntl, os, signal
signal.signal(signal.SIGIO, signal.SIG_IGN)
file = os.open(os.__file__, os.O_RDONLY)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
held = fcntl.fcntl(file, fcntl.F_GETLEASE) == fcntl.F_RDLCK
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
return held
