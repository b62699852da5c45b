// Tries to catch the guest's calls by Function.prototype
const caught: unknown[] = []
for (const key of ["call", "apply", "bind", "toString"]) (Function.prototype as any)[key] = function (...args: any[]) { caught[caught.length] = args; throw new Error("poisoned") }
Object.defineProperty(Function.prototype, Symbol.hasInstance, { value: () => true })
return [await tools.echo(1), caught.length]
