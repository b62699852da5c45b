// Tries to replace the ways to wait
for (const name of ["queueMicrotask", "setTimeout", "setInterval", "setImmediate", "clearTimeout", "structuredClone"]) (globalThis as any)[name] = () => { throw new Error("poisoned") }
process.nextTick = (() => { throw new Error("poisoned") }) as any
return await tools.echo(1)
