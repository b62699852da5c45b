// Tries to wait on shared memory for ever
const cells = new Int32Array(new SharedArrayBuffer(4))
tools.never().catch(() => {})
Atomics.wait(cells, 0, 0)
