# vector: another user by setuid
# control: root
import os
pid = os.fork()
if pid == 0:
    try:
        os.setuid(65534)
        exit_now(0)
    except OSError:
        exit_now(1)
return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
