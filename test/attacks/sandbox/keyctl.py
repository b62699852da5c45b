# vector: the session's keyring
result, errno = call(250, 219, 0, -3, 1)
return result >= 0
