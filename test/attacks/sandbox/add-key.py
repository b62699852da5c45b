# vector: a new key
result, errno = call(248, 217, text("user"), text("attack"), text("x"), 1, -2)
return result >= 0
