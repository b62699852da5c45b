"""Tells which files an interpreter needs, and compiles the guest for it: a line of JSON, then the bytes of a .pyc file.

Its libraries are those of every extension module of the standard library, as the dynamic loader maps them.
"""

import json
import marshal
import os
import sys
from importlib.util import MAGIC_NUMBER

sources = sys.argv[1:]
stdlib = os.path.dirname(os.path.realpath(os.__file__))
modules = os.path.join(stdlib, "lib-dynload")
try:
    from _ctypes import dlopen
except ImportError:
    from importlib import import_module

    def dlopen(path, flags):
        import_module(os.path.basename(path).split(".")[0])


extensions = sorted(os.listdir(modules)) if os.path.isdir(modules) else []
# What the C library itself loads when a thread ends.
for path in [os.path.join(modules, name) for name in extensions if name.endswith(".so")] + ["libgcc_s.so.1"]:
    try:
        dlopen(path, os.RTLD_LAZY)
    except Exception:
        pass
with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
    mapped = {line.split(None, 5)[5].rstrip("\n") for line in file if line.count("/") > 0 and "r-xp" in line}
executable = os.path.realpath(sys.executable)
inside = stdlib + os.sep
print(
    json.dumps(
        {
            "executable": executable,
            "prefix": os.path.realpath(sys.base_prefix),
            "stdlib": stdlib,
            "libraries": sorted(path for path in mapped if path != executable and not path.startswith(inside)),
        }
    ),
    flush=True,
)
source = ""
for name in sources:
    with open(name, encoding="utf-8") as file:
        source += file.read() + "\n"
sys.stdout.buffer.write(MAGIC_NUMBER + bytes(12) + marshal.dumps(compile(source, "guest.py", "exec")))
