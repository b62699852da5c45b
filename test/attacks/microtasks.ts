// Tries to never leave the queue of microtasks
const spin = () => queueMicrotask(spin)
spin()
for (;;) await null
