# vector: the host's handler of crashes, which is root: the kernel starts it unless the limit of core files is 1
import resource
for limit in (0, 4096):
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, limit))
    except ValueError:
        pass
call(302, 261, 0, 4, (__import__("ctypes").c_ulong * 2)(0, 0), 0)
call(160, 164, 4, (__import__("ctypes").c_ulong * 2)(0, 0))
return resource.getrlimit(resource.RLIMIT_CORE) != (1, 1)
