// Tries to freeze every intrinsic and global
const seen = new Set<any>()
const freeze = (o: any) => { if (o === null || (typeof o !== "object" && typeof o !== "function") || seen.has(o) || seen.size > 5000) return; seen.add(o); try { Object.freeze(o) } catch {} for (const key of Reflect.ownKeys(o)) { try { freeze(Object.getOwnPropertyDescriptor(o, key)?.value) } catch {} } }
freeze(globalThis)
console.log("x")
return await tools.echo(1)
