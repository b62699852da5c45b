# vector: the kernel's log
# control: root
result, errno = call(103, 116, 10, 0, 0)
return result >= 0
