# vector: many files that fill the disk
for number in range(40):
    with open(f"big-{number}", "wb") as file:
        file.write(bytes(1 << 20))
return True
