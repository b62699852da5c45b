# vector: a file without end
with open("big", "wb") as file:
    for _ in range(40):
        file.write(bytes(1 << 20))
return True
