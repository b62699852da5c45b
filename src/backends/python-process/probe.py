"""Tells of an interpreter and compiles a guest for it: a line of JSON, then a code object as marshal writes it."""

import sys

version = ".".join(map(str, sys.version_info[:3]))
print('{"executable":"%s","version":"%s"}' % (sys.executable.encode("unicode_escape").decode(), version), flush=True)
if sys.version_info >= (3, 10):
    import marshal

    source = ""
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            source += file.read() + "\n"
    # Nobody reads the docstrings of the guest, and it asserts nothing.
    sys.stdout.buffer.write(marshal.dumps(compile(source, "guest.py", "exec", 0, True, 2)))
