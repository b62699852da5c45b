# vector: the kernel's core_pattern
# control: root
import os
os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY)
return True
