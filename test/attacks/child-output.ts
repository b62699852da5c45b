// Tries to print to the host through a child that inherits its streams
const { spawn, spawnSync } = await import("node:child_process")
const child = spawn("/bin/sh", ["-c", "echo leaked"], { stdio: ["ignore", "pipe", "pipe"] })
await new Promise((done) => child.on("close", done).on("error", done))
return 1
