# vector: a new process by clone3, whose flags no filter sees
import ctypes
arguments = (ctypes.c_uint64 * 8)(0x10000000, 0, 0, 0, 17, 0, 0, 0)
result, errno = call(435, 435, ctypes.addressof(arguments), 64)
if result == 0:
    exit_now(0)
return result > 0
