# vector: an event by perf_event_open
# control: root
import ctypes
attributes = (ctypes.c_uint32 * 32)(1, 128)
result, errno = call(298, 241, ctypes.addressof(attributes), 0, -1, -1, 0)
return result >= 0
