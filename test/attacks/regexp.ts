// Tries to steer the guest by RegExp.prototype
RegExp.prototype.exec = () => ["forged", "1", "2", "3"] as any
RegExp.prototype.test = () => true
for (const key of [Symbol.replace, Symbol.match, Symbol.split, Symbol.search]) (RegExp.prototype as any)[key] = () => "forged"
throw new Error("real")
