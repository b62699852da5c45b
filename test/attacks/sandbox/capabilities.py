# vector: capabilities
# control: root
import ctypes
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
sets = (ctypes.c_uint32 * 6)()
result, errno = call(125, 90, ctypes.addressof(header), ctypes.addressof(sets))
return result == 0 and any(sets)
