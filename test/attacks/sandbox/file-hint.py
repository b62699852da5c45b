# vector: a note for later runs in the kernel's memory of a file that is read-only here
# control: root
import ctypes, os
file = os.open(os.__file__, os.O_RDONLY)
note = ctypes.c_uint64(2)
result, errno = call(72, 25, file, 1036, ctypes.byref(note))
if result == 0:
    call(72, 25, file, 1036, ctypes.byref(ctypes.c_uint64(0)))
return result == 0
