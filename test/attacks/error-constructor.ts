// Tries to replace every error class
for (const name of ["Error", "TypeError", "RangeError", "SyntaxError", "AggregateError"]) (globalThis as any)[name] = class { constructor() { throw "poisoned" } }
try { await (tools as any).echo(1, 2) } catch {}
return await tools.fail({}).catch((error: any) => error.message)
