# vector: descriptors without end
import os
files = [os.open("/dev/null", os.O_RDONLY) for _ in range(900)]
return True
