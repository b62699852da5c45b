// Tries to wait on shared memory for ever, without blocking
const cells = new Int32Array(new SharedArrayBuffer(4))
await (Atomics as any).waitAsync(cells, 0, 0).value
