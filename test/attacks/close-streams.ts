// Tries to close and break its own streams
process.stdout.destroy(new Error("x")); process.stderr.end(); process.stdin.destroy()
process.stdout.on("error", () => {})
console.log("after"); console.error("after")
await tools.echo(1)
return 1
