# vector: another root by chroot
# control: root
result, errno = call(161, 51, text("/"))
return result == 0
