// Tries to overflow the guest's stack while it judges a value
let value: any = {}
for (let i = 0; i < 200_000; i++) value = { value, other: [value] }
return value
