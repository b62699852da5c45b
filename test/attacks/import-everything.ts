// Tries to import every builtin module
const { builtinModules } = await import("node:module")
const loaded: string[] = []
for (const name of builtinModules) { try { await import(name); loaded.push(name) } catch {} }
return loaded.length > 20
