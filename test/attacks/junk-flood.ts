// Tries to flood the host with junk frames through a caught channel
const { MessagePort } = await import("node:worker_threads")
const handles: any[] = (process as any)._getActiveHandles?.() ?? []
for (const port of handles) if (port instanceof MessagePort) for (let i = 0; i < 5000; i++) port.postMessage("junk\n")
return 1
