# vector: reading memory by process_vm_readv
import ctypes, os
source = ctypes.create_string_buffer(b"secret")
target = ctypes.create_string_buffer(6)
local = (ctypes.c_uint64 * 2)(ctypes.addressof(target), 6)
remote = (ctypes.c_uint64 * 2)(ctypes.addressof(source), 6)
result, errno = call(310, 270, os.getpid(), ctypes.addressof(local), 1, ctypes.addressof(remote), 1, 0)
return result == 6
