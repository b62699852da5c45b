# vector: a ring by io_uring_setup
import ctypes
parameters = (ctypes.c_uint8 * 120)()
result, errno = call(425, 425, 1, ctypes.addressof(parameters))
return result >= 0
