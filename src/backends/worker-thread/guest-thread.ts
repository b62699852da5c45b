/**
 * The entry of a guest in a worker thread: the JavaScript guest over a message port of its own.
 */
import { startGuest } from "../javascript-guest/guest.ts"
import { loop, spinning } from "../javascript-guest/spinning.ts"
import { countedAtOnce, fewUnread, mostUnread, weightOf } from "./unread.ts"

// A program can replace what a module exports, not what was taken from it before.
const { MessagePort, parentPort, receiveMessageOnPort, workerData } = process.getBuiltinModule("node:worker_threads")
const port: unknown = workerData.port
const unread: unknown = workerData.unread
if (!(port instanceof MessagePort) || !(unread instanceof Int32Array)) {
  throw new Error("a guest thread is started by its launcher")
}
// The program finds neither this port nor one that anybody listens to.
delete workerData.port
delete workerData.unread
parentPort?.close()

const { apply, defineProperty } = Reflect
const { Script } = process.getBuiltinModule("node:vm")
const { runInThisContext } = Script.prototype
const postMessage = port.postMessage.bind(port)
const ref = port.ref.bind(port)
const unref = port.unref.bind(port)
const { add, load, wait } = Atomics
let said = 0
const send = (lines: string): void => {
  postMessage(lines)
  if (held) onSend()
  said += weightOf(lines)
  if (said < countedAtOnce) return
  const now = add(unread, 0, said) + said
  said = 0
  if (now <= mostUnread) return
  for (let left = load(unread, 0); left > fewUnread; left = load(unread, 0)) wait(unread, 0, left)
}

let settled = false
let held = false
const receive = startGuest({
  send,
  hold: (alive) => {
    held = alive
    if (alive) ref()
    else unref()
  },
  onSettled: () => {
    settled = true
  }
})

/** What V8 does first after a pause takes it several times as long: this does it while the host still reads the program. */
const practise = (): void => {
  apply(runInThisContext, new Script('(async function(){"use strict"\n})'), [])
}

const poll = (): string | undefined => {
  const text: unknown = receiveMessageOnPort(port)?.message
  return typeof text === "string" ? text : undefined
}
const { onMessage, onSend } = spinning(receive, { ...loop, poll, isWaiting: () => held && !settled })
port.on("message", (text: string) => (text === "" ? practise() : onMessage(text)))

// A child of this thread is a child of the host's process, which ends it with the guest.
/** The system's EAGAIN on Linux: it gives no more processes. */
const tryAgain = -11
const tellOfChildren = (ofClass: unknown): void => {
  if (typeof ofClass !== "function") throw new TypeError("no class of processes")
  const prototype: object = ofClass.prototype
  const spawn: unknown = Reflect.get(prototype, "spawn")
  if (typeof spawn !== "function") throw new TypeError("no way to start a process")
  defineProperty(prototype, "spawn", {
    configurable: true,
    writable: true,
    value: function (this: { readonly pid?: unknown }, ...args: ReadonlyArray<unknown>): unknown {
      // The thread may be ended before it could tell of this one.
      if (settled) return tryAgain
      const result: unknown = apply(spawn, this, args)
      // Beside the frames: the host knows of it at once, however much it has still to read.
      if (typeof this.pid === "number") postMessage(this.pid)
      return result
    }
  })
}
try {
  // What every child comes from; to load `node:child_process` itself would be a good part of a guest's start.
  const binding: unknown = Reflect.get(process, "binding")
  if (typeof binding !== "function") throw new TypeError("no bindings")
  tellOfChildren(apply(binding, process, ["process_wrap"]).Process)
} catch {
  // Node's permissions, or a later Node, close that door.
  tellOfChildren(process.getBuiltinModule("node:child_process").ChildProcess)
}
