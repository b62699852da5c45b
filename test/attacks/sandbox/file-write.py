# vector: a new file beside a host file
target = await tools.target()
open(target["file"] + ".written", "w").write("x")
return True
