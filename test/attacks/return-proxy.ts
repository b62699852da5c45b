// Tries to return a proxy whose every trap throws
return new Proxy({}, new Proxy({}, { get() { return () => { throw new Error("trap") } } }) as any)
