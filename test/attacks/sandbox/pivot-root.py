# vector: another root by pivot_root
# control: root
result, errno = call(155, 41, text("/nowhere"), text("/nowhere"))
return errno == 2
