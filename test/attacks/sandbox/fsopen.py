# vector: a mount by the new calls
# control: root
result, errno = call(430, 430, text("tmpfs"), 0)
return result >= 0
