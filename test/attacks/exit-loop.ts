// Tries to never finish exiting
process.on("exit", () => { for (;;) {} })
process.exit(1)
