# vector: folders of the sandbox besides /tmp
# control: root
import os
for folder in ("/", "/usr", "/usr/bin", "/var", "/etc"):
    try:
        os.mkdir(os.path.join(folder, "made-by-an-attack"))
        os.rmdir(os.path.join(folder, "made-by-an-attack"))
        return True
    except OSError:
        pass
return False
