// Tries to break stacks by Error.stackTraceLimit
Object.defineProperty(Error, "stackTraceLimit", { get() { throw new Error("poisoned") }, set() { throw new Error("poisoned") } })
Object.defineProperty(Error, "prepareStackTrace", { get() { throw new Error("poisoned") }, set() { throw new Error("poisoned") } })
const answer = await tools.echo(1)
throw new Error("after " + answer)
