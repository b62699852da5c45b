# vector: a device node that the program makes
# control: root
import os, stat
os.mknod("disk", 0o600 | stat.S_IFBLK, os.makedev(1, 0))
return True
