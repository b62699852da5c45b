# vector: a mount
# control: root
import os
os.mkdir("mounted")
result, errno = call(165, 40, text("none"), text("mounted"), text("tmpfs"), 0, 0)
if result == 0:
    call(166, 39, text("mounted"), 2)
return result == 0
