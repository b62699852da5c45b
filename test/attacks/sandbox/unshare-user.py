# vector: a new user namespace by unshare
result, errno = call(272, 97, 0x10000000)
return result >= 0
