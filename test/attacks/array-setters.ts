// Tries to catch what the guest stores by index setters on Array.prototype
for (let i = 0; i < 64; i++) Object.defineProperty(Array.prototype, i, { __proto__: null, configurable: true, set(v) { (globalThis as any).caught = v } } as any)
await Promise.all([tools.echo([1, 2, 3]), tools.echo("x")])
return (globalThis as any).caught === undefined
