// Tries to forge by toJSON on every prototype
for (const made of [Object, Array, String, Number, Boolean, Function, Error, Map]) (made.prototype as any).toJSON = () => "forged"
console.log({ a: 1 }, [1])
return await tools.echo({ a: ["real"] })
