// Tries to replace Reflect and Object's functions
for (const key of Reflect.ownKeys(Reflect)) if (typeof key === "string") (Reflect as any)[key] = () => { throw new Error("poisoned") }
for (const key of Object.getOwnPropertyNames(Object)) if (key !== "prototype" && key !== "length" && key !== "name") try { (Object as any)[key] = () => { throw new Error("poisoned") } } catch {}
return await tools.echo({ a: 1 })
