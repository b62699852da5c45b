# What comes after the guest in a process of its own: its limits are set, its environment is empty, its temporary files
# lie in its private working directory, and it enters that when its program comes.
#
# Arguments: bytes of address space, the mark of the run as the value of RLIMIT_RTTIME, and the working directory.


def start():
    from _frozen_importlib_external import PathFinder
    from resource import RLIMIT_AS, RLIMIT_CORE, setrlimit

    # What the host had open without meaning to hand it down.
    posix.closerange(4, 65536)
    space, mark = map(int, sys.argv[1:3])
    folder = sys.argv[3]
    setrlimit(RLIMIT_CORE, (0, 0))
    setrlimit(15, (mark, mark))  # RLIMIT_RTTIME, which the module does not name
    setrlimit(RLIMIT_AS, (space, space))
    del sys.modules["resource"]
    # CPython sets the locale's variables by itself.
    for key in posix.environ:
        posix.unsetenv(key)
    posix.environ.clear()

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
    boot()
    poll = select.poll()
    poll.register(3, select.POLLIN)
    poll.poll()
    try:
        posix.chdir(folder)
    except OSError:
        _exit(0)  # the host is gone: it makes the folder before it sends anything
    try:
        serve(3)
    except MemoryError:
        _exit(OUT_OF_MEMORY)


start()
