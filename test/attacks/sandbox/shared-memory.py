# vector: shared memory of System V
result, errno = call(29, 194, 0, 4096, 0o1600)
return result >= 0
