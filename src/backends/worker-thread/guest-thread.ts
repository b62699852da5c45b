/**
 * The entry of a guest in a worker thread: the JavaScript guest over a message port of its own.
 */
import * as childProcess from "node:child_process"
import { MessagePort, parentPort, workerData } from "node:worker_threads"
import { startGuest } from "../javascript-guest/guest.ts"

const port: unknown = workerData.port
if (!(port instanceof MessagePort)) throw new Error("a guest thread is started by its launcher")
// The program finds neither this port nor one that anybody listens to.
delete workerData.port
parentPort?.close()

const postMessage = port.postMessage.bind(port)
const ref = port.ref.bind(port)
const unref = port.unref.bind(port)
const send = (lines: string): void => postMessage(lines)

const receive = startGuest({ send, hold: (alive) => (alive ? ref() : unref()) })
port.on("message", (text: string) => receive(text))

// A child of this thread is a child of the host's process, which ends it with the guest.
const { apply, defineProperty, getOwnPropertyDescriptor } = Reflect
const spawn = getOwnPropertyDescriptor(childProcess.ChildProcess.prototype, "spawn")
const spawnNative: unknown = spawn?.value
if (typeof spawnNative === "function") {
  defineProperty(childProcess.ChildProcess.prototype, "spawn", {
    ...spawn,
    value: function (this: childProcess.ChildProcess, ...args: ReadonlyArray<unknown>): unknown {
      const result: unknown = apply(spawnNative, this, args)
      if (typeof this.pid === "number") send(`{"type":"spawned","pid":${this.pid}}\n`)
      return result
    }
  })
}
