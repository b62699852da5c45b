# vector: host file through a hard link that the program makes
import os
target = await tools.target()
os.link(target["file"], target["file"] + ".link")
return os.path.exists(target["file"] + ".link")
