# vector: a file without a path
result, errno = call(319, 279, text("x"), 0)
return result >= 0
