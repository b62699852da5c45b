# vector: a signal to the host's process
import os
target = await tools.target()
os.kill(target["pid"], 0)
return True
