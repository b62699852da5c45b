# vector: a filter program on a socket
import ctypes, socket
a, b = socket.socketpair()
program = (ctypes.c_uint8 * 8)(6, 0, 0, 0, 0, 0, 0, 0)
wrapped = ctypes.create_string_buffer(16)
ctypes.memmove(ctypes.byref(wrapped, 0), (ctypes.c_uint16 * 1)(1), 2)
ctypes.memmove(ctypes.byref(wrapped, 8), (ctypes.c_uint64 * 1)(ctypes.addressof(program)), 8)
result, errno = call(54, 208, a.fileno(), 1, 26, ctypes.addressof(wrapped), 16)
return result == 0
