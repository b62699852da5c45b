# vector: a new mount namespace by unshare
# control: root
result, errno = call(272, 97, 0x00020000)
return result >= 0
