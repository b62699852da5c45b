# vector: host file through a symbolic link that the program makes
import os
target = await tools.target()
os.symlink(target["file"], "link")
return open("link").read() == target["secret"]
