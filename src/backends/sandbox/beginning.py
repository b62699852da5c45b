"""What a Python guest in a sandbox does before anything else: its environment is what the policy says, and packages of
the policy can be imported. Arguments: the folder of packages, or an empty text; names of the environment's variables."""

import posix
import sys


def begin():
    names = set(sys.argv[2:])
    # CPython sets the locale's variables by itself.
    for key in list(posix.environ):
        if key.decode("utf-8", "surrogateescape") not in names:
            posix.unsetenv(key)
            del posix.environ[key]
    if sys.argv[1]:
        sys.path.append(sys.argv[1])


begin()
del begin
