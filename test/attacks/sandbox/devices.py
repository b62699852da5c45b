# vector: devices of the host
import os
return any(name not in ("null",) for name in os.listdir("/dev"))
