# vector: a new user namespace by clone
result, errno = call(56, 220, 0x10000000 | 17, 0, 0, 0, 0)
if result == 0:
    exit_now(0)
return result > 0
