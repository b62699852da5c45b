// Tries to replace Promise and its functions
for (const key of ["resolve", "reject", "all", "race", "withResolvers"]) (Promise as any)[key] = () => { throw new Error("poisoned") };
(globalThis as any).Promise = class { constructor() { throw new Error("poisoned") } }
return await tools.echo(1)
