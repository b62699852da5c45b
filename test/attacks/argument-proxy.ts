// Tries to pass proxies that lie to host functions
const liars = [
  new Proxy({}, { ownKeys: () => ["a", "a"] }), new Proxy({}, { getPrototypeOf: () => { throw 1 } }), new Proxy([], { ownKeys: () => [] }),
  new Proxy({}, { ownKeys: () => ["a"], getOwnPropertyDescriptor: () => ({ value: () => 1, enumerable: true, configurable: true }) }),
  new Proxy([1, 2, 3], { get: (_t, k) => (k === "length" ? 1e9 : 1) })
]
let refused = 0
for (const liar of liars) await tools.echo(liar).catch(() => { refused++ })
return refused
