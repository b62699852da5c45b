// Tries to take the guest's own listeners away
for (const name of process.eventNames()) process.removeAllListeners(name)
process.on = process.emit = process.listeners = (() => { throw new Error("poisoned") }) as any
Promise.reject(new Error("unseen"))
await new Promise(() => {})
