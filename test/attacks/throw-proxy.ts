// Tries to throw a proxy whose every trap throws
const traps: any = new Proxy({}, { get() { return () => { throw new Error("trap") } } })
throw new Proxy(function () {}, traps)
