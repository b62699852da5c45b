# vector: host file by absolute path
target = await tools.target()
return open(target["file"]).read() == target["secret"]
