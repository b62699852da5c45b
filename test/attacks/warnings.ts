// Tries to print below the streams by warnings
process.emitWarning("below", "DeprecationWarning"); new (Buffer as any)(1)
for (let i = 0; i < 20; i++) process.on("SIGUSR2", () => {})
;(process as any)._rawDebug("below")
process.removeAllListeners("warning"); process.emitWarning("again")
await new Promise((done) => setTimeout(done, 10))
return 1
