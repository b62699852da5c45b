# vector: a file by its handle
result, errno = call(303, 264, -100, text("/"), 0, 0, 0)
return errno == 14
