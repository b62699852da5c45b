/**
 * The entry of a guest in a worker thread: the JavaScript guest over a message port of its own.
 */
import * as childProcess from "node:child_process"
import { MessagePort, parentPort, workerData } from "node:worker_threads"
import { startGuest } from "../javascript-guest/guest.ts"
import { countedAtOnce, fewUnread, mostUnread, weightOf } from "./unread.ts"

const port: unknown = workerData.port
const unread: unknown = workerData.unread
if (!(port instanceof MessagePort) || !(unread instanceof Int32Array)) {
  throw new Error("a guest thread is started by its launcher")
}
// The program finds neither this port nor one that anybody listens to.
delete workerData.port
delete workerData.unread
parentPort?.close()

const postMessage = port.postMessage.bind(port)
const ref = port.ref.bind(port)
const unref = port.unref.bind(port)
const { add, load, wait } = Atomics
let said = 0
const send = (lines: string): void => {
  postMessage(lines)
  said += weightOf(lines)
  if (said < countedAtOnce) return
  const now = add(unread, 0, said) + said
  said = 0
  if (now <= mostUnread) return
  for (let left = load(unread, 0); left > fewUnread; left = load(unread, 0)) wait(unread, 0, left)
}

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
