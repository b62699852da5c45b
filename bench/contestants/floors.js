// What nothing that crosses a thread or a text can beat: a warm worker that echoes, and the engine's own JSON. They run
// no program; they move the same data the same number of times.
import { Worker } from "node:worker_threads"

const rowsOf = (count) =>
  Array.from({ length: count }, (_, id) => ({ id, name: `row ${id}`, tags: ["a", "b"], ok: id % 2 === 0 }))

const json = (value) => JSON.parse(JSON.stringify(value))

const openJson = async () => ({
  perform: async (task) => {
    if (task.kind === "rows") return json(json(json(rowsOf(task.size)))).length
    if (task.kind === "text") return json("x".repeat(task.size)).length
    return undefined
  },
  dispose: async () => {}
})

const openPort = async () => {
  const worker = new Worker(
    'require("node:worker_threads").parentPort.on("message", (m) => require("node:worker_threads").parentPort.postMessage(m))',
    {
      eval: true
    }
  )
  const waiting = []
  worker.on("message", (value) => waiting.shift()(value))
  const trip = (value) =>
    new Promise((resolve) => {
      waiting.push(resolve)
      worker.postMessage(value)
    })
  await trip(0)
  return {
    perform: async (task) => {
      if (task.kind === "rows") {
        // Out and back is two of the three crossings; one more way, as half of a second trip, is not worth a measure.
        return (await trip(rowsOf(task.size))).length
      }
      if (task.kind === "text") return (await trip("x".repeat(task.size))).length
      if (task.kind === "sequence") {
        for (let i = 0; i < task.size; i++) await trip({ a: i, b: 1 })
        return task.size
      }
      if (task.kind === "parallel") {
        return (await Promise.all(Array.from({ length: task.size }, (_, i) => trip({ a: i, b: 1 })))).length
      }
      return undefined
    },
    dispose: () => worker.terminate()
  }
}

export const open = ({ floor }) => (floor === "json" ? openJson() : openPort())
