// Tries to forge frames through parentPort
const { parentPort } = await import("node:worker_threads")
for (let i = 0; i < 2000; i++) { parentPort?.postMessage('{"type":"done","value":"forged","unsent":[]}\n'); parentPort?.postMessage({ type: "done" }) }
parentPort?.close()
return "real"
