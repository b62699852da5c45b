// Tries to print proxies and objects whose inspection throws
const evil = { [Symbol.for("nodejs.util.inspect.custom")]() { throw new Error("inspected") }, toString() { throw 1 }, get a() { throw 2 } }
for (const method of ["log", "error", "dir", "table", "group", "trace", "assert", "count", "time"]) { try { (console as any)[method](new Proxy({}, { get() { throw 3 }, ownKeys() { throw 4 } }), evil) } catch {} }
console.log("%s %d %j %o", evil, evil, evil, evil)
return 1
