// Tries to leave threads behind
const { Worker } = await import("node:worker_threads")
for (let i = 0; i < 4; i++) new Worker("for (;;) {}", { eval: true }).on("error", () => {})
await new Promise((done) => setTimeout(done, 50))
return 1
