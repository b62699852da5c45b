// Tries to replace the streams and the console
Object.defineProperty(process, "stdout", { value: null }); Object.defineProperty(process, "stderr", { get() { throw new Error("poisoned") } })
;(globalThis as any).console = null
return await tools.echo(1)
