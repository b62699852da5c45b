// Tries to steer the guest's promises by their species
Object.defineProperty(Promise.prototype, "constructor", { get() { return { [Symbol.species]: function (executor: any) { executor(() => {}, () => {}) } } } })
const first = await tools.echo(1)
throw new Error("after " + first)
