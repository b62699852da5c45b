// Tries to lie about bytes by Buffer and TextEncoder
Buffer.byteLength = () => -1e9
Buffer.from = Buffer.alloc = Buffer.concat = () => { throw new Error("poisoned") }
TextEncoder.prototype.encode = () => new Uint8Array(0)
process.stdout.write(new Uint8Array([104, 105]))
return "x".repeat(5_000_000)
