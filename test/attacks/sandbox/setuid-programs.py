# vector: programs that run as their owner
import os
for folder, _, names in os.walk("/usr"):
    for name in names:
        try:
            if os.lstat(os.path.join(folder, name)).st_mode & 0o6000:
                return True
        except OSError:
            pass
return False
