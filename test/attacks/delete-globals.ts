// Tries to delete every global
const echo = tools.echo
for (const key of Reflect.ownKeys(globalThis)) { try { delete (globalThis as any)[key] } catch {} }
return await echo(1)
