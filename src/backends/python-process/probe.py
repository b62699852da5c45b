"""Tells of an interpreter and compiles the guest for it: a line of JSON, then the bytes of a .pyc file."""

import sys

version = ".".join(map(str, sys.version_info[:3]))
print('{"executable":"%s","version":"%s"}' % (sys.executable.encode("unicode_escape").decode(), version), flush=True)
if sys.version_info >= (3, 10):
    import marshal
    from _frozen_importlib_external import MAGIC_NUMBER

    source = ""
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            source += file.read() + "\n"
    sys.stdout.buffer.write(MAGIC_NUMBER + bytes(12) + marshal.dumps(compile(source, "guest.py", "exec")))
