"""The Python guest: runs one program and speaks the protocol of docs/protocol.md on a socket.

`boot()` is everything that can happen before a program is known; `serve(fd)` waits for `start` and runs it. An
interpreter that is kept warm calls `boot(warm=True)` once and `serve` in each fork.

Two ways to drive a program. A program that never touches asyncio is driven by hand, one call after another: importing
asyncio costs more than everything else here together. The first import of asyncio, before or in the middle of the
program, hands the running coroutine over to an event loop.

The program shares this interpreter and may replace any function of any module. What is used after the program has
begun is therefore bound by name here, and the builtins that these functions see are a private copy.
"""

import builtins
import sys

__builtins__ = dict(vars(builtins))

import _ast
import _codecs
import _io
import _signal
import _warnings
import gc
import marshal
import posix
import select
from _collections import deque
from _frozen_importlib import ModuleSpec, _find_spec, _ModuleLockManager
from _frozen_importlib_external import PathFinder
from _json import encode_basestring, encode_basestring_ascii, make_encoder, make_scanner, scanstring
from _thread import RLock, _count as thread_count, get_ident, start_new_thread
from itertools import count, islice
from posix import _exit, getpid, read, write
from sys import _getframe, getrecursionlimit, setrecursionlimit
from time import perf_counter

FILE = "program.py"
BODY = "<program>"  # the name of the body's function; no identifier, so no program can collide with it
LOCAL = BODY + ".<locals>."
STAR = "<import *>"
LOST = (9, 32, 104, 107)  # EBADF, EPIPE, ECONNRESET, ENOTCONN
OUT_OF_MEMORY = 213  # the exit code that docs/protocol.md tells
FEW = 1 << 15  # bytes of one read
MANY = 1 << 18
AT_ONCE = 1 << 16  # characters that are sent, or bytes that are decoded, as one
MOST_FRAMES = 32
MOST_UNSENT = 1000
MOST_DETAILS = 8000
SHALLOW = 150  # nesting that the recursive encoder of CPython takes at any stack depth a program can have
EXACT = 2**53
FUNCTION = type(lambda: None)
CODE = type((lambda: None).__code__)
VERSION = sys.version_info[:2]
HAS_COLUMNS = VERSION >= (3, 11)
AST = _ast.AST
MODULE = type(sys)


# The channel


class Channel:
    """The socket to the host, and all that this process may say on it."""

    __slots__ = ("fd", "pid", "lock", "outbox", "writing", "dirty", "last", "closed", "pieces", "size", "socket")

    def __init__(self, fd):
        self.fd = fd
        self.pid = getpid()
        self.lock = RLock()
        self.outbox = deque()
        self.writing = False
        self.dirty = False
        self.last = None
        self.closed = False
        self.pieces = []
        self.size = FEW
        self.socket = None


channel = None


def transmit(text):
    """Sends a frame now, after the calls that were put aside before it; None sends only those. False: not our channel."""
    c = channel
    if getpid() != c.pid:
        return False
    if text is not None:
        c.outbox.append(text)
    with c.lock:
        # A finalizer or a signal handler can interrupt a write of its own thread. What it sends goes out after that.
        if c.writing or c.closed:
            return True
        c.writing = True
        try:
            while True:
                if c.outbox:
                    item = gather(c.outbox)
                elif c.last is not None:
                    item = c.last
                else:
                    break
                final = item is c.last
                if c.dirty:
                    # An exception of a signal handler cut a frame short. The host drops the broken line.
                    item = b"\n" + item
                c.dirty = True
                size = write(c.fd, item)
                while size < len(item):
                    item = item[size:] if len(item) < 65536 else memoryview(item)[size:]
                    size = write(c.fd, item)
                c.dirty = False
                if final:
                    c.closed = True
                    break
        except OSError as error:
            # A signal handler may raise an OSError of its own here.
            if error.errno in LOST:
                _exit(1)
            raise
        finally:
            c.writing = False
    if c.closed:
        rest()
    return True


def gather(outbox):
    """The next bytes to send: frames one by one, for others may put more aside, or be interrupted here."""
    text = outbox[0]
    if len(outbox) == 1 and type(text) is str:
        data = text.encode("utf-8", "backslashreplace")
        outbox.popleft()
        return data
    text = outbox.popleft()
    if type(text) is bytes:
        return text
    texts = [text]
    try:
        if len(text) < FEW:
            size = len(text)
            while outbox and size < AT_ONCE and type(outbox[0]) is str:
                texts.append(outbox.popleft())
                size += len(texts[-1])
            text = "".join(texts)
        return text.encode("utf-8", "backslashreplace")
    except BaseException:
        # Of a signal handler, or for want of memory: all of them are still to be sent.
        outbox.extendleft(reversed(texts))
        raise


def flush():
    """Sends the calls that were put aside."""
    if channel.outbox and not transmit(None):
        # A process that nobody told of its fork, such as one of ctypes.
        forked()
        raise RuntimeError("a binding cannot be called from a forked process")


def rest():
    """The run has ended here; the host ends the process."""
    while True:
        try:
            if not read(channel.fd, 65536):
                _exit(0)
        except OSError:
            _exit(0)
        except BaseException:
            pass


def conclude(frame):
    """Sends the final frame. Nothing is sent after it."""
    c = channel
    if getpid() != c.pid:
        _exit(0)
    with c.lock:
        if c.closed or c.last is not None:
            interrupted = c.writing
        else:
            c.last = frame
            interrupted = c.writing
            while not interrupted and not c.closed:
                try:
                    transmit(None)
                except BaseException:
                    pass  # by a signal handler; the frame is still to be sent
    if not interrupted:
        rest()


def receive(data):
    """The whole lines that these bytes complete, in one. Only new bytes are searched."""
    c = channel
    # The kernel maps and unmaps a buffer of many bytes, which takes longer than all the rest of a call.
    c.size = MANY if len(data) >= FEW else FEW
    pieces = c.pieces
    at = data.rfind(b"\n")
    if at < 0:
        pieces.append(data)
        return b""
    whole = data[:at]
    if pieces:
        pieces.append(whole)
        whole = b"".join(pieces)
        pieces.clear()
    if at + 1 < len(data):
        pieces.append(data[at + 1 :])
    return whole


class Ear:
    """How a program without a loop waits for answers: asleep or, where they come late and it pays, by looking for them.

    To wake a processor that sleeps takes a virtual machine several times as long as all that a call is. This is the
    adaptive spinning of the JavaScript guest: its file says more. Times are in seconds.
    """

    SLOW = 55e-6  # an answer that comes sooner did not have to wake anybody
    SPIN = 100e-6
    ENOUGH = 16
    TRIAL = 64
    GAIN = 0.8
    LEAST_REST = 4
    LONGEST_REST = 1024

    def __init__(self, fd):
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        self.look = poll.poll
        self.asleep = self.awake = 0.0
        self.spins = False
        self.found = self.tried = self.left = 0
        self.rest = self.LEAST_REST

    def hear(self):
        """Reads the next answers."""
        began = perf_counter()
        if self.spins:
            look = self.look
            until = began + self.SPIN
            while not (look(0) or look(0) or look(0) or look(0)):
                if perf_counter() > until:
                    self.stop(self.found >= self.ENOUGH)
                    break
            else:
                self.find(perf_counter() - began)
            return read(channel.fd, channel.size)
        data = read(channel.fd, channel.size)
        took = perf_counter() - began
        self.asleep += ((took if took < 4 * self.SPIN else 4 * self.SPIN) - self.asleep) / 8
        if self.left > 0:
            self.left -= 1
        else:
            self.spins = self.SLOW < self.asleep < 2 * self.SPIN
            self.found = self.tried = 0
            self.awake = 0.0
        return data

    def find(self, took):
        self.awake += took
        self.found += 1
        self.tried += 1
        if self.tried == self.TRIAL:
            if self.awake > self.GAIN * self.asleep * self.TRIAL:
                self.stop(False)
            self.tried, self.awake = 0, 0.0

    def stop(self, has_paid):
        if has_paid:
            self.rest = self.LEAST_REST
        elif self.rest < self.LONGEST_REST:
            self.rest *= 4
        self.spins = False
        self.left = self.rest


# JSON


class Reading:
    """What the scanner of CPython asks of its context."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo = {}


class ExactReading(Reading):
    @staticmethod
    def parse_int(text):
        number = int(text) if len(text) < 400 else float(text)
        return number if -EXACT <= number <= EXACT else int(float(text))


scan = make_scanner(Reading())
scan_exact = make_scanner(ExactReading())
DIGITS = bytes(48 if 48 <= i <= 57 else 0 for i in range(256))
SIXTEEN = b"0" * 16
SHORT = 48  # bytes of an answer, whose frame alone takes 33, that cannot hold so many digits


def decode(line):
    """The value of a line of JSON. An integer is the double that it names, as it is on the host's side."""
    reader = scan if len(line) < SHORT or SIXTEEN not in line.translate(DIGITS) else scan_exact
    text = line.decode("utf-8", "replace")
    limit = 0
    if VERSION < (3, 12) and len(line) > 10000:
        # The scanner recurses up to the recursion limit, which the program may have raised beyond the stack.
        limit = getrecursionlimit()
        if limit > 3000:
            try:
                setrecursionlimit(3000)
            except RecursionError:
                limit = 0
        else:
            limit = 0
    try:
        return reader(text, 0)[0]
    except RecursionError:
        return decode_deep(text, reader)
    finally:
        if limit:
            setrecursionlimit(limit)


def decode_lines(whole):
    """The values of lines of JSON."""
    if b"\n" not in whole:
        return (decode(whole),) if whole else ()
    if len(whole) < AT_ONCE:
        return decode(b"[%b]" % whole.replace(b"\n", b","))
    return [decode(line) for line in whole.split(b"\n")]


def decode_deep(text, reader):
    """The same without recursion, for compact JSON of any depth."""
    stack = []
    at = 0
    key = None
    while True:
        character = text[at]
        while character in " \t\r\n":
            at += 1
            character = text[at]
        if character == "[" or character == "{":
            container = [] if character == "[" else {}
            at += 1
            while text[at] in " \t\r\n":
                at += 1
            if text[at] == "]" or text[at] == "}":
                at += 1
                value = container
            else:
                stack.append((container, key))
                if character == "{":
                    key, at = scanstring(text, at + 1, False)
                    while text[at] != ":":
                        at += 1
                    at += 1
                continue
        else:
            value, at = reader(text, at)
        while stack:
            container, outer = stack[-1]
            if type(container) is list:
                container.append(value)
            else:
                container[key] = value
            while text[at] in " \t\r\n":
                at += 1
            character = text[at]
            at += 1
            if character == ",":
                if type(container) is dict:
                    while text[at] in " \t\r\n":
                        at += 1
                    key, at = scanstring(text, at + 1, False)
                    while text[at] != ":":
                        at += 1
                    at += 1
                break
            stack.pop()
            value = container
            key = outer
        else:
            return value


def refuse(value):
    raise TypeError("the value changed while it was sent")


write_json = make_encoder(None, refuse, encode_basestring, None, ":", ",", False, False, False)


class Offence(Exception):
    """A value that is not lossless JSON; the text says where and what."""


class Overflow(Exception):
    """A value whose JSON is longer than the cap."""


def survey(value, cap):
    """The depth of a value that is lossless beyond doubt and surely not far over the cap, else -1.

    Quick: level by level, counting a lower bound of the bytes. Whatever is unusual (an offence, a container seen twice,
    too long) is left to `examine`.
    """
    level = [value]
    seen = set()
    total = depth = 0
    while level:
        depth += 1
        below = []
        for node in level:
            if id(node) in seen:
                return -1
            seen.add(id(node))
            total += 2
            if type(node) is dict:
                for key, item in node.items():
                    if type(key) is not str:
                        return -1
                    total += len(key) + 5
                    kind = type(item)
                    if kind is str:
                        total += len(item)
                    elif kind is int:
                        if not -EXACT <= item <= EXACT and not exact(item):
                            return -1
                    elif kind is dict or kind is list:
                        below.append(item)
                    elif kind is float:
                        if item - item != 0.0 or item == 0.0 and repr(item) != "0.0":
                            return -1
                    elif item is not None and kind is not bool:
                        return -1
            elif type(node) is list:
                total += 2 * len(node)
                for item in node:
                    kind = type(item)
                    if kind is str:
                        total += len(item)
                    elif kind is int:
                        if not -EXACT <= item <= EXACT and not exact(item):
                            return -1
                    elif kind is dict or kind is list:
                        below.append(item)
                    elif kind is float:
                        if item - item != 0.0 or item == 0.0 and repr(item) != "0.0":
                            return -1
                    elif item is not None and kind is not bool:
                        return -1
            else:
                return -1
            if total > cap:
                return -1
        level = below
    return depth


def exact(number):
    try:
        return int(float(number)) == number
    except OverflowError:
        return False


def number_bytes(number):
    """How long JSON.stringify writes a number."""
    text = repr(float(number))
    size = 0
    if text[0] == "-":
        size = 1
        text = text[1:]
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    if fraction == "0":
        fraction = ""
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or "0") - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    count = len(digits)
    if count == 0:
        return 1
    if count <= point <= 21:
        return size + point
    if 0 < point <= 21:
        return size + count + 1
    if -6 < point <= 0:
        return size + 2 - point + count
    power = point - 1
    return size + count + (1 if count > 1 else 0) + 2 + len(str(abs(power)))


def string_bytes(text, cap):
    if len(text) + 2 > cap:
        raise Overflow
    return len(encode_basestring(text).encode("utf-8", "backslashreplace"))


def examine(value, cap, root):
    """Walks a value in the order of its text. Raises Offence or Overflow, or returns its depth.

    The bytes are those of JSON.stringify. A container that is met again is not walked again.
    """
    sizes = {}
    stack = []  # [container, iterator, its own place, bytes so far, next index]
    above = set()
    total = deepest = 0
    item = value
    place = None
    while True:
        kind = type(item)
        grown = 0
        if item is None or item is True:
            grown = 4
        elif item is False:
            grown = 5
        elif kind is str:
            grown = string_bytes(item, cap)
        elif kind is int:
            if not exact(item):
                raise Offence(complain(item, root, stack, place))
            grown = number_bytes(item)
        elif kind is float:
            if item - item != 0.0 or item == 0.0 and repr(item) != "0.0":
                raise Offence(complain(item, root, stack, place))
            grown = number_bytes(item)
        elif kind is list or kind is dict:
            if id(item) in above:
                raise Offence(path(root, stack, place) + " is a cycle: it is inside itself; return a copy without it")
            grown = sizes.get(id(item), -1)
            if grown < 0:
                above.add(id(item))
                # For the keys a copy: another thread may change the dictionary meanwhile.
                stack.append([item, iter(item if kind is list else list(item.items())), place, 1, 0])
                total += 1
                grown = 0
                if len(stack) > deepest:
                    deepest = len(stack)
        else:
            raise Offence(complain(item, root, stack, place))
        total += grown
        if stack:
            stack[-1][3] += grown
        if total > cap:
            raise Overflow
        while stack:
            top = stack[-1]
            container = top[0]
            first = top[3] == 1
            try:
                if type(container) is list:
                    item = next(top[1])
                    place = top[4]
                    top[4] += 1
                    grown = 1
                else:
                    place, item = next(top[1])
                    if type(place) is not str:
                        where = path(root, stack[:-1], top[2])
                        key = f"{show(place)}, {article(type(place).__name__)}"
                        raise Offence(f"{where} has the key {key}; keys are strings: use str(key)")
                    grown = string_bytes(place, cap) + 2
            except StopIteration:
                if first:
                    top[3] += 1
                    total += 1
                sizes[id(container)] = top[3]
                above.discard(id(container))
                place = top[2]
                stack.pop()
                if stack:
                    stack[-1][3] += top[3]
                continue
            top[3] += grown
            total += grown
            break
        else:
            return deepest


def path(root, stack, place):
    keys = [entry[2] for entry in stack[1:]]
    if stack:
        keys.append(place)
    if len(keys) > 60:
        keys = keys[:40] + [None] + keys[-10:]
    text = root
    for key in keys:
        if key is None:
            text += "..."
        elif type(key) is int:
            text += f"[{key}]"
        elif key.isidentifier():
            text += "." + (key if len(key) <= 100 else key[:100] + "...")
        else:
            text += "[" + encode_basestring(key if len(key) <= 100 else key[:100] + "...") + "]"
    return text


def article(name):
    return ("an " if name[:1] in "aeiouAEIOU" else "a ") + name


def show(value):
    """A short text of a key or number; runs nothing of the program."""
    if type(value) in (int, float, bool, type(None)):
        text = repr(value) if type(value) is not int or value.bit_length() < 2000 else "a huge integer"
        return text if len(text) <= 60 else text[:60] + "..."
    return type(value).__name__


REMEDIES = {
    "tuple": "list({})",
    "set": "list({})",
    "frozenset": "list({})",
    "range": "list({})",
    "generator": "list({})",
    "deque": "list({})",
    "dict_keys": "list({})",
    "dict_values": "list({})",
    "dict_items": "[list(pair) for pair in {}]",
    "map": "list({})",
    "filter": "list({})",
    "zip": "[list(pair) for pair in {}]",
    "enumerate": "[list(pair) for pair in {}]",
    "reversed": "list({})",
    "bytes": "{}.decode()",
    "bytearray": "{}.decode()",
    "memoryview": "bytes({}).decode()",
    "complex": "[{0}.real, {0}.imag]",
    "Decimal": "float({0}) or str({0})",
    "Fraction": "float({0}) or str({0})",
    "datetime": "{}.isoformat()",
    "date": "{}.isoformat()",
    "time": "{}.isoformat()",
    "timedelta": "{}.total_seconds()",
    "UUID": "str({})",
    "OrderedDict": "dict({})",
    "defaultdict": "dict({})",
    "Counter": "dict({})",
    "ChainMap": "dict({})",
    "mappingproxy": "dict({})",
    "ndarray": "{}.tolist()",
    "Series": "{}.tolist()",
    "DataFrame": '{}.to_dict("records")',
    "SimpleNamespace": "vars({})",
    "StringIO": "{}.getvalue()",
    "BytesIO": "{}.getvalue().decode()",
    "Match": "{}.group()",
    "ellipsis": "None",
    "async_generator": "[item async for item in {}]",
}


def complain(item, root, stack, place):
    where = path(root, stack, place)
    name = place if type(place) is str and place.isidentifier() and len(place) < 40 else "x"
    verb = "return" if root == "value" else "pass"
    kind = type(item)
    if kind is float:
        if item == 0.0:
            return f"{where} is -0.0, which JSON has no place for; {verb} 0.0"
        return f"{where} is {show(item)}, which JSON has no place for; {verb} None"
    if kind is int:
        return f"{where} is {show(item)}, an integer that no double holds exactly; {verb} str({name})"
    if kind is Call:
        called = item.function
        remedy = f"await it: await {called.label}(...)"
        return f"{where} is a coroutine, the call of {called.label} that was not awaited; {remedy}"
    bases = [base.__name__ for base in kind.__mro__]
    title = kind.__name__
    if title in ("coroutine", "Task", "Future", "_GatheringFuture"):
        return f"{where} is {article(title)} that was not awaited; await it: await {name}"
    if callable(item) and title in ("function", "builtin_function_or_method", "method", "type", "partial"):
        what = "a class" if title == "type" else article(title)
        return f"{where} is {what}; {verb} what it gives, {name}()"
    text = f"{where} is {article(title)}"
    for base in bases:
        if base in REMEDIES:
            return f"{text}; {verb} {REMEDIES[base].format(name)}"
    if "__dataclass_fields__" in kind.__dict__:
        return f"{text}; {verb} dataclasses.asdict({name})"
    if "Enum" in bases:
        return f"{text}; {verb} {name}.value"
    if "PurePath" in bases or "BaseException" in bases:
        return f"{text}; {verb} str({name})"
    for base, way in ((str, "str"), (bool, "bool"), (int, "int"), (float, "float"), (list, "list"), (dict, "dict")):
        if base in kind.__mro__:
            return f"{text}, a subclass of {way}; {verb} {way}({name})"
    for way, remedy in (("model_dump", "model_dump()"), ("tolist", "tolist()"), ("to_dict", "to_dict()")):
        if any(way in base.__dict__ for base in kind.__mro__):
            return f"{text}; {verb} {name}.{remedy}"
    if any("__await__" in base.__dict__ for base in kind.__mro__):
        return f"{text} that was not awaited; await it: await {name}"
    return f"{text}; {verb} a dict, a list, a string, a number, a bool or None made from it"


def encode(value, cap, root):
    """The JSON of a value. Raises Offence or Overflow. No code of the program runs."""
    kind = type(value)
    if kind is dict or kind is list:
        depth = survey(value, cap)
        if depth < 0:
            depth = examine(value, cap, root)
        if depth > SHALLOW:
            return encode_deep(value)
    else:
        examine(value, cap, root)
    return "".join(write_json(value, 0))


def encode_argument(value, cap):
    """The same of an argument: most are dictionaries of strings and small integers. It has at most `cap` bytes."""
    parts = []
    if type(value) is dict:
        for key, item in value.items():
            kind = type(item)
            if type(key) is not str:
                break
            if kind is int:
                if not -EXACT <= item <= EXACT:
                    break
                parts.append(f"{encode_basestring(key)}:{item}")
            elif kind is str and len(item) < FEW:
                parts.append(f"{encode_basestring(key)}:{encode_basestring(item)}")
            else:
                break
        else:
            text = f"{{{','.join(parts)}}}"
            if 6 * len(text) <= cap:
                return text
    text = encode(value, cap, "argument")
    if 6 * len(text) > cap and len(text.encode("utf-8", "backslashreplace")) > cap:
        examine(value, cap, "argument")
    return text


def encode_deep(value):
    """The same text without recursion."""
    out = []
    stack = []
    item = value
    while True:
        if type(item) is list or type(item) is dict:
            listed = type(item) is list
            out.append("[" if listed else "{")
            stack.append((listed, iter(item if listed else item.items())))
            opened = True
        else:
            out += write_json(item, 0)
            opened = False
        while stack:
            listed, items = stack[-1]
            try:
                entry = next(items)
            except StopIteration:
                out.append("]" if listed else "}")
                stack.pop()
                opened = False
                continue
            if not opened:
                out.append(",")
            if listed:
                item = entry
            else:
                out.append(encode_basestring(entry[0]) + ":")
                item = entry[1]
            break
        else:
            return "".join(out)


quote = encode_basestring_ascii


# Output


def log(name, text):
    if run is not None and len(text) > run.output_cap:
        text = text[: run.output_cap]  # already more than the host takes, with its quotes
    if not transmit(f'{{"type":"log","channel":"{name}","text":{quote(text)}}}\n'):
        # A forked child has no channel. What it prints goes where any process prints.
        data = text.encode("utf-8", "backslashreplace")
        try:
            write(1 if name == "stdout" else 2, data)
        except OSError:
            pass


class ByteOutput(_io._BufferedIOBase):
    """The byte side of a standard stream: bytes are UTF-8, and a character may be split over two writes."""

    def __init__(self, name, number):
        self._name = name
        self._number = number
        self._rest = b""

    name = property(lambda self: f"<{self._name}>")
    mode = "wb"
    raw = property(lambda self: self)

    def write(self, data):
        with memoryview(data) as view:
            data = view.tobytes()
        whole = self._rest + data
        text, used = _codecs.utf_8_decode(whole, "replace", False)
        self._rest = whole[used:]
        if text:
            log(self._name, text)
        return len(data)

    def finish(self):
        if self._rest:
            self._rest = b""
            log(self._name, "\ufffd")

    def writable(self):
        return True

    def fileno(self):
        return self._number

    def close(self):
        pass


class TextOutput(_io._TextIOBase):
    """sys.stdout or sys.stderr: each write is one entry of the log."""

    def __init__(self, name, number):
        self._name = name
        self._bytes = ByteOutput(name, number)

    name = property(lambda self: f"<{self._name}>")
    encoding = property(lambda self: "utf-8")
    errors = property(lambda self: "backslashreplace")
    buffer = property(lambda self: self._bytes)
    mode = "w"
    line_buffering = True
    write_through = True

    def write(self, text):
        if type(text) is not str:
            if not isinstance(text, str):
                raise TypeError(f"write() argument must be str, not {type(text).__name__}")
            text = str.__str__(text)
        if text:
            log(self._name, text)
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def reconfigure(self, **_):
        pass

    def writable(self):
        return True

    def fileno(self):
        return self._bytes._number

    def close(self):
        pass


native_print = print


def print(*args, sep=" ", end="\n", file=None, flush=False):
    if file is None:
        file = getattr(sys, "stdout", None)
    if type(file) is not TextOutput:
        if file is not None:
            native_print(*args, sep=sep, end=end, file=file, flush=flush)
        return
    if sep is None:
        sep = " "
    elif not isinstance(sep, str):
        raise TypeError(f"sep must be None or a string, not {type(sep).__name__}")
    if end is None:
        end = "\n"
    elif not isinstance(end, str):
        raise TypeError(f"end must be None or a string, not {type(end).__name__}")
    text = sep.join([each if type(each) is str else str(each) for each in args]) + end
    if end[-1:] == "\n":
        text = text[:-1]
    log(file._name, text)


def exit(code=None):
    raise SystemExit(code)


print.__module__ = exit.__module__ = "builtins"
print.__doc__ = native_print.__doc__
exit.__doc__ = "Ends the process with a code, as sys.exit does."


# Calls


class Function:
    """One binding of the request."""

    __slots__ = ("namespace", "name", "label", "head", "heads")

    def __init__(self, namespace, name):
        self.namespace = namespace
        self.name = name
        self.label = f"{namespace.title}.{name}" if name.isidentifier() else f"{namespace.title}[{quote(name)}]"
        self.head = f'"global":{quote(namespace.title)},"name":{quote(name)}'
        self.heads = {}


class Space:
    """What a namespace of the request is made of."""

    __slots__ = ("title", "failure", "member", "functions")


class Run:
    """The books of the one run of this process."""

    __slots__ = (
        "output_cap", "binding_cap", "most_open", "opened", "next_id", "calls", "waiting", "unstarted", "serials", "book",
        "loop", "main", "thread", "adopted", "reader", "coroutine", "floating", "burst", "ear",
    )  # fmt: skip

    def __init__(self, start):
        self.output_cap = start["maxOutputBytes"]
        self.binding_cap = start["maxBindingBytes"]
        self.most_open = start["maxConcurrentCalls"]
        self.opened = 0
        self.next_id = 1
        self.calls = {}
        self.waiting = {}
        self.unstarted = {}
        self.serials = count()
        self.book = RLock()
        self.loop = None
        self.main = None
        self.thread = get_ident()
        self.adopted = None
        self.reader = False
        self.coroutine = None
        self.floating = None
        self.burst = 0
        self.ear = Ear(channel.fd)


CALLS_AT_ONCE = 8  # calls of one turn of the loop that are sent one by one
CALLS_PUT_ASIDE = 32  # calls after which those that were put aside are sent

run = None


class Call:
    """A call of a binding: a coroutine, which starts when it is awaited or scheduled."""

    __slots__ = (
        "function", "args", "options", "line", "serial", "steps",
        "text", "loop", "future", "frame", "dropped", "__weakref__",
    )  # fmt: skip

    cr_frame = None
    cr_code = None
    cr_await = None
    cr_origin = None
    cr_running = False

    __name__ = property(lambda self: self.function.name)

    def __await__(self):
        if self.steps is not None:
            raise RuntimeError(f"cannot reuse the call of {self.function.label}: it was awaited before")
        self.steps = steps = perform(self)
        return steps

    def send(self, value):
        steps = self.steps
        if steps is None:
            self.steps = steps = perform(self)
        return steps.send(value)

    def throw(self, *error):
        if self.steps is None:
            run.unstarted.pop(self.serial, None)
            self.steps = perform(self)
        return self.steps.throw(*error)

    def close(self):
        if self.steps is None:
            run.unstarted.pop(self.serial, None)
            self.steps = perform(self)
        self.steps.close()

    def __repr__(self):
        return f"<coroutine {self.function.label}>"


Call.__name__ = Call.__qualname__ = "coroutine"
new_call = Call.__new__


def perform(call):
    """The steps of a call, as the iterator that `await` takes."""
    r = run
    function = call.function
    r.unstarted.pop(call.serial, None)
    args = call.args
    if args:
        if call.options:
            raise TypeError(f"{function.label} takes one argument: an object of keywords or a value, not both")
        if len(args) > 1:
            raise TypeError(f"{function.label} takes one argument, not {len(args)}; put them into one dict")
        value = args[0]
    else:
        value = call.options
    cap = r.binding_cap
    try:
        text = encode_argument(value, cap)
    except Offence as offence:
        message = f"the argument of {function.label} is not lossless JSON: {offence}"
        raise TypeError(message) from None
    except Overflow:
        message = f"the argument of {function.label} exceeds maxBindingBytes ({cap} bytes)"
        raise ValueError(message) from None
    call.args = call.options = args = value = None
    if channel.fd < 0:
        raise RuntimeError(f"{function.label} cannot be called from a forked process")
    call.text = text
    loop = r.loop
    if loop is None:
        submit(call)
        flush()
        while call.frame is None:
            try:
                yield call
            except BaseException:
                abandon(call)
                raise
        frame = call.frame
    else:
        call.loop = here = running_loop()
        if loop is here:
            call.future = future = Future(loop=loop)
            submit(call)
            # The program may never come back from this turn of its loop, so the first calls of a turn leave at once, and
            # the host has something to do while many more are made.
            if r.burst < CALLS_AT_ONCE:
                r.burst += 1
                flush()
            elif len(channel.outbox) >= CALLS_PUT_ASIDE:
                flush()
            elif r.waiting and len(r.waiting) % CALLS_PUT_ASIDE == 0:
                # All that may be open is: the answers that have come make room, or the host would wait for this turn to end.
                take_in(loop)
        else:
            call.future = future = here.create_future()
            read_in_thread()
            submit(call)
            flush()
        try:
            frame = yield from future
        except BaseException:
            abandon(call)
            raise
    if frame["type"] == "result":
        return frame.get("value")
    raise failure(function, frame.get("message"))


def failure(function, message):
    space = function.namespace
    if space.failure is None:
        return Exception(message)
    error = space.failure(message)
    try:
        error.__dict__[space.member] = function.name
    except Exception:
        pass
    return error


def submit(call):
    r = run
    with r.book:
        if r.opened < r.most_open:
            dispatch(r, call)
        else:
            r.waiting[id(call)] = call


def dispatch(r, call):
    number = r.next_id
    r.next_id = number + 1
    r.opened += 1
    r.calls[number] = call
    line = call.line
    head = call.function.heads.get(line) or head_of(call.function, line)
    text = call.text
    call.text = None
    if len(text) < FEW:
        frame = f'{{"type":"call","id":{number},{head}{text}}}\n'
    else:
        head = f'{{"type":"call","id":{number},{head}'
        frame = b"".join((head.encode(), text.encode("utf-8", "backslashreplace"), b"}\n"))
    channel.outbox.append(frame)


def head_of(function, line):
    """What is the same in all frames of the calls that a line of the program makes."""
    place = f',"line":{line}' if line > 0 else ""
    function.heads[line] = head = f'{function.head}{place},"args":'
    return head


def abandon(call):
    """Nobody waits for this call any more. If it was not sent, it never is."""
    call.dropped = True
    with run.book:
        run.waiting.pop(id(call), None)


def answer(whole):
    """Takes the host's frames."""
    r = run
    here = running_loop_or_none() if r.loop is not None else None
    with r.book:
        for frame in decode_lines(whole):
            call = r.calls.pop(frame.get("id"), None)
            if call is None:
                continue
            r.opened -= 1
            if r.waiting:
                while r.waiting and r.opened < r.most_open:
                    dispatch(r, r.waiting.pop(next(iter(r.waiting))))
            call.frame = frame
            future = call.future
            if future is None or call.dropped:
                continue
            if call.loop is here:
                if not future.done():
                    future.set_result(frame)
            else:
                try:
                    call.loop.call_soon_threadsafe(settle, future, frame)
                except RuntimeError:
                    pass  # that loop is closed


def settle(future, frame):
    if not future.done():
        future.set_result(frame)


def make_namespace(space):
    """The object of a namespace: its functions by index, and by attribute where a name is an attribute."""
    functions = space.functions
    title = space.title

    def __getattr__(self, name):
        raise AttributeError(missing(name))

    def missing(name):
        known = ", ".join(list(functions)[:20]) + (", ..." if len(functions) > 20 else "")
        return f"{title} has no function {name!r}" + (f"; it has {known}" if known else "")

    def __getitem__(self, name):
        try:
            return functions[name]
        except (KeyError, TypeError):
            pass
        raise KeyError(missing(name))

    members = {
        "__module__": "__main__",
        "__getattr__": __getattr__,
        "__getitem__": __getitem__,
        "__iter__": lambda self: iter(list(functions)),
        "__len__": lambda self: len(functions),
        "__bool__": lambda self: True,
        "__contains__": lambda self, name: name in functions,
        "__dir__": lambda self: sorted(functions),
        "__repr__": lambda self: f"<namespace {title}: {', '.join(functions)}>",
    }
    namespace = type(title, (), members)()
    namespace.__dict__.update(functions)
    return namespace


def make_function(space, name):
    function = Function(space, name)

    def call(*args, **options):
        r = run
        c = new_call(Call)
        c.function = function
        c.args = args
        c.options = options
        c.steps = c.future = c.frame = None
        c.dropped = False
        frame = _getframe(1)
        while frame is not None and frame.f_code.co_filename != FILE:
            frame = frame.f_back
        c.line = line = 0 if frame is None else frame.f_lineno
        c.serial = serial = next(r.serials)
        r.unstarted[serial] = (function, line)
        return c

    try:
        call.__name__ = name
        call.__qualname__ = function.label
    except Exception:
        pass
    call.__module__ = "__main__"
    return call


def bind(entry, names):
    """Puts a namespace of the request, and its error class, among the names of the program."""
    space = Space()
    space.title = entry["global"]
    space.failure = space.member = None
    declared = entry.get("errorClass")
    if declared is not None:
        space.failure = type(declared["name"], (Exception,), {"__module__": "__main__"})
        space.member = declared["memberNameProperty"]
        names[declared["name"]] = space.failure
    space.functions = {}
    for name in entry["names"]:
        space.functions[name] = make_function(space, name)
    names[space.title] = make_namespace(space)


# The text of a program


def parse(text):
    """The syntax tree of a text. Raises SyntaxError and the like."""
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise SyntaxError("the program holds a null character", (FILE, line, None, None))
    if VERSION < (3, 11) and len(text) > 50_000:
        # Here the parser's result is turned into objects without a look at the stack. The whole compiler looks earlier.
        try:
            compile(text, FILE, "exec", 0x2000, True)
        except SyntaxError:
            pass
    return compile(text, FILE, "exec", 0x400, True)


def check_blocks(body, text):
    """Refuses what CPython 3.12 and 3.13 may crash on: comprehensions nested beyond their table of blocks."""
    if VERSION < (3, 12) or text.count("for") < 12:
        return
    apart = (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef, _ast.Lambda, _ast.GeneratorExp)
    comprehensions = (_ast.ListComp, _ast.SetComp, _ast.DictComp)
    blocks = (_ast.For, _ast.AsyncFor, _ast.While, _ast.With, _ast.AsyncWith, _ast.Try, _ast.TryStar)
    stack = [(node, 0, False) for node in body]
    while stack:
        node, depth, inlined = stack.pop()
        kind = type(node)
        if kind in apart:
            depth, inlined = 0, False
        elif kind in comprehensions:
            depth, inlined = depth + 1, True
        elif kind in blocks:
            depth += 1
        if inlined and depth > 16:
            raise SyntaxError("too many statically nested blocks", (FILE, node.lineno, node.col_offset + 1, None))
        for field in node._fields:
            value = getattr(node, field, None)
            if type(value) is list:
                stack += [(each, depth, inlined) for each in value if isinstance(each, AST)]
            elif isinstance(value, AST):
                stack.append((value, depth, inlined))


def compile_apart(text, names):
    """Compiles a very long text in a forked child: what `compile_text` gives, or None where that has to be done here.

    Some lengths of legal text take CPython's compiler minutes. Nothing else could end it: it holds the interpreter.
    """
    try:
        reading, writing = posix.pipe()
    except OSError:
        return None
    try:
        child = posix.fork()
    except OSError:
        posix.close(reading)
        posix.close(writing)
        return None
    if child == 0:
        try:
            _signal.signal(_signal.SIGPROF, _signal.SIG_DFL)
            _signal.setitimer(_signal.ITIMER_PROF, 4)
            data = marshal.dumps(compile_text(text, names))
            while data:
                data = data[write(writing, data) :]
        except BaseException:
            pass
        _exit(0)
    posix.close(writing)
    pieces = []
    while piece := read(reading, MANY):
        pieces.append(piece)
    posix.close(reading)
    if posix.waitpid(child, 0)[1] != 0:
        raise RecursionError
    return marshal.loads(b"".join(pieces)) if pieces else compile_text(text, names)


LONG = 100_000  # characters


def unfence(text):
    """The text with the lines of its outermost Markdown fence blanked, or None if it is not all inside one."""
    lines = text.replace("\r\n", "\n").split("\n")
    first = 0
    while first < len(lines) and not lines[first].strip():
        first += 1
    last = len(lines) - 1
    while last > first and not lines[last].strip():
        last -= 1
    if last <= first:
        return None
    opening = lines[first].lstrip(" ")
    indent = len(lines[first]) - len(opening)
    mark = opening[:1]
    if indent > 3 or mark not in ("`", "~"):
        return None
    info = opening.lstrip(mark)
    length = len(opening) - len(info)
    if length < 3 or mark == "`" and "`" in info:
        return None
    closing = lines[last].strip()
    if len(closing) < length or closing.strip(mark) or len(lines[last]) - len(lines[last].lstrip(" ")) > 3:
        return None
    lines[first] = lines[last] = ""
    if indent:
        lines = [line[min(indent, len(line) - len(line.lstrip(" "))) :] for line in lines]
    return "\n".join(lines)


class Survey:
    """What is found in the statements of a program."""

    __slots__ = ("globals", "annotated", "stars", "needs_loop")


def statements_of(body, text):
    """Walks all statements, without recursion, and prepares those that belong to the body itself.

    A return with a value returns a tuple of it, so that it differs from a bare one. An import of * becomes a call.
    """
    found = Survey()
    found.globals = set()
    found.annotated = []
    found.stars = []
    found.needs_loop = False
    expressions = "yield" in text
    TOP, INNER, ASYNC, CLASS = 0, 1, 2, 3
    stack = [(body, TOP)]
    while stack:
        node, scope = stack.pop()
        kind = type(node)
        if kind is list:
            for index in range(len(node) - 1, -1, -1):
                each = node[index]
                if scope == TOP and type(each) is _ast.ImportFrom and each.names[0].name == "*":
                    node[index] = call_of_star(each, len(found.stars))
                    found.stars.append(each)
                elif isinstance(each, AST):
                    stack.append((each, scope))
            continue
        if kind is _ast.FunctionDef or kind is _ast.AsyncFunctionDef:
            if expressions:
                stack.append((node.decorator_list, scope))
                stack.append((node.args.defaults, scope))
                stack.append((node.args.kw_defaults, scope))
            stack.append((node.body, INNER if kind is _ast.FunctionDef else ASYNC))
            continue
        if kind is _ast.Lambda:
            stack.append((node.args.defaults, scope))
            stack.append((node.args.kw_defaults, scope))
            stack.append((node.body, INNER))
            continue
        if kind is _ast.ClassDef:
            if expressions:
                stack.append((node.decorator_list, scope))
                stack.append((node.bases, scope))
            stack.append((node.body, CLASS))
            continue
        if kind is _ast.Global:
            if scope != TOP:
                found.globals.update(node.names)
            continue
        if kind is _ast.Yield or kind is _ast.YieldFrom:
            if scope == TOP:
                where = (FILE, node.lineno, node.col_offset + 1, None, node.end_lineno, node.end_col_offset + 1)
                raise SyntaxError("'yield' outside function", where)
            if scope == ASYNC:
                found.needs_loop = True
        elif kind is _ast.Return and scope == TOP and node.value is not None:
            if expressions:
                stack.append((node.value, scope))
            value = node.value
            node.value = _ast.Tuple(elts=[value], ctx=_ast.Load(), **place_of(value))
            continue
        elif kind is _ast.AnnAssign and scope == TOP and type(node.target) is _ast.Name:
            found.annotated.append(node)
        if expressions:
            for field in node._fields:
                value = getattr(node, field, None)
                if type(value) is list or isinstance(value, AST):
                    stack.append((value, scope))
        else:
            for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                value = getattr(node, field, None)
                if type(value) is list:
                    stack.append((value, scope))
    return found


def place_of(node):
    return {
        "lineno": node.lineno,
        "col_offset": node.col_offset,
        "end_lineno": node.end_lineno,
        "end_col_offset": node.end_col_offset,
    }


def call_of_star(node, index):
    where = place_of(node)
    name = _ast.Name(id=STAR, ctx=_ast.Load(), **where)
    number = _ast.Constant(value=index, kind=None, **where)
    return _ast.Expr(value=_ast.Call(func=name, args=[number], keywords=[], **where), **where)


def meant(body, injected):
    """Reads what read literally could only do nothing (P5): a lone lambda, or declarations with an uncalled main.

    Returns the name of the way, or None, and whether a result of None is no value.
    """
    if len(body) == 1 and type(body[0]) is _ast.Expr and type(body[0].value) is _ast.Lambda:
        return "lambda", False
    mains = []
    for node in body:
        kind = type(node)
        if kind in (_ast.FunctionDef, _ast.AsyncFunctionDef):
            if node.name == "main":
                mains.append(node)
        elif kind is _ast.Assign or kind is _ast.AnnAssign:
            targets = node.targets if kind is _ast.Assign else [node.target]
            named = any(type(target) is _ast.Name and target.id == "main" for target in targets)
            if named and type(node.value) is _ast.Lambda:
                mains.append(node)
            elif named or node.value is not None and acts(node.value, injected):
                return None, False
        elif kind is _ast.Expr:
            if type(node.value) is not _ast.Constant:
                return None, False
        elif kind not in (_ast.Import, _ast.ImportFrom, _ast.ClassDef, _ast.Pass, _ast.Global) and (
            kind.__name__ != "TypeAlias"
        ):
            return None, False
    if not mains:
        return None, False
    own = set(map(id, mains))
    stack = [node for node in body if id(node) not in own]
    for node in mains:
        stack += getattr(node, "decorator_list", ())
        if hasattr(node, "args"):
            stack += node.args.defaults
            stack += [each for each in node.args.kw_defaults if each is not None]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is _ast.Name and node.id == "main":
            return None, False
        if kind in (_ast.Import, _ast.ImportFrom) and any((a.asname or a.name) == "main" for a in node.names):
            return None, False
        if kind is _ast.ClassDef and node.name == "main":
            return None, False
        for field in node._fields:
            value = getattr(node, field, None)
            if type(value) is list:
                stack += [each for each in value if isinstance(each, AST)]
            elif isinstance(value, AST):
                stack.append(value)
    main = mains[-1]
    return "main", type(main) in (_ast.FunctionDef, _ast.AsyncFunctionDef) and not returns_value(main)


ACTIVE = ("print", "exec", "eval", "input", "open")


def acts(expression, injected):
    """Whether the value of a constant does something by itself: awaits, or calls a binding or prints."""
    stack = [expression]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind in (_ast.Await, _ast.Yield, _ast.YieldFrom, _ast.NamedExpr):
            return True
        if kind is _ast.Lambda:
            continue
        if kind is _ast.Call:
            root = node.func
            while type(root) in (_ast.Attribute, _ast.Subscript):
                root = root.value
            if type(root) is _ast.Name and (root.id in injected or root.id in ACTIVE):
                return True
        for field in node._fields:
            value = getattr(node, field, None)
            if type(value) is list:
                stack += [each for each in value if isinstance(each, AST)]
            elif isinstance(value, AST):
                stack.append(value)
    return False


def returns_value(function):
    stack = list(function.body)
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is _ast.Return and node.value is not None:
            return True
        if kind in (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef):
            continue
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            value = getattr(node, field, None)
            if type(value) is list:
                stack += value
    return False


class Program:
    __slots__ = ("function", "way", "silent", "needs_loop", "text")


def compile_text(text, names):
    """What `make_program` takes, of code and plain values. Raises SyntaxError and the like."""
    if text[:1] == "\ufeff":
        text = text[1:]
    start = text.lstrip()[:1]
    try:
        tree = parse(text)
    except SyntaxError:
        inner = unfence(text) if start == "`" or start == "~" else None
        if inner is None:
            raise
        text = inner
        tree = parse(text)
    body = tree.body
    check_blocks(body, text)
    way, silent = meant(body, names)
    lead = []
    document = None
    first = body[0].value if body and type(body[0]) is _ast.Expr else None
    if type(first) is _ast.Constant and type(first.value) is str:
        document = first.value
        lead.append(body.pop(0))
    future = False
    while body and type(body[0]) is _ast.ImportFrom and body[0].module == "__future__" and body[0].level == 0:
        lead.append(body.pop(0))
        future = True
    where = {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 0}
    if way is not None:
        if way == "lambda":
            value = body[0].value
            body[:] = []
        else:
            value = _ast.Name(id="main", ctx=_ast.Load(), **where)
        body.append(_ast.Return(value=value, **where))
    found = statements_of(body, text)
    if not body:
        body.append(_ast.Pass(**where))
    shared = sorted(found.globals)
    for node in found.annotated:
        if node.target.id in found.globals:
            # `x: int = 1` cannot name a global of a function; `(x): int = 1` can.
            node.simple = 0
    if shared:
        body.insert(0, _ast.Global(names=shared, **where))
    code, outer = compile_body(lead, body, ())
    taken = set(code.co_varnames) | set(code.co_cellvars)
    stars = []
    if found.stars:
        # What * brings are globals; the program's own names must be too, or the order of the two would not count.
        inner = nonlocals_of(body)
        free = sorted(name for name in taken if name not in inner and name[:1] != ".")
        for node in found.annotated:
            node.simple = 0
        if free:
            body.insert(0, _ast.Global(names=free, **where))
            code, outer = compile_body(lead, body, ())
            taken = set(code.co_varnames) | set(code.co_cellvars)
        modules = [_ast.Module(body=[node], type_ignores=[]) for node in found.stars]
        stars = [compile(each, FILE, "exec", 0, True) for each in modules]
    # A name that the program binds somewhere still means what was injected, or built in, until then.
    seeds = sorted(name for name in taken if name in names or name in vars(builtins))
    if seeds:
        code, outer = compile_body(lead, body, seeds)
    try:
        code = plain(code)
    except RecursionError:
        pass
    return text, code, outer if future else None, seeds, stars, document, way, silent, found.needs_loop


def make_program(compiled, names):
    """The coroutine function of a program, whose names live in `names`."""
    program = Program()
    text, code, outer, seeds, stars, document, way, silent, needs_loop = compiled
    program.text = text
    program.way = way
    program.silent = silent
    program.needs_loop = needs_loop
    names["__doc__"] = document
    if stars:
        names[STAR] = lambda index: exec(stars[index], names)
    if outer is not None:
        exec(outer, names)
        names.pop(BODY, None)
    defaults = tuple(names[name] if name in names else getattr(builtins, name) for name in seeds)
    program.function = FUNCTION(code, names, "<module>", defaults)
    return program


def compile_program(text, names):
    """A program that is not very long."""
    return make_program(compile_text(text, names), names)


def compile_body(lead, body, parameters):
    where = {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 0}
    args = [_ast.arg(arg=name, annotation=None, type_comment=None, **where) for name in parameters]
    arguments = _ast.arguments(
        posonlyargs=[], args=args, vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None,
        defaults=[_ast.Constant(value=None, kind=None, **where) for _ in parameters],
    )  # fmt: skip
    function = _ast.AsyncFunctionDef(
        name=BODY, args=arguments, body=body, decorator_list=[], returns=None, type_comment=None, **where
    )
    if VERSION >= (3, 12):
        function.type_params = []
    tree = _ast.Module(body=[*lead, function], type_ignores=[])
    outer = compile(tree, FILE, "exec", 0, True)
    return next(each for each in outer.co_consts if type(each) is CODE and each.co_name == BODY), outer


def nonlocals_of(body):
    names = set()
    stack = list(body)
    while stack:
        node = stack.pop()
        if type(node) is _ast.Nonlocal:
            names.update(node.names)
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            value = getattr(node, field, None)
            if type(value) is list:
                stack += value
    return names


def plain(code):
    """The code under the names that its functions and classes would have at the top of a module."""
    changes = {}
    constants = []
    changed = False
    for each in code.co_consts:
        if type(each) is CODE:
            new = plain(each)
        elif type(each) is str and each[: len(LOCAL)] == LOCAL:
            new = each[len(LOCAL) :]
        else:
            new = each
        changed = changed or new is not each
        constants.append(new)
    if changed:
        changes["co_consts"] = tuple(constants)
    if code.co_name == BODY:
        changes["co_name"] = "<module>"
    if HAS_COLUMNS:
        if code.co_qualname == BODY:
            changes["co_qualname"] = "<module>"
        elif code.co_qualname[: len(LOCAL)] == LOCAL:
            changes["co_qualname"] = code.co_qualname[len(LOCAL) :]
    return code.replace(**changes) if changes else code


# Failures


source_lines = []


def utf16(text):
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def column_of(line, offset):
    """A column in UTF-16 units, from 1, for an offset in bytes of a line."""
    if offset is None:
        return None
    if 0 < line <= len(source_lines):
        source = source_lines[line - 1]
        if not source.isascii():
            return utf16(source.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore")) + 1
    return offset + 1


def frame_of(code, lasti, line):
    parts = [f'"line":{line}']
    if HAS_COLUMNS and lasti >= 0:
        for first, last, start, end in islice(code.co_positions(), lasti // 2, lasti // 2 + 1):
            if first == line and start is not None:
                parts.append(f'"column":{column_of(first, start)}')
                if last == first and end is not None and end > start:
                    parts.append(f'"endColumn":{column_of(first, end)}')
    if code.co_name != "<module>":
        parts.append(f'"name":{quote(code.co_name)}')
    return "{" + ",".join(parts) + "}"


def frames_of(trace):
    """The program's own frames of a traceback, innermost first."""
    found = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == FILE and trace.tb_lineno:
            if code.co_name == "<module>" and found and found[-1][2] == trace.tb_lineno and len(found) == 1:
                found.pop()  # an import of *, which is compiled apart
            found.append((code, trace.tb_lasti, trace.tb_lineno))
            if len(found) > 4 * MOST_FRAMES:
                del found[: 2 * MOST_FRAMES]
        trace = trace.tb_next
    return [frame_of(*each) for each in found[: -MOST_FRAMES - 1 : -1]]


def name_of(kind):
    module = kind.__dict__.get("__module__")
    name = kind.__name__
    if module in ("__main__", "builtins", None) or type(module) is not str:
        return name
    if module == "asyncio.exceptions":
        return name
    return f"{module}.{name}"


def headline(error):
    """`Name: message` of an exception."""
    kind = type(error)
    name = name_of(kind)
    try:
        text = str(error)
    except BaseException as inner:
        text = f"<its text failed: {type(inner).__name__}>"
    if type(text) is not str:
        text = "".join((text,))
    if isinstance(error, ImportError) and text.endswith(")") and " (/" in text:
        # CPython tells which file of the host lacks the name.
        text = text[: text.rindex(" (/")]
    return f"{name}: {text}" if text else name


def details_of(error):
    """Notes, members of a group, causes."""
    lines = []
    seen = {id(error)}

    def say(text, depth):
        lines.append("  " * depth + text)

    def notes(each, depth):
        found = each.__dict__.get("__notes__") if hasattr(each, "__dict__") else None
        if type(found) in (list, tuple):
            for note in found[:50]:
                if isinstance(note, str):
                    say(str.__str__(note), depth)

    def place(each):
        trace = each.__traceback__
        line = 0
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == FILE:
                line = trace.tb_lineno
            trace = trace.tb_next
        return f" (program.py:{line})" if line else ""

    def members(each, depth):
        inner = each.exceptions if VERSION >= (3, 11) and isinstance(each, BaseExceptionGroup) else ()
        for one in inner[:50]:
            if depth < 8 and len(lines) < 200:
                say(f"- {headline(one)}{place(one)}", depth)
                notes(one, depth + 1)
                members(one, depth + 1)

    notes(error, 0)
    members(error, 0)
    each = error
    while len(lines) < 200:
        if each.__cause__ is not None:
            each, word = each.__cause__, "Caused by"
        elif each.__context__ is not None and not each.__suppress_context__:
            each, word = each.__context__, "While handling"
        else:
            break
        if id(each) in seen or not place(each) and word == "While handling":
            break
        seen.add(id(each))
        say(f"{word}: {headline(each)}{place(each)}", 0)
        notes(each, 1)
        members(each, 1)
    text = "\n".join(lines)
    return text if len(text) <= MOST_DETAILS else text[:MOST_DETAILS] + "..."


ballast = []


def quieten():
    """The program has ended: its signal handlers are not to break into what follows."""
    ballast.clear()
    while True:
        try:
            for number in range(1, _signal.NSIG):
                if callable(_signal.getsignal(number)):
                    _signal.signal(number, _signal.SIG_IGN)
            return
        except ValueError:
            return  # in another thread, where no handler runs
        except BaseException:
            pass


def unsent():
    listed = []
    if run is not None:
        entries = [(call.function, call.line) for call in list(run.waiting.values())]
        entries += list(run.unstarted.values())[: MOST_UNSENT - min(len(entries), MOST_UNSENT)]
        for function, line in entries[:MOST_UNSENT]:
            place = f',"line":{line}' if line > 0 else ""
            listed.append(f"{{{function.head}{place}}}")
    return f'"unsent":[{",".join(listed)}]}}\n'.encode()


def finish_output():
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name, None)
        if type(stream) is not TextOutput and stream is not None:
            try:
                stream.flush()
            except BaseException:
                pass
    for stream in outputs:
        stream._bytes.finish()


def throw(message, frames, details=""):
    """Ends the run as an exception."""
    cap = run.output_cap if run is not None else 1 << 26
    if len(message) > cap:
        conclude(b'{"type":"overflow",' + unsent())
        return
    more = f',"details":{quote(details)}' if details else ""
    text = f'{{"type":"threw","message":{quote(message)},"frames":[{",".join(frames)}]{more},'
    conclude(text.encode() + unsent())


def exhausted(error):
    """Whether an exception means that memory ran out. What a program raises by itself has a text."""
    if isinstance(error, MemoryError):
        return not error.args
    if VERSION >= (3, 11) and isinstance(error, BaseExceptionGroup):
        return any(map(exhausted, error.exceptions))
    return False


def fail(error):
    """Ends the run for an exception that nobody caught."""
    quieten()
    if exhausted(error):
        try:
            flush()
        finally:
            _exit(OUT_OF_MEMORY)
    if isinstance(error, SystemExit):
        leave(error)
    if getpid() != channel.pid:
        try:
            write(2, (headline(error) + "\n").encode("utf-8", "backslashreplace"))
        finally:
            _exit(1)
    finish_output()
    if isinstance(error, OSError) and error.errno == 12:  # ENOMEM
        flush()
        _exit(OUT_OF_MEMORY)
    try:
        frames = frames_of(error.__traceback__)
    except BaseException:
        frames = []
    try:
        details = details_of(error)
    except BaseException:
        details = ""
    throw(headline(error), frames, details)


def leave(error):
    """sys.exit: the process ends with its code, whatever else is going on."""
    code = error.code
    if code is None:
        status = 0
    elif isinstance(code, int):
        status = int(code) & 0xFF
    else:
        status = 1
        try:
            log("stderr", str(code))
        except BaseException:
            pass
    finish_output()
    flush()
    _exit(status)


def complete(result, silent):
    """Ends the run with what the program returned: None, or a tuple of its value."""
    quieten()
    if getpid() != channel.pid:
        _exit(0)
    finish_output()
    if run.floating is not None:
        fail(run.floating)
        return
    if result is None or silent and result[0] is None:
        conclude(b'{"type":"done",' + unsent())
        return
    try:
        data = encode(result[0], run.output_cap, "value").encode("utf-8", "backslashreplace")
    except Offence as offence:
        text = quote(str(offence)).encode()
        conclude(b'{"type":"invalid","message":%b,' % text + unsent())
    except Overflow:
        conclude(b'{"type":"overflow",' + unsent())
    else:
        conclude(b"".join((b'{"type":"done","value":', data, b",", unsent())))


def reject(error):
    """Ends the run for a program that does not compile."""
    if isinstance(error, SyntaxError):
        line, offset = error.lineno, error.offset
        message = f"{type(error).__name__}: {error.msg}"
        frames = []
        if type(line) is int and line > 0:
            parts = [f'"line":{line}']
            source = source_lines[line - 1] if line <= len(source_lines) else ""
            if type(offset) is int and offset > 0:
                column = utf16(source[: offset - 1]) + max(0, offset - 1 - len(source)) + 1
                parts.append(f'"column":{column}')
                end = error.end_offset
                if error.end_lineno == line and type(end) is int and end > offset:
                    parts.append(f'"endColumn":{utf16(source[: end - 1]) + 1}')
            frames.append("{" + ",".join(parts) + "}")
        throw(message, frames)
    elif isinstance(error, (RecursionError, MemoryError)):
        throw("SyntaxError: the program is nested too deeply, or too long for the compiler", [])
    elif isinstance(error, UnicodeEncodeError):
        line = error.object.count("\n", 0, error.start) + 1 if isinstance(error.object, str) else 0
        throw("SyntaxError: the program holds half of a surrogate pair", [f'{{"line":{line}}}'] if line else [])
    else:
        throw(f"SyntaxError: {error}", [])


# The event loop, for programs that use asyncio


asyncio = None
Loop = None
Future = None
running_loop = None


def running_loop_or_none():
    try:
        return running_loop()
    except RuntimeError:
        return None


class LazyModule(MODULE):
    """A module that asyncio imports and most programs never use: loaded by the first who asks it for something."""

    def __getattribute__(self, name):
        # The machinery of imports asks for the first two; others are known beforehand.
        if name != "__spec__" and name != "__class__":
            title = vars_of(self)["__name__"]
            if name not in LAZY.get(title, ()):
                load_now(self, title)
        return attribute_of(self, name)

    def __setattr__(self, name, value):
        load_now(self, vars_of(self)["__name__"])
        MODULE.__setattr__(self, name, value)

    def __delattr__(self, name):
        load_now(self, vars_of(self)["__name__"])
        MODULE.__delattr__(self, name)


LazyModule.__name__ = LazyModule.__qualname__ = "module"
attribute_of = MODULE.__getattribute__
loading = set()
# Which modules, with those of their names that asyncio wants at once.
LAZY = {"ssl": {}, "inspect": {}, "asyncio.sslproto": {}, "subprocess": {"PIPE": -1, "STDOUT": -2, "DEVNULL": -3}}


def vars_of(module):
    return attribute_of(module, "__dict__")


def load_now(module, name):
    # Another thread waits for the whole; the module itself, and what it imports, may look at the part that is there.
    with _ModuleLockManager(name):
        if name in loading or type(module) is not LazyModule:
            return
        loading.add(name)
        try:
            vars_of(module)["__loader__"].exec_module(module)
            MODULE.__setattr__(module, "__class__", MODULE)
        finally:
            loading.discard(name)


class LazyLoader:
    """Gives a lazy module, and then leaves no trace."""

    def __init__(self, loader):
        self.loader = loader

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.loader
        vars(module).update(LAZY[module.__name__])
        module.__class__ = LazyModule


class LazyFinder:
    """Finds what asyncio only may need: it is half of the time and of the memory of its import."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in LAZY or name == "ssl" and _find_spec("_ssl", None) is None:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def lazily(load, *args):
    """Loads asyncio without what it only may need."""
    sys.meta_path.insert(0, LazyFinder)
    try:
        return load(*args)
    finally:
        sys.meta_path.remove(LazyFinder)


def import_asyncio():
    import asyncio

    return asyncio


def load_asyncio():
    """Imports asyncio and makes the loops that this process uses know when nothing is left to wait for."""
    global asyncio, Loop, Future, running_loop, enter_task, leave_task, current_task, set_running_loop, tasks_module
    if Loop is not None:
        return
    package = lazily(import_asyncio)
    import asyncio.events
    import asyncio.tasks
    import functools
    import selectors
    import signal
    from _contextvars import copy_context
    from asyncio.events import _set_running_loop as set_running_loop, get_running_loop

    asyncio = package
    Future = asyncio.Future
    tasks_module = asyncio.tasks
    running_loop = get_running_loop
    enter_task = asyncio.tasks._enter_task
    leave_task = asyncio.tasks._leave_task
    current_task = asyncio.tasks.current_task
    base = asyncio.SelectorEventLoop
    Handle = asyncio.Handle
    new_handle = Handle.__new__
    slots = {"_callback", "_args", "_cancelled", "_loop", "_source_traceback", "_repr", "__weakref__", "_context"}
    PLAIN_HANDLES = set(Handle.__slots__) == slots
    soon = base.call_soon
    until_complete = base.run_until_complete
    forever = base.run_forever

    class Selector(selectors.DefaultSelector):
        loop = None

        def select(self, timeout=None):
            if run is not None:
                run.burst = 0
            if channel is not None and channel.outbox:
                flush()
            if timeout is None and run is not None and get_ident() == run.thread and self.loop is not None:
                timeout = patience(self)
            ready = super().select(timeout)
            if run is not None and self.loop is run.loop:
                for index, (key, _) in enumerate(ready):
                    if key.fd == channel.fd:
                        # Before the callbacks of this turn: as one of them it would cost each answer a turn more.
                        del ready[index]
                        take_in(self.loop)
                        break
            return ready

    class Loop(base):
        def __init__(self, selector=None):
            super().__init__(selector or Selector())
            if isinstance(self._selector, Selector):
                self._selector.loop = self

        def call_soon(self, callback, *args, context=None):
            if self._closed or self._debug or not PLAIN_HANDLES:
                return soon(self, callback, *args, context=context)
            # What a handle's own constructor does, in a third of the time: each call of a binding needs three.
            handle = new_handle(Handle)
            handle._context = copy_context() if context is None else context
            handle._loop = self
            handle._callback = callback
            handle._args = args
            handle._cancelled = False
            handle._repr = handle._source_traceback = None
            self._ready.append(handle)
            return handle

        def default_exception_handler(self, context):
            error = context.get("exception")
            if error is None or run is None:
                super().default_exception_handler(context)
            elif run.main is None or not run.main.done():
                fail(error)

        def run_until_complete(self, future):
            if self.is_running() and get_ident() == run.thread:
                if not asyncio.iscoroutine(future):
                    raise RuntimeError(ADVICE)
                return asyncio.run(future)
            return outside(until_complete, self, future)

        def run_forever(self):
            if self.is_running() and get_ident() == run.thread:
                raise RuntimeError(ADVICE)
            return outside(forever, self)

        def stop(self):
            if run is not None and self is run.loop and (run.main is None or not run.main.done()):
                raise RuntimeError("this loop runs the program; it stops when the program ends")
            super().stop()

        def close(self):
            if run is not None and self is run.loop:
                raise RuntimeError("this loop runs the program; it closes when the program ends")
            super().close()

    Loop.__name__ = Loop.__qualname__ = "EventLoop"
    globals()["Loop"] = Loop
    try:
        asyncio.DefaultEventLoopPolicy._loop_factory = Loop
    except AttributeError:
        pass

    native_run = asyncio.run

    @functools.wraps(native_run)
    def run_apart(*args, **options):
        return outside(native_run, *args, **options)

    asyncio.run = asyncio.runners.run = run_apart
    runner = getattr(asyncio, "Runner", None)
    if runner is not None:
        runner_run = runner.run

        @functools.wraps(runner_run)
        def run_in_runner(*args, **options):
            return outside(runner_run, *args, **options)

        runner.run = run_in_runner


ADVICE = "the event loop is already running: write `await main()`"


def outside(function, *args, **options):
    """Runs a function that drives a loop of its own as if the program's loop were not running in this thread."""
    loop = running_loop_or_none()
    if loop is None or run is None or type(loop) is not Loop:
        return function(*args, **options)
    task = current_task(loop)
    hooks = sys.get_asyncgen_hooks()
    set_running_loop(None)
    if task is not None:
        leave_task(loop, task)
    try:
        return function(*args, **options)
    finally:
        if task is not None:
            enter_task(loop, task)
        set_running_loop(loop)
        sys.set_asyncgen_hooks(*hooks)
        asyncio.set_event_loop(loop)


def idle_workers(executor):
    """Threads of an executor that wait for work."""
    try:
        if executor is None or not executor._work_queue.empty():
            return 0
        return min(executor._idle_semaphore._value, len(executor._threads))
    except Exception:
        return 0


def patience(selector):
    """How long the main thread's loop may wait: for ever (None), or a while where only a thread could end it.

    Where nothing could, the run ends here.
    """
    loop = selector.loop
    with run.book:  # the reading thread holds it until an answer is where it belongs
        if run.waiting or any(not call.dropped for call in run.calls.values()):
            return None
    own = 0
    for key in selector.get_map().values():
        if key.fd == loop._ssock.fileno() or key.fd == channel.fd:
            own += 1
    if len(selector.get_map()) > own:
        return None
    if getattr(loop, "_signal_handlers", None):
        return None
    for number in (_signal.ITIMER_REAL, _signal.ITIMER_VIRTUAL, _signal.ITIMER_PROF):
        if _signal.getitimer(number)[0] > 0:
            return None
    for number in range(1, _signal.NSIG):
        handler = _signal.getsignal(number)
        if callable(handler) and handler is not _signal.default_int_handler and not runner_handler(handler):
            return None
    threads = thread_count() - (1 if run.reader else 0)
    if threads > 0:
        executors = {id(each): each for each in (loop._default_executor, run.loop._default_executor)}
        if threads > sum(map(idle_workers, executors.values())):
            return 0.1
    if loop._ready:
        return None  # another thread's last deed
    stuck(loop)
    return None


def runner_handler(handler):
    """asyncio.run's own handler of SIGINT."""
    function = getattr(handler, "func", None)
    return function is not None and getattr(function, "__name__", "") == "_on_sigint"


STUCK = (
    "Error: nothing left that could resume the program: "
    "it awaits something that no timer, call or task will ever settle"
)


def stuck(loop):
    frames = []
    each = run.coroutine
    if loop is not run.loop:
        # The innermost loop of this thread waits; its tasks are the ones that could say where.
        for task in asyncio.all_tasks(loop):
            each = task.get_coro()
            break
    for _ in range(10000):
        if each is None:
            break
        for prefix in ("cr", "gi", "ag"):
            frame = getattr(each, prefix + "_frame", None)
            if frame is not None:
                if frame.f_code.co_filename == FILE:
                    frames.append(frame_of(frame.f_code, frame.f_lasti, frame.f_lineno))
                each = getattr(each, "gi_yieldfrom" if prefix == "gi" else prefix + "_await", None)
                break
        else:
            break
    frames.reverse()
    finish_output()
    throw(STUCK, frames[:MOST_FRAMES])


def unretrieved():
    """The exception of a task that failed and that nobody awaited."""
    found = []
    try:
        every = getattr(tasks_module, "_scheduled_tasks", None)
        if every is None:
            every = tasks_module._all_tasks
        for task in list(every):
            if task is not run.main and task.done() and not task.cancelled() and task._log_traceback:
                found.append(task)
        if not found:
            return None
        found.sort(key=lambda task: (len(task.get_name()), task.get_name()))
        return found[0].exception()
    except Exception:
        return None


def take():
    """Reads what the host has sent, in whichever thread."""
    with run.book:
        try:
            data = channel.socket.recv(channel.size, MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno in LOST:
                _exit(1)
            raise
        if not data:
            _exit(0)
        answer(receive(data))


MSG_DONTWAIT = 0x40


def read_in_thread():
    """For calls from another loop than the program's own: a thread reads the answers, for that loop may block ours."""
    if not run.reader:
        run.reader = True
        start_new_thread(reader, ())


def reader():
    poll = select.poll()
    poll.register(channel.fd, select.POLLIN)
    while not channel.closed:
        poll.poll()
        take()
        flush()


def take_in(loop):
    """The same, where an exception is one of the loop's callbacks: the program must not be able to catch it."""
    try:
        take()
        if channel.outbox:
            flush()
    except Exception as error:
        loop.call_exception_handler({"message": "the host's answers could not be read", "exception": error})


class Adopted:
    """The program's coroutine as a task takes it; it may have begun without a loop."""

    def __init__(self, coroutine, first):
        self.coroutine = coroutine
        self.first = first
        self.begun = False

    __name__ = __qualname__ = "<module>"

    def send(self, value):
        try:
            if not self.begun:
                self.begun = True
                return self.coroutine.send(None) if self.first is None else self.first()
            return self.coroutine.send(value)
        except StopIteration:
            # The program has ended: what its tasks do in the rest of the loop's turn is nothing any more.
            run.floating = unretrieved()
            raise

    def throw(self, *error):
        self.begun = True
        try:
            return self.coroutine.throw(*error)
        except StopIteration:
            run.floating = unretrieved()
            raise

    def close(self):
        self.coroutine.close()

    def __await__(self):
        return self.coroutine.__await__()


def make_loop():
    """The loop of this run, which also reads the channel."""
    import _socket

    channel.socket = _socket.socket(fileno=channel.fd)
    loop = Loop()
    loop.add_reader(channel.fd, take)
    run.loop = loop
    asyncio.set_event_loop(loop)
    return loop


def adopt():
    """asyncio was just imported by a program that runs by hand: from here on it runs in a task."""
    load_asyncio()
    loop = make_loop()
    adopted = Adopted(run.coroutine, None)
    run.adopted = adopted
    run.main = loop.create_task(adopted)
    set_running_loop(loop)
    enter_task(loop, run.main)


class Joining:
    """Finds asyncio as usual, and tells when it is loaded."""

    def find_spec(self, name, path=None, target=None):
        if name != "asyncio":
            return None
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        if asyncio is not None:
            return ModuleSpec(name, Returning(), is_package=True)
        for finder in list(sys.meta_path):
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = Loading(spec, spec.loader)
                return spec
        return None


class Loading:
    """Loads asyncio as its own loader does, and lets the program join it."""

    def __init__(self, spec, loader):
        self.spec = spec
        self.loader = loader

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.spec.loader = module.__loader__ = self.loader
        lazily(self.loader.exec_module, module)
        join()

    def __getattr__(self, name):
        return getattr(self.loader, name)


class Returning:
    """Gives asyncio where it was loaded before the program came, and lets the program join it."""

    def create_module(self, _):
        self.spec = asyncio.__spec__
        return asyncio

    def exec_module(self, module):
        module.__spec__ = self.spec
        join()


def join():
    if run is not None and run.loop is None and get_ident() == run.thread and getpid() == channel.pid:
        adopt()


def drive(coroutine):
    """Runs the program without a loop, until it ends or imports asyncio. Returns its result."""
    sys.meta_path.insert(0, Joining())
    sys.modules.pop("asyncio", None)
    error = None
    while True:
        try:
            yielded = coroutine.send(None) if error is None else coroutine.throw(error)
        except StopIteration as end:
            return end.value
        error = None
        if run.adopted is not None:
            leave_task(run.loop, run.main)
            set_running_loop(None)
            run.adopted.first = lambda: yielded
            return turn(run.loop)
        if type(yielded) is Call:
            while yielded.frame is None and error is None:
                try:
                    data = run.ear.hear()
                except BaseException as raised:  # by a signal handler
                    error = raised
                    break
                if not data:
                    _exit(0)
                answer(receive(data))
                flush()
        elif yielded is not None:
            error = RuntimeError(f"the program got a bad yield: {yielded!r}")


def turn(loop):
    """Runs the loop until the main task ends. Returns its result."""
    main = run.main
    main.add_done_callback(lambda _: loop.stop())
    loop.run_forever()
    while not main.done():
        loop.run_forever()
    return main.result()


def run_in_loop(coroutine):
    load_asyncio()
    loop = make_loop()
    run.main = loop.create_task(Adopted(coroutine, None))
    return turn(loop)


async def called(program):
    """A program that was read as a function: what it gives is the value."""
    result = await program.function()
    value = result[0]()
    kind = type(value)
    if any("__await__" in base.__dict__ for base in kind.__mro__) or kind.__name__ == "generator" and (
        value.gi_code.co_flags & 0x100
    ):
        value = await value
    return (value,)


# The beginning


class Source:
    """Lets tracebacks and inspect show the program's lines."""

    def __init__(self, text):
        self.text = text

    def get_source(self, _):
        return self.text

    def __repr__(self):
        return "<program>"


class Main(MODULE):
    """The program's module. Its top-level names are locals of the body; pickle and the like look for them here."""

    def __getattr__(self, name):
        frame = getattr(run.coroutine, "cr_frame", None) if run is not None else None
        if frame is None and run is not None and run.main is not None:
            frame = getattr(run.main.get_coro(), "cr_frame", None)
        if frame is not None and frame.f_code.co_filename == FILE and name in frame.f_locals:
            return frame.f_locals[name]
        raise AttributeError(f"module '__main__' has no attribute {name!r}")


Main.__name__ = Main.__qualname__ = "module"


outputs = []
guest_module = None


def boot(warm=False):
    """Everything that can be done before a program is known. `warm`: asyncio too."""
    global guest_module
    guest_module = sys.modules.get("__main__")
    if warm:
        load_asyncio()


def first_frame(fd):
    """Waits for `start`."""
    line = b""
    while not line:
        data = read(fd, channel.size)
        if not data:
            _exit(0)
        line = receive(data)
    return line.partition(b"\n")[0]


def forked():
    """In a forked child: the channel is the parent's."""
    try:
        posix.close(channel.fd)
    except OSError:
        pass
    if channel.socket is not None:
        channel.socket.detach()
    channel.fd = -1
    channel.outbox.clear()
    channel.lock = RLock()
    channel.writing = False
    if run is not None:
        run.book = RLock()


def serve(fd):
    """Waits for `start` on a socket, runs the program and ends the process. Never returns."""
    global channel, run
    try:
        posix.set_inheritable(fd, False)
        channel = Channel(fd)
        start = decode(first_frame(fd))
    except OSError:
        _exit(1)
    posix.register_at_fork(after_in_child=forked)
    ballast.append(bytes(1 << 18))
    run = Run(start)
    text = start["program"]

    for name, number in (("stdout", 1), ("stderr", 2)):
        stream = TextOutput(name, number)
        outputs.append(stream)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.stdin = sys.__stdin__ = _io.TextIOWrapper(_io.BytesIO(), encoding="utf-8")
    sys.argv = [FILE]
    builtins.print = print
    builtins.exit = builtins.quit = exit

    module = Main("__main__")
    names = vars(module)
    names["__builtins__"] = builtins
    names["__annotations__"] = {}
    for entry in start["namespaces"]:
        bind(entry, names)
    source_lines[:] = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    quiet = ("ignore", None, Warning, None, 0)
    _warnings.filters.insert(0, quiet)
    started = False
    try:
        # The tree of a program is no garbage; looking for some in it takes as long as the compiler.
        gc.disable()
        compiled = compile_apart(text, names) if len(text) > LONG else None
        if compiled is not None:
            program = make_program(compiled, names)
        else:
            if len(text) > LONG:
                # No second process here: the budgets of the run must watch over the compiler.
                started = True
                transmit('{"type":"started"}\n')
            program = compile_program(text, names)
    except BaseException as error:
        reject(error)
        return
    finally:
        _warnings.filters.remove(quiet)
        gc.enable()
    names["__loader__"] = Source(program.text)
    sys.modules["__main__"] = module

    try:
        # Which way is a matter of the text alone, not of what happens to be loaded.
        looped = program.needs_loop or "asyncio" in text
        if looped:
            load_asyncio()
        if not started:
            transmit('{"type":"started"}\n')
        run.coroutine = coroutine = program.function() if program.way is None else called(program)
        result = run_in_loop(coroutine) if looped else drive(coroutine)
    except BaseException as error:
        fail(error)
    else:
        try:
            complete(result, program.silent)
        except BaseException as error:
            fail(error)
    rest()


if __name__ == "__main__":
    boot()
    serve(3)
