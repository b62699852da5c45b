// Tries to catch frames by setters on Object.prototype
for (const key of ["type", "id", "value", "args", "line", "column", "name", "global", "message", "frames", "unsent", "text", "channel"]) {
  Object.defineProperty(Object.prototype, key, { __proto__: null, configurable: true, get() { return "forged" }, set(v) { globalThis.caught = v } } as any)
}
console.log("logged")
await tools.echo({ a: 1 })
return { caught: (globalThis as any).caught === undefined }
