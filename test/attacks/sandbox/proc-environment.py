# vector: the host's environment through /proc
target = await tools.target()
return b"PATH=" in open(f"/proc/{target['pid']}/environ", "rb").read()
