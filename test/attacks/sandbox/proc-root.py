# vector: host files through /proc/*/root
import glob
target = await tools.target()
for root in [f"/proc/{target['pid']}/root", *glob.glob("/proc/[0-9]*/root")]:
    try:
        if open(root + target["file"]).read() == target["secret"]:
            return True
    except OSError:
        pass
return False
