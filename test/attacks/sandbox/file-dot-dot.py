# vector: host file through ..
target = await tools.target()
return open("../" * 20 + target["file"].lstrip("/")).read() == target["secret"]
