# vector: a map by bpf
# control: root
import ctypes
attributes = (ctypes.c_uint32 * 32)(2, 4, 4, 1)
result, errno = call(321, 280, 0, ctypes.addressof(attributes), 128)
return result >= 0
