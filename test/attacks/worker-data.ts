// Tries to find the channel in workerData and on process
const threads = await import("node:worker_threads")
const found = JSON.stringify([Object.keys(threads.workerData ?? {}), typeof (threads.workerData ?? {}).port, typeof (process as any).send])
return found
