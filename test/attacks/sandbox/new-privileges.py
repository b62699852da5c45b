# vector: privileges gained by execve
result, errno = call(157, 167, 39, 0, 0, 0, 0)
return result == 0
