// Tries to take over uncaught exceptions
process.setUncaughtExceptionCaptureCallback(null)
process.setUncaughtExceptionCaptureCallback(() => {})
setTimeout(() => { throw new Error("swallowed") }, 1)
await new Promise((done) => setTimeout(done, 20))
return 1
