# vector: a setting of the kernel in sysfs
# control: root
import os
for folder, _, names in os.walk("/sys/kernel"):
    for name in names:
        try:
            os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
            return True
        except OSError:
            pass
return False
