# vector: empty files without end
# control: group
for number in range(150000):
    open(f"f{number}", "x").close()
return True
