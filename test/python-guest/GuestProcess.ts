/**
 * Drives the Python guest alone: an interpreter with the channel on descriptor 3, and what it sends.
 */
import { spawn, spawnSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { Duplex } from "node:stream"
import { fileURLToPath } from "node:url"

const guest = fileURLToPath(new URL("../../src/backends/python-guest/guest.py", import.meta.url))

const warmed = `import sys
__name__ = "guest"
exec(compile(open(sys.argv[1], encoding="utf-8").read(), "guest.py", "exec"))
boot(warm=True)
serve(3)`

/** A frame of the guest, as the host would have to check it. */
export type Frame = Readonly<Record<string, unknown>>

/** What came of one run. */
export interface Outcome {
  /** The frame that ended the run; `undefined` if the process ended without one. */
  readonly end: Frame | undefined
  readonly logs: ReadonlyArray<string>
  readonly channels: ReadonlyArray<unknown>
  readonly calls: ReadonlyArray<Frame>
  /** The types of all frames, in order. */
  readonly types: ReadonlyArray<unknown>
  /** How the process ended, by itself or after its channel was closed. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** What was written to descriptors 1 and 2, below the capture. */
  readonly stray: string
}

/** How a run is driven. */
export interface Drive {
  readonly start?: Frame
  /** The guest has loaded asyncio before it waits for its program. */
  readonly warm?: boolean
  /** Sends the bytes of the frames one by one. */
  readonly byteByByte?: boolean
  /** Closes the channel at the first call. */
  readonly hangUp?: boolean
}

const isFrame = (value: unknown): value is Frame => typeof value === "object" && value !== null

const fieldOf = (value: unknown, name: string): unknown => (isFrame(value) ? value[name] : undefined)

/** The host functions of these tests: the text of an answer, or the milliseconds after which one comes. */
const answer = (call: Frame): { readonly frame: Frame; readonly afterMs: number } | undefined => {
  const { args, id, name } = call
  const result = (value: unknown, afterMs = 0) => ({ frame: { type: "result", id, value }, afterMs })
  switch (name) {
    case "never":
      return undefined
    case "add":
      return result(Number(fieldOf(args, "a")) + Number(fieldOf(args, "b")))
    case "slow":
      return result(fieldOf(args, "value") ?? "slept", Number(fieldOf(args, "ms")))
    case "fail":
      return { frame: { type: "error", id, message: fieldOf(args, "message") ?? "refused" }, afterMs: 0 }
    default:
      return result(args)
  }
}

/** JSON of a value of any depth: JSON.stringify recurses. */
const write = (frame: Frame): string => {
  try {
    return JSON.stringify(frame)
  } catch {
    let value = frame.value
    let depth = 0
    while (Array.isArray(value)) {
      value = value[0]
      depth++
    }
    return `{"type":"result","id":${String(frame.id)},"value":${"[".repeat(depth)}${"]".repeat(depth)}}`
  }
}

const startFrame: Frame = {
  type: "start",
  columnOffset: 0,
  namespaces: [
    {
      global: "tools",
      names: ["add", "echo", "fail", "slow", "never", "odd name", "then", "__class__"],
      errorClass: { name: "ToolError", memberNameProperty: "tool" }
    }
  ],
  maxOutputBytes: 67_108_864,
  maxBindingBytes: 67_108_864,
  maxConcurrentCalls: 256
}

/** Runs a program in a fresh interpreter. */
export const run = (python: string, program: string, drive: Drive = {}): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const child = spawn(python, ["-I", "-S", "-u", ...(drive.warm === true ? ["-c", warmed, guest] : [guest])], {
      cwd: "/",
      env: {},
      stdio: ["ignore", "pipe", "pipe", "pipe"]
    })
    const channel = child.stdio[3]
    if (!(channel instanceof Duplex)) return reject(new Error("there is no channel"))
    const logs: Array<string> = []
    const channels: Array<unknown> = []
    const calls: Array<Frame> = []
    const types: Array<unknown> = []
    const timers: Array<NodeJS.Timeout> = []
    let end: Frame | undefined
    let stray = ""
    let pieces: Array<Buffer> = []
    const send = (frame: Frame): void => {
      const text = `${write(frame)}\n`
      if (drive.byteByByte === true) for (const byte of Buffer.from(text)) channel.write(Buffer.of(byte))
      else channel.write(text)
    }
    const take = (frame: unknown): void => {
      if (!isFrame(frame)) throw new Error(`not a frame: ${String(frame)}`)
      types.push(frame.type)
      switch (frame.type) {
        case "started":
          return
        case "log":
          logs.push(String(frame.text))
          channels.push(frame.channel)
          return
        case "call": {
          calls.push(frame)
          if (drive.hangUp === true) return void channel.destroy()
          const answered = answer(frame)
          if (answered === undefined) return
          if (answered.afterMs === 0) send(answered.frame)
          else timers.push(setTimeout(() => send(answered.frame), answered.afterMs))
          return
        }
        default:
          end = frame
          channel.end()
      }
    }
    channel.on("data", (data: Buffer) => {
      for (let at = data.indexOf(10); at >= 0; at = data.indexOf(10)) {
        const line = Buffer.concat([...pieces, data.subarray(0, at)]).toString()
        pieces = []
        data = data.subarray(at + 1)
        try {
          take(JSON.parse(line))
        } catch (error) {
          reject(error)
        }
      }
      if (data.length > 0) pieces.push(data)
    })
    channel.on("error", () => undefined)
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (data: Buffer) => {
        stray += data.toString()
      })
    }
    child.on("error", reject)
    child.on("close", (code, signal) => {
      timers.forEach(clearTimeout)
      resolve({ end, logs, channels, calls, types, code, signal, stray })
    })
    send({ ...startFrame, program, ...drive.start })
  })

const pyenv = join(homedir(), ".pyenv/versions")

const found = (): ReadonlyArray<string> => {
  try {
    return readdirSync(pyenv).map((version) => join(pyenv, version, "bin/python3"))
  } catch {
    return []
  }
}

/** An interpreter of at least 3.10, and its minor version. */
export interface Interpreter {
  readonly python: string
  readonly minor: number
}

/** One interpreter of each minor version from 3.10 that this machine has. */
export const interpreters: ReadonlyArray<Interpreter> = ["/usr/bin/python3", ...found()]
  .flatMap((python) => {
    const asked = spawnSync(python, [
      "-I",
      "-S",
      "-c",
      "import sys; print(sys.version_info[0] * 100 + sys.version_info[1])"
    ])
    const version = Number(asked.stdout?.toString() ?? "")
    return version >= 310 ? [{ python, minor: version - 300 }] : []
  })
  .filter((one, index, all) => all.findIndex((other) => other.minor === one.minor) === index)

/** Why tests of the guest do not run. */
export const without = "no CPython of at least 3.10 (/usr/bin/python3) on this machine"
