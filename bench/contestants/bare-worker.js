// The floor of a worker backend: a Worker of Node a run, that evaluates the program and posts what comes of it.
import { Worker } from "node:worker_threads"

const guest = `
const { parentPort } = require("node:worker_threads")
const AsyncFunction = (async () => {}).constructor
const answers = new Map()
let calls = 0
const bind = (name) => (args = {}) => new Promise((resolve) => {
  answers.set(++calls, resolve)
  parentPort.postMessage({ id: calls, name, args })
})
const start = async ({ names, program }) => {
  const tools = Object.fromEntries(names.map((name) => [name, bind(name)]))
  const console = { log: (...words) => parentPort.postMessage({ log: words.join(" ") }) }
  parentPort.postMessage({ done: await new AsyncFunction("tools", "console", program)(tools, console) })
}
parentPort.on("message", (message) => {
  if ("program" in message) start(message)
  else answers.get(message.id)(message.value)
})`

const boot = () => new Worker(guest, { eval: true, env: {}, stdout: true, stderr: true })

/** With `standby`, the next worker is booted when a run is over, and waits for its program. */
export const open = async ({ standby = false }) => {
  let next = standby ? boot() : undefined
  const run = ({ bindings = [], program }) =>
    new Promise((resolve, reject) => {
      const worker = next ?? boot()
      next = undefined
      const functions = bindings[0]?.functions ?? {}
      const logs = []
      worker.on("message", async (message) => {
        if ("log" in message) logs.push(message.log)
        else if ("id" in message)
          worker.postMessage({ id: message.id, value: await functions[message.name](message.args) })
        else void worker.terminate().then(() => resolve({ value: message.done, logs }))
      })
      worker.on("error", reject)
      worker.postMessage({ program, names: Object.keys(functions) })
    }).finally(() => {
      // The turn in which a run ends belongs to whoever waits for it.
      if (standby) setImmediate(() => (next ??= boot()))
    })
  return { run, dispose: async () => void (await next?.terminate()) }
}
