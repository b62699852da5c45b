# vector: the host's memory through /proc/PID/mem
# control: root
target = await tools.target()
open(f"/proc/{target['pid']}/mem", "rb").close()
return True
