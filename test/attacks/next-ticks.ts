// Tries to never leave the queue of ticks
const spin = () => process.nextTick(spin)
spin()
await new Promise(() => {})
