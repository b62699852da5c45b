# vector: another personality
result, errno = call(135, 92, 0x0040000)
return result >= 0
