"""The zygote of a sandbox: one interpreter, booted once, of which each guest is a fork.

It runs no program. It reads from descriptor 3 what the host tells it: first a line that says how forks are made, then a
byte for each guest, the number of its pipes. It answers in lines: `ready`, `forked <number> <pid>`, `failed <number>
<why>` and `ended <number> <status>`.

A fork leads a pid namespace of its own, with its own mounts, IPC and host name. It gives up every right, is held by the
filter of system calls, waits until the host has put it into its control group, and only then forks the guest itself: so
a guest is no namespace's first process, which signals treat differently, and whatever it leaves behind ends with it.
"""

import sys
from _json import make_scanner
from _signal import SIG_DFL, SIGCHLD, SIGINT, default_int_handler, signal
from marshal import loads
from posix import O_RDONLY, O_RDWR, _exit, chdir, close, closerange, dup2, fork, open, pidfd_open, pipe, read, setsid
from posix import strerror, waitpid, waitstatus_to_exitcode, write
from select import POLLIN, poll

import ctypes
import gc
from binascii import a2b_base64

CONTROL = 3
SETTLED = 40  # milliseconds without a request after which there is time to import what many programs use
FAILED = 126
NAMESPACES = 0x00020000 | 0x20000000 | 0x08000000 | 0x04000000  # mounts, pids, IPC, host name
PRIVATE = 0x4000 | 0x40000  # MS_REC | MS_PRIVATE
NO_DEVICES = 2 | 4  # MS_NOSUID | MS_NODEV
SET_FILTER, DROP_BOUND, AMBIENT, CLEAR_AMBIENT = 22, 24, 47, 4  # of prctl
RIGHTS = (21, 8)  # CAP_SYS_ADMIN, CAP_SETPCAP
CAPABILITIES_VERSION = 0x20080522

libc = ctypes.CDLL(None, use_errno=True)

with __import__("io").open("/guest/guest.pyc", "rb") as file:
    guest = {"__name__": "guest"}
    exec(loads(file.read()[16:]), guest)


class Program(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


class Header(ctypes.Structure):
    """struct __user_cap_header_struct"""

    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), strerror(ctypes.get_errno()))
    return result


def confine(order):
    """Shuts this process into a world of its own; what it starts from now on is a guest."""
    checked(libc.mount(b"none", b"/", None, ctypes.c_ulong(PRIVATE), None))
    checked(libc.mount(b"tmpfs", b"/tmp", b"tmpfs", ctypes.c_ulong(NO_DEVICES), order["tmpfs"]))
    # The folder that this process was in lies below the new one.
    chdir("/tmp")
    checked(libc.prctl(AMBIENT, CLEAR_AMBIENT, 0, 0, 0))
    for right in RIGHTS:
        checked(libc.prctl(DROP_BOUND, right, 0, 0, 0))
    checked(libc.capset(ctypes.byref(Header(CAPABILITIES_VERSION, 0)), (ctypes.c_uint32 * 6)()))
    checked(libc.prctl(SET_FILTER, 2, ctypes.byref(order["filter"]), 0, 0))


def lead(pipes, order, report):
    """The first process of a guest's namespace: starts the guest, waits for its end and repeats its status."""
    try:
        channel, output, errors = pipes
        # A signal to a process group reaches all its members, in whichever namespace: the group must be the guest's alone.
        setsid()
        # What is open in the zygote has one state for all that inherit it: flags, owner, position.
        dup2(open("/dev/null", O_RDONLY), 0)
        dup2(channel, 3)
        dup2(output, 1)
        dup2(errors, 2)
        closerange(4, report)
        closerange(report + 1, 1 << 16)
        confine(order)
        write(report, b"+")
        close(report)
    except BaseException as error:
        write(report, str(error).encode())
        _exit(FAILED)
    # The host says when this process is in its control group; all that it starts is then, too.
    if not read(3, 1):
        _exit(0)
    pid = fork()
    if pid == 0:
        signal(SIGINT, default_int_handler)
        return
    # The guest's pipes are the guest's: that it closes one must show.
    nowhere = open("/dev/null", O_RDWR)
    for number in (1, 2, 3):
        dup2(nowhere, number)
    while True:
        ended, status = waitpid(-1, 0)
        if ended == pid:
            _exit(as_shell(status))


def as_shell(status):
    """A wait status as a shell tells it: for a signal, 128 and its number."""
    code = waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def say(*words):
    data = " ".join(map(str, words)).encode() + b"\n"
    while data:
        data = data[write(CONTROL, data) :]


def clone(order):
    """Forks into new namespaces; 0 in the child. What hooks do at a fork is left to the fork that makes the guest."""
    pid = libc.syscall(ctypes.c_long(order["clone"]), ctypes.c_ulong(NAMESPACES | SIGCHLD), *[ctypes.c_ulong(0)] * 4)
    return checked(pid)


def make(number, order, living, watch):
    """Makes a guest of pipes `number`. True in the guest, False in the zygote."""
    at = order["first"] + 3 * number
    pipes = (at, at + 1, at + 2)
    told, report = pipe()
    try:
        pid = clone(order)
    except OSError as error:
        close(report)
        close(told)
        say("failed", number, error)
        return False
    if pid == 0:
        lead(pipes, order, report)
        return True
    close(report)
    for each in pipes:
        close(each)
    word = read(told, 256)
    close(told)
    if word != b"+":
        waitpid(pid, 0)
        say("failed", number, word.decode() or "it ended at once")
        return False
    end = pidfd_open(pid)
    living[end] = (number, pid)
    watch.register(end, POLLIN)
    say("forked", number, pid)
    return False


REHEARSED = """import os
def twice(number):
    return [number, {"n": f"{number}"}]
result = await tools.call({"a": 1, "b": twice(2)})
for item in [1.5, "text", None, True]:
    print(item)
return {"result": [twice(1) for _ in range(2)]}"""


def rehearse():
    """Does what a run does. In a guest that waits: it then owns the pages, which are shared until they are written to."""
    value = guest["decode"](b'{"rows":[{"id":1,"name":"one","odd":true,"share":0.5}],"none":null}')
    guest["encode"](value, 1 << 20, "value")
    guest["compile_program"](REHEARSED, {"__doc__": None, "tools": None})


def settle():
    """Keeps the collector off what every fork shares: what it writes to is copied."""
    gc.collect()
    gc.freeze()


def first_order():
    text = b""
    while not text.endswith(b"\n"):
        data = read(CONTROL, 1 << 16)
        if not data:
            _exit(0)
        text += data
    return text.decode()


class Context:
    strict = True
    memo = {}
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = None


def serve_forks():
    """Makes a guest for each request. Returns in a guest; the zygote itself ends when the host closes the channel."""
    order, _ = make_scanner(Context)(first_order(), 0)
    instructions = a2b_base64(order["filter"])
    order["filter"] = Program(len(instructions) // 8, instructions)
    order["tmpfs"] = order["tmpfs"].encode()
    # What the sandbox was made with.
    closerange(4, order["first"])
    signal(SIGINT, SIG_DFL)
    guest["boot"]()
    rehearse()
    settle()
    living = {}
    watch = poll()
    watch.register(CONTROL, POLLIN)
    settled = False
    say("ready")
    while True:
        events = watch.poll(None if settled else SETTLED)
        if not events and not settled:
            guest["boot"](warm=True)
            settle()
            settled = True
        for descriptor, _ in events:
            if descriptor == CONTROL:
                asked = read(CONTROL, 1 << 16)
                if not asked:
                    _exit(0)
                for number in asked:
                    if make(number, order, living, watch):
                        return
            else:
                number, pid = living.pop(descriptor)
                watch.unregister(descriptor)
                close(descriptor)
                _, status = waitpid(pid, 0)
                say("ended", number, as_shell(status))


serve_forks()
rehearse()
guest["serve"](3)
