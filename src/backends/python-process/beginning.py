"""What a Python guest in a process of its own does before anything else: its environment is empty, and its temporary
files lie in its private working directory."""

import posix
import sys


def begin():
    from _frozen_importlib_external import PathFinder

    # CPython sets the locale's variables by itself.
    for key in posix.environ:
        posix.unsetenv(key)
    posix.environ.clear()
    folder = posix.getcwd()

    class Temporary:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name != "tempfile":
                return None
            if Temporary in sys.meta_path:
                sys.meta_path.remove(Temporary)
            spec = PathFinder.find_spec(name)
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                module.tempdir = folder

            spec.loader.exec_module = exec_module
            return spec

    sys.meta_path.insert(0, Temporary)


begin()
del begin
