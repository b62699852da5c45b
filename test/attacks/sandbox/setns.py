# vector: joining a namespace by setns
result, errno = call(308, 268, 0, 0)
return errno == 22
