// Tries to replace every method of Array.prototype
for (const key of Reflect.ownKeys(Array.prototype)) if (key !== "length" && key !== "constructor") try { (Array.prototype as any)[key] = () => { throw new Error("poisoned") } } catch {}
return await tools.echo([1, 2])
