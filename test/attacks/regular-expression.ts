// Tries to run a catastrophic regular expression
return /^(\w+\s?)*$/.test("word ".repeat(30) + "!")
