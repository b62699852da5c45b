// Tries to pretend to wait by timers that hold nothing
setInterval(() => {}, 1).unref()
setTimeout(() => {}, 1e9).unref()
await new Promise(() => {})
