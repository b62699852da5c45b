# vector: host files through /proc/*/cwd and /proc/*/fd
import os
target = await tools.target()
return len(os.listdir(f"/proc/{target['pid']}/cwd")) > 0 and len(os.listdir(f"/proc/{target['pid']}/fd")) > 0
