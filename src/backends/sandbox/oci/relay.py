"""The first process of a container of Python programs. The engine gives it two streams; a guest needs more, so it carries
them: standard input goes to the guest's descriptor 3, and what the guest sends there, prints and writes to standard error
goes out in messages of a byte that says what it is, four bytes of length, and the content.

Arguments: how many bytes of standard input are the guest, whether they are its source or its code object, folders of
packages separated by colons (`*` for the interpreter's own), and the guest's environment. It ends when the engine's side does, and all others with it.
"""

import _signal
import _socket
import marshal
import posix
import select
import sys

EXIT, STDOUT, STDERR, CHANNEL, COMPILED = 0, 1, 2, 3, 9
CHUNK = 65536
# How frames begin after which no host ends a container.
PASSING = (b'{"type":"log"', b'{"type":"started"')
# More than pipes and sockets hold.
REST = 4 * 1048576


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[posix.write(fd, view) :]


def emit(tag, data):
    write_all(1, bytes([tag]) + len(data).to_bytes(4, "big") + data)


def read_exactly(fd, size):
    parts = []
    while size > 0:
        data = posix.read(fd, min(size, CHUNK))
        if not data:
            posix._exit(0)
        parts.append(data)
        size -= len(data)
    return b"".join(parts)


def compiled(source):
    """The code object as marshal writes it. A child makes it, so that nothing of the work stays in memory."""
    reading, writing = posix.pipe()
    pid = posix.fork()
    if pid == 0:
        write_all(writing, marshal.dumps(compile(source, "guest.py", "exec")))
        posix._exit(0)
    posix.close(writing)
    parts = []
    while data := posix.read(reading, CHUNK):
        parts.append(data)
    posix.close(reading)
    posix.waitpid(pid, 0)
    return b"".join(parts)


def out_of_memory():
    """Whether the kernel ended a process of this container for want of memory."""
    for name in ("memory.events", "memory/memory.oom_control"):
        try:
            fd = posix.open("/sys/fs/cgroup/" + name, posix.O_RDONLY)
            text = posix.read(fd, 4096)
            posix.close(fd)
        except OSError:
            continue
        return any(line.startswith(b"oom_kill ") and line != b"oom_kill 0" for line in text.splitlines())
    return False


def own_packages():
    """Where packages are installed, by pip and by Debian; looking for them as `site` does would take longer."""
    version = "%d.%d" % sys.version_info[:2]
    places = ("lib/python%s/site-packages" % version, "local/lib/python%s/dist-packages" % version, "lib/python3/dist-packages")
    return [path for path in (sys.prefix + "/" + place for place in places) if is_folder(path)]


def is_folder(path):
    try:
        return posix.stat(path).st_mode & 0o170000 == 0o040000
    except OSError:
        return False


def relay(size, form, packages, *environment):
    guest = read_exactly(0, int(size))
    if form == "source":
        guest = compiled(guest)
        emit(COMPILED, guest)
    ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
    channel = ours.fileno()
    stdout, stdout_end = posix.pipe()
    stderr, stderr_end = posix.pipe()
    child = posix.fork()
    if child == 0:
        posix.setsid()
        for number, fd in enumerate((posix.open("/dev/null", posix.O_RDONLY), stdout_end, stderr_end, theirs.fileno())):
            posix.dup2(fd, number)
        ours.detach()
        theirs.detach()
        posix.closerange(4, 65536)
        for key in list(posix.environ):
            posix.unsetenv(key)
        posix.environ.clear()
        for variable in environment:
            key, value = variable.split("=", 1)
            posix.putenv(key, value)
            posix.environ[key.encode()] = value.encode()
        sys.path.extend(own_packages() if packages == "*" else packages.split(":") if packages else [])
        return guest
    for fd in (stdout_end, stderr_end):
        posix.close(fd)
    theirs.close()
    waking, woken = posix.pipe()
    for fd in (waking, woken, channel, stdout, stderr):
        posix.set_blocking(fd, False)
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    _signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    sources = {channel: CHANNEL, stdout: STDOUT, stderr: STDERR}
    poll = select.poll()
    for fd in (0, waking, *sources):
        poll.register(fd, select.POLLIN)
    pending = bytearray()
    status = None

    def read(fd):
        """What there is; None where there is nothing now, nothing where no more comes."""
        try:
            return posix.read(fd, CHUNK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def take(fd):
        """Carries what there is; the number of bytes, or None where there is no more to come."""
        data = read(fd)
        if data is None:
            return 0
        if fd == channel and data:
            carry(data)
        elif data:
            emit(sources[fd], data)
        return len(data) or None

    def carry(data):
        # The host may end this container as soon as it has a last frame: what was written before goes first. A frame that
        # is followed by another is not the last.
        held = pass_by(data)
        rest = REST
        for output in (stdout, stderr):
            while held and output in sources and rest > 0 and (printed := read(output)):
                rest -= len(printed)
                if more := read(channel):
                    emit(CHANNEL, held)
                    held = pass_by(more)
                emit(sources[output], printed)
        if held:
            emit(CHANNEL, held)

    def pass_by(data):
        """Carries all but a frame that may be the last, which it returns."""
        last = data.rfind(b"\n", 0, -1) + 1
        if data.startswith(PASSING, last):
            last = len(data)
        if last > 0:
            emit(CHANNEL, data[:last])
        return data[last:]

    def drain(fd):
        rest = REST
        while rest > 0 and (size := take(fd)):
            rest -= size

    def pass_on():
        try:
            while pending:
                del pending[: posix.write(channel, pending)]
        except BlockingIOError:
            pass
        except OSError:
            pending.clear()

    def reap():
        nonlocal status
        while True:
            try:
                pid, found = posix.waitpid(-1, posix.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == child:
                status = found

    # It may have ended before anybody waited.
    reap()
    while status is None:
        # What the guest does not read is not taken from the host either.
        poll.modify(0, 0 if pending else select.POLLIN)
        if channel in sources:
            poll.modify(channel, select.POLLIN | (select.POLLOUT if pending else 0))
        for fd, events in poll.poll():
            if fd == 0:
                data = posix.read(0, CHUNK)
                if not data:
                    posix._exit(0)
                pending += data
                pass_on()
            elif fd == waking:
                posix.read(waking, CHUNK)
                reap()
            else:
                if events & select.POLLOUT:
                    pass_on()
                if events & ~select.POLLOUT and take(fd) is None:
                    poll.unregister(fd)
                    del sources[fd]
                    if fd == channel:
                        pending.clear()
    for fd in list(sources):
        drain(fd)
    if posix.WIFSIGNALED(status):
        number = posix.WTERMSIG(status)
        said = "signal %d %d" % (number, number == _signal.SIGKILL and out_of_memory())
    else:
        said = "code %d 0" % posix.WEXITSTATUS(status)
    emit(EXIT, said.encode())
    posix._exit(0)


def main():
    try:
        guest = relay(*sys.argv[1:])
    except BrokenPipeError:
        posix._exit(0)
    except BaseException as error:
        posix.write(2, ("%s: %s\n" % (type(error).__name__, error)).encode())
        posix._exit(125)
    sys.argv = ["program.py"]
    names = sys.modules["__main__"].__dict__
    code = marshal.loads(guest)
    for key in list(names):
        if not key.startswith("__"):
            del names[key]
    return code, names


exec(*main())
