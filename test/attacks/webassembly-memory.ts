// Tries to take all of WebAssembly's memory, within bounds
try { const memory = new WebAssembly.Memory({ initial: 1, maximum: 2048 }); memory.grow(2000); return memory.buffer.byteLength } catch { return 0 }
