# vector: memory that is locked
# control: root
result, errno = call(151, 230, 1)
return result == 0
