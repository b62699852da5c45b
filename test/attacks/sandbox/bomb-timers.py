# vector: timers without end, which the kernel counts for the user
import ctypes
library = ctypes.CDLL(None)
made = 0
while made < 4000 and library.timer_create(1, None, ctypes.byref(ctypes.c_void_p())) == 0:
    made += 1
return made == 4000
