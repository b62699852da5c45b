// Loads a contestant, runs one program, and says so: what `process start to first result` times.
const [file, dialect, options] = process.argv.slice(2)
const { open } = await import(file)
const runtime = await open(JSON.parse(options))
const { value } = await runtime.run({ program: dialect === "monty" ? "1" : "return 1", bindings: [] })
process.stdout.write(`${value}\n`)
// Left to itself a peer may stay alive for reasons of its own.
process.on("SIGTERM", () => process.exit(0))
