// What Deno runs: one program, with the host behind lines of JSON.
import process from "node:process"

const AsyncFunction = (async () => {}).constructor
const encoder = new TextEncoder()
const write = (line) => {
  const bytes = encoder.encode(`${JSON.stringify(line)}\n`)
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at))
}
const answers = new Map()
let calls = 0
const bind =
  (name) =>
  (args = {}) =>
    new Promise((resolve) => {
      answers.set(++calls, resolve)
      write({ id: calls, name, args })
    })

const start = async ({ names, program }) => {
  const tools = Object.fromEntries(names.map((name) => [name, bind(name)]))
  const console = { log: (...words) => write({ log: words.join(" ") }) }
  write({ done: await new AsyncFunction("tools", "console", program)(tools, console) })
  process.exit(0)
}

let rest = ""
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n")
  rest = lines.pop()
  for (const line of lines) {
    const message = JSON.parse(line)
    if ("program" in message) void start(message)
    else answers.get(message.id)(message.value)
  }
}
