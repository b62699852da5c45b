/**
 * The code of guest threads. Where the library was built, V8 compiles it once for many guests: a guest that is given what
 * another thread has compiled is ready sooner, and its program's first steps meet no function that is still to be compiled.
 *
 * That other thread runs this library's code alone. No thread that ran a program is ever asked for anything.
 */
import { readFileSync } from "node:fs"
import { MessageChannel, Worker, type WorkerOptions } from "node:worker_threads"
import { decode, encodeResult } from "../../domain/Frame.ts"

/** How a guest is started. */
export interface GuestCode {
  readonly entry: URL
  /** What its `workerData` holds beside the launcher's own. */
  readonly workerData: { readonly code?: string; readonly compiled?: Uint8Array }
  /** Waits until nothing runs any more that was started for this guest's sake; undefined where nothing was. */
  readonly settled?: () => Promise<void>
}

/** Guests that a host has started before it is worth a thread of its own to spare the next their compiling. */
const guestsBefore = 3

/** What a program's first steps need: a log, a call, a value. */
const rehearsal = JSON.stringify({
  type: "start",
  program: `(async () => { console.log("a"); return await tools.echo({ value: ["a", 1, null] }) })`,
  columnOffset: 0,
  namespaces: [{ global: "tools", names: ["echo"], errorClass: { name: "ToolError", memberNameProperty: "toolName" } }],
  maxOutputBytes: 1000,
  maxBindingBytes: 1000,
  maxConcurrentCalls: 1
})

/**
 * Starts a thread that finds what V8 has compiled of a guest's code after a program of ours, and returns how one waits for
 * its end. It keeps no host alive that does not wait. Where it fails, the next guests compile for themselves.
 */
const startCompiler = (entry: URL, code: string, onCompiled: (compiled: Uint8Array) => void): (() => Promise<void>) => {
  const channel = new MessageChannel()
  const compiler = new MessageChannel()
  const options: WorkerOptions = {
    name: "effect-code-runtime compiler of guests",
    argv: [],
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    workerData: {
      code,
      compiler: compiler.port2,
      port: channel.port2,
      unread: new Int32Array(new SharedArrayBuffer(4))
    },
    transferList: [channel.port2, compiler.port2]
  }
  const worker = new Worker(entry, options)
  channel.port1.on("message", (lines: string) => {
    for (const line of lines.split("\n")) {
      const frame = line === "" ? undefined : decode(line)
      switch (frame?.type) {
        case "call":
          channel.port1.postMessage(encodeResult(frame.id, JSON.stringify(frame.args)))
          break
        case "quiet":
          compiler.port1.postMessage("compiled")
          break
        // None of these is expected; nobody is to wait for a thread that says no more.
        case "threw":
        case "invalid":
        case "overflow":
          void worker.terminate()
      }
    }
  })
  compiler.port1.on("message", (message: unknown) => {
    if (message instanceof Uint8Array) onCompiled(message)
    void worker.terminate()
  })
  worker.on("error", () => {})
  let running = true
  const ended = new Promise<void>((resolve) => {
    worker.on("exit", () => {
      running = false
      channel.port1.close()
      compiler.port1.close()
      resolve()
    })
  })
  worker.unref()
  channel.port1.unref()
  compiler.port1.unref()
  channel.port1.postMessage(`${rehearsal}\n`)
  return () => {
    if (running) worker.ref()
    return ended
  }
}

/**
 * The code of the guests whose files lie in a folder, for one guest after another. A built folder has a loader in it;
 * sources are run as they are.
 */
export const make = (folder: URL, built: boolean): (() => GuestCode) => {
  if (!built) {
    const entry = new URL("guest-thread.ts", folder)
    return () => ({ entry, workerData: {} })
  }
  const entry = new URL("guest-loader.cjs", folder)
  let code: string | undefined
  let compiled: Uint8Array | undefined
  let guests = 0
  return () => {
    code ??= `(require) => {${readFileSync(new URL("guest-thread.cjs", folder), "utf8")}\n}`
    const workerData = { code, ...(compiled === undefined ? {} : { compiled }) }
    if (guests++ !== guestsBefore) return { entry, workerData }
    try {
      const settled = startCompiler(entry, code, (made) => {
        compiled = made
      })
      return { entry, workerData, settled }
    } catch {
      // The system gives no more threads: this guest tries it anyhow.
      return { entry, workerData }
    }
  }
}
