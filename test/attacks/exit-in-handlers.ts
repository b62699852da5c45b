// Tries to exit from every handler
process.on("exit", () => process.exit(7)); process.on("beforeExit", () => process.exit(8)); process.on("uncaughtException", () => process.exit(9))
setTimeout(() => { throw new Error("x") }, 1)
await new Promise((done) => setTimeout(done, 1000))
