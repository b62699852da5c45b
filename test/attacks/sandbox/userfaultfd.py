# vector: userfaultfd
result, errno = call(323, 282, 1)
return result >= 0
