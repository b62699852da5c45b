# vector: the list of the host's processes
import os
target = await tools.target()
return str(target["pid"]) in os.listdir("/proc")
