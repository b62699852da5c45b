/**
 * The entry of a guest in a process of its own: the JavaScript guest over file descriptor 3. Its argument is the private
 * working directory, which it enters when its program comes.
 */
import { Socket } from "node:net"
import { StringDecoder } from "node:string_decoder"
import type { WorkerOptions } from "node:worker_threads"
import { startGuest } from "../javascript-guest/guest.ts"
import { loop, spinning } from "../javascript-guest/spinning.ts"
import { outOfMemoryCode } from "../process/ExitCode.ts"

const descriptor = 3
const workerCodeMb = 16
const { apply, set } = Reflect
// A program can replace what a module exports, not what was taken from it before.
const { closeSync, existsSync, readdirSync, readFileSync, readSync, writevSync } = process.getBuiltinModule("node:fs")
const { from } = Buffer
const { wait } = Atomics
const reallyExit: (code: number) => never = Reflect.get(process, "reallyExit").bind(process)
const lastIndexOf = String.prototype.lastIndexOf
const slice = String.prototype.slice
const subarray = Uint8Array.prototype.subarray
const decoder = new StringDecoder("utf8")
const decode = decoder.write
const folder = process.argv[2] ?? "/"
const chdir = process.chdir.bind(process)
let entered = false
let held = false
let settled = false
const pause = new Int32Array(new SharedArrayBuffer(4))

const codeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "code" in error ? error.code : undefined

/**
 * Writes at once: what was sent survives whatever the program does next. By `writevSync`, since `writeSync` looks for its
 * error in a plain object, which inherits what a program gives to all objects.
 */
const send = (lines: string): void => {
  const bytes: Uint8Array = from(lines)
  for (let at = 0; at < bytes.length;) {
    try {
      at += writevSync(descriptor, [at === 0 ? bytes : apply(subarray, bytes, [at])])
    } catch (error) {
      // The host is gone, or reads more slowly than the program writes.
      if (codeOf(error) !== "EAGAIN") reallyExit(1)
      wait(pause, 0, 0, 1)
    }
  }
  if (held) onSend()
}

/** Closes what the host had open without meaning to hand it down: all that Node opens itself would be closed by an exec. */
const closeInherited = (): void => {
  const closedByExec = 0o2000000
  // A sandbox shows no processes, and has closed them before.
  for (const name of existsSync("/proc/self/fdinfo") ? readdirSync("/proc/self/fdinfo") : []) {
    try {
      const flags = /^flags:\s+([0-7]+)$/mu.exec(readFileSync(`/proc/self/fdinfo/${name}`, "utf8"))?.[1]
      if (Number(name) <= descriptor || flags === undefined) continue
      if ((Number.parseInt(flags, 8) & closedByExec) === 0) closeSync(Number(name))
    } catch {
      // The one by which the folder was read.
    }
  }
}
closeInherited()

const channel = new Socket({
  fd: descriptor,
  readable: true,
  writable: true,
  onread: {
    buffer: Buffer.alloc(65_536),
    callback: (size, buffer) => {
      const lines = linesOf(buffer, size)
      if (lines !== undefined) onMessage(lines)
      return true
    }
  }
})
const ref = channel.ref.bind(channel)
const unref = channel.unref.bind(channel)

/** Parts of a line that has not ended yet. */
let begun = ""
/** The whole lines that these bytes complete. */
const linesOf = (bytes: Uint8Array, size: number): string | undefined => {
  const text: string = apply(decode, decoder, [apply(subarray, bytes, [0, size])])
  const end: number = apply(lastIndexOf, text, ["\n"]) + 1
  if (end === 0) {
    // A rope: its parts are joined once, when the line has ended.
    begun += text
    return undefined
  }
  if (!entered) {
    entered = true
    chdir(folder)
  }
  const whole: string = begun + apply(slice, text, [0, end])
  begun = apply(slice, text, [end])
  return whole
}

const looked = Buffer.allocUnsafeSlow(65_536)
const ErrorConstructor = Error
/** What has come by now. Nothing is an exception, which costs less where it takes no stack. */
const poll = (): string | undefined => {
  const limit = ErrorConstructor.stackTraceLimit
  set(ErrorConstructor, "stackTraceLimit", 0)
  try {
    const size = readSync(descriptor, looked)
    return size === 0 ? hostIsGone() : linesOf(looked, size)
  } catch {
    // What is wrong with the channel its event tells.
    return undefined
  } finally {
    set(ErrorConstructor, "stackTraceLimit", limit)
  }
}

const hostIsGone = (): never => reallyExit(1)
channel.on("end", hostIsGone)
channel.on("error", hostIsGone)
channel.on("close", hostIsGone)
channel.resume()

// These two are changed before anything imports them by name, so what a program imports is what they are then.
const os = process.getBuiltinModule("node:os")
const workerThreads = process.getBuiltinModule("node:worker_threads")
// The environment is empty, so Node would name the host's common folder for temporary files.
Reflect.set(os, "tmpdir", () => folder)
// Every heap reserves half a GiB for code, which counts as memory; a worker needs little of it.
const { Worker } = workerThreads
Reflect.set(
  workerThreads,
  "Worker",
  class extends Worker {
    constructor(file: string | URL, options?: WorkerOptions) {
      super(file, { ...options, resourceLimits: { codeRangeSizeMb: workerCodeMb, ...options?.resourceLimits } })
    }
  }
)
process.argv = ["node", "program.ts"]

const receive = startGuest({
  send,
  hold: (alive) => {
    held = alive
    if (alive) ref()
    else unref()
  },
  folder,
  onSettled: () => {
    settled = true
  },
  outOfMemory: () => reallyExit(outOfMemoryCode)
})

const { onMessage, onSend } = spinning(receive, { ...loop, poll, isWaiting: () => held && !settled })
