/** A backend of one's own: TypeScript programs in child processes, over two pipes. See `docs/backends.md`. */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { type CodeRuntime, GuestLauncher, type Limits, RuntimeLayer, TypeScriptCompiler } from "effect-code-runtime"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable, Writable } from "node:stream"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"

const entry = fileURLToPath(new URL("./guest.ts", import.meta.url))

/** A process and the folder that it starts in. */
class ProcessGuest implements GuestLauncher.Guest {
  readonly #folder = mkdtempSync(join(tmpdir(), "example-guest-"))
  readonly #child: ChildProcess
  readonly #closed: Promise<void>
  #listener: GuestLauncher.GuestListener | undefined
  #early: Array<(listener: GuestLauncher.GuestListener) => void> = []
  #busyMs = 0
  #heapFull = false

  constructor(limits: Limits.Limits) {
    this.#child = spawn(
      process.execPath,
      // The conditions of the host are those by which it found this package.
      [...process.execArgv, `--max-old-space-size=${Math.ceil(limits.maxMemoryMb)}`, entry],
      // A group of its own, so that its end is the end of all that is in it.
      { cwd: this.#folder, env: {}, detached: true, stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"] }
    )
    for (const channel of ["stdout", "stderr"] as const) {
      this.#child[channel]?.on("data", (bytes: Buffer) => {
        if (bytes.includes("heap out of memory")) this.#heapFull = true
        this.#tell((to) => to.onStray(channel, bytes))
      })
    }
    const frames = this.#child.stdio[3]
    if (frames instanceof Readable) {
      frames.setEncoding("utf8").on("data", (text: string) => this.#tell((to) => to.onText(text)))
    }
    // A guest may be gone before it has read everything.
    this.#child.stdio[4]?.on("error", () => undefined)
    this.#child.on("exit", () => this.#kill())
    this.#closed = new Promise((resolve) => {
      this.#child.on("error", () => resolve())
      this.#child.on("close", (code, signal) => {
        // V8 ends a process whose heap is full, and says so.
        const exit = { code: code ?? undefined, signal: signal ?? undefined, outOfMemory: this.#heapFull }
        this.#tell((to) => to.onExit(exit))
        resolve()
      })
    })
  }

  #tell(what: (listener: GuestLauncher.GuestListener) => void): void {
    if (this.#listener === undefined) this.#early.push(what)
    else what(this.#listener)
  }

  /** Ends the group; false once nobody is left in it. */
  #kill(): boolean {
    try {
      return this.#child.pid !== undefined && process.kill(-this.#child.pid, "SIGKILL")
    } catch {
      return false
    }
  }

  listen(listener: GuestLauncher.GuestListener): void {
    this.#listener = listener
    for (const what of this.#early.splice(0)) what(listener)
  }

  send(text: string): void {
    const pipe = this.#child.stdio[4]
    if (pipe instanceof Writable && pipe.writable) pipe.write(text)
  }

  /** CPU time in ticks of 10 ms, as Linux tells it; the last figure once the process is gone. */
  busyMs(): number {
    try {
      const stat = readFileSync(`/proc/${this.#child.pid}/stat`, "utf8")
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      this.#busyMs = Math.max(this.#busyMs, (Number(fields[11]) + Number(fields[12])) * 10)
    } catch {
      // It is gone.
    }
    return this.#busyMs
  }

  peakMemoryMb(): undefined {
    return undefined
  }

  readonly end = Effect.promise(async () => {
    for (let i = 0; this.#kill() && i < 500; i++) await setTimeout(2)
    await this.#closed
    rmSync(this.#folder, { recursive: true, force: true })
  })
}

const launcher = (limits: Limits.Limits): GuestLauncher.GuestLauncher["Service"] => ({
  language: "typescript",
  isolation: "example-process",
  launch: Effect.acquireRelease(
    Effect.try({
      try: () => new ProcessGuest(limits),
      catch: (cause) => new GuestLauncher.LaunchFailure({ message: "the process could not be started", cause })
    }),
    (guest) => guest.end
  )
})

/** A code runtime over these processes. */
export const layer = (limits: Limits.LimitsInput = {}): Layer.Layer<CodeRuntime.CodeRuntime, Limits.InvalidLimit> =>
  RuntimeLayer.make(limits, launcher, TypeScriptCompiler.layer)
