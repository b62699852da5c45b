# vector: a copy of a mount tree
# control: root
result, errno = call(428, 428, -100, text("/"), 1)
return result >= 0
