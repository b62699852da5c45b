// Tries to take over by domain and diagnostics channels
const domain = (await import("node:domain")).create(), channels = await import("node:diagnostics_channel")
domain.on("error", () => {}); domain.enter()
channels.subscribe("worker_threads", () => { throw new Error("told") })
setTimeout(() => { throw new Error("in a domain") }, 1)
await new Promise((done) => setTimeout(done, 20))
return 1
