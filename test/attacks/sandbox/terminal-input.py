# vector: typing into a terminal by TIOCSTI
# control: root
import fcntl, os, termios
pid = os.fork()
if pid == 0:
    try:
        os.setsid()
        first, second = os.openpty()
        fcntl.ioctl(second, termios.TIOCSCTTY, 0)
        fcntl.ioctl(second, termios.TIOCSTI, b"x")
        exit_now(0)
    except BaseException:
        exit_now(1)
return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
