/**
 * TypeScript programs in worker threads of the host's process: the fastest guests, for programs that one trusts not to be
 * malicious. A thread shares its process: what it cannot promise stands in `docs/security.md`.
 */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { readFileSync } from "node:fs"
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  type ResourceLimits,
  Worker
} from "node:worker_threads"
import type { InvalidLimit, Limits, LimitsInput } from "../../domain/Limits.ts"
import * as RuntimeLayer from "../../layers/RuntimeLayer.ts"
import type { CodeRuntime } from "../../services/CodeRuntime.ts"
import {
  type Guest,
  type GuestExit,
  type GuestLauncher,
  type GuestListener,
  LaunchFailure
} from "../../services/GuestLauncher.ts"
import { type NodePermission, permissionFlags, permissionOption } from "../javascript-guest/NodePermission.ts"
import * as TypeScriptCompiler from "../typescript-compiler/TypeScriptCompiler.ts"
import * as GuestCode from "./GuestCode.ts"
import { countedAtOnce, fewUnread, weightOf } from "./unread.ts"

/** Options of the backend: the limits, and what a worker may do. */
export interface Options extends LimitsInput {
  /**
   * Node's permission model for each guest (Node 24 or newer); off by default, since ordinary programs read files. It
   * closes much, not all: see `docs/security.md`.
   */
  readonly permission?: NodePermission | undefined
}

const nextCode = GuestCode.make(new URL(".", import.meta.url), !import.meta.url.endsWith(".ts"))

const isOutOfMemory = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY"

/** Whether a process is a child of this one and still alive. */
const isLivingChild = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return state !== "Z" && state !== "X" && Number(parent) === process.pid
  } catch {
    return false
  }
}

const kill = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It ended by itself.
  }
}

/**
 * MiB of a thread's young objects. A thread that is out of memory gets some more from Node until it ends; where a
 * collection moves more than that among the old objects, V8 ends the whole process, and on a machine with much memory
 * the young may be 192 MiB.
 */
const maxYoungGenerationSizeMb = 24

class ThreadGuest implements Guest {
  readonly #worker: Worker
  readonly #code = nextCode()
  readonly #port: MessagePort
  readonly #children = new Set<number>()
  /** What the messages weigh that the guest has sent and that were not read. */
  readonly #unread = new Int32Array(new SharedArrayBuffer(4))
  #read = 0
  #listener: GuestListener | undefined
  #early: Array<string> = []
  /** What was taken from the port before its turn. */
  #taken: Array<string> = []
  #exit: GuestExit | undefined
  #terminated: Promise<unknown> | undefined
  #outOfMemory = false
  #busyMs = 0
  #held = false
  #paused = false

  constructor(maxMemoryMb: number, permission: NodePermission | undefined) {
    const { port1, port2 } = new MessageChannel()
    const resourceLimits: ResourceLimits = { maxOldGenerationSizeMb: maxMemoryMb, maxYoungGenerationSizeMb }
    this.#port = port1
    this.#worker = new Worker(this.#code.entry, {
      name: "effect-code-runtime guest",
      argv: [],
      env: {},
      // Node would warn of some permissions, on streams that the guest replaces.
      execArgv: permission === undefined ? [] : ["--no-warnings", ...permissionFlags(permission)],
      stdin: false,
      // Nobody reads them: the guest captures what the program writes, and nothing may reach the host's own.
      stdout: true,
      stderr: true,
      trackUnmanagedFds: true,
      resourceLimits,
      workerData: { ...this.#code.workerData, port: port2, unread: this.#unread },
      transferList: [port2]
    })
    port1.on("message", (message: unknown) => {
      this.#tellTaken()
      this.#onMessage(message)
    })
    this.#worker.on("error", (error) => {
      if (isOutOfMemory(error)) this.#outOfMemory = true
    })
    this.#worker.on("exit", (code) => this.#onExit(code))
    // A guest that waits for a program keeps no host alive.
    port1.unref()
    this.#worker.unref()
  }

  listen(listener: GuestListener): void {
    this.#listener = listener
    const early = this.#early
    this.#early = []
    for (const text of early) listener.onText(text)
    if (this.#exit !== undefined) listener.onExit(this.#exit)
  }

  send(text: string): void {
    if (!this.#held && this.#exit === undefined) {
      this.#held = true
      this.#worker.ref()
    }
    this.#port.postMessage(text)
  }

  wake(): void {
    this.#port.postMessage("")
  }

  busyMs(): number {
    if (this.#exit !== undefined) return this.#busyMs
    const { active, idle } = this.#worker.performance.eventLoopUtilization()
    // A loop that has ended, but whose exit is not yet known, has no idle time, and then all of it would count as busy.
    if (idle >= 0) this.#busyMs = active
    return this.#busyMs
  }

  peakMemoryMb(): undefined {
    return undefined
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    this.#tellRead()
  }

  kill(): void {
    this.#take()
    // While the thread lives its event loop reaps its children; a thread that is stuck leaves that to nobody.
    if (this.#children.size === 0) void this.#terminate()
  }

  /** Ends the thread and its children, and waits until they are gone. */
  readonly end: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    if (this.#children.size > 0) yield* this.#endChildren()
    yield* Effect.promise(() => this.#terminate())
    this.#drain()
    // Those that it has started meanwhile.
    if (this.#children.size > 0) yield* this.#endChildren()
    this.#port.close()
    const { settled } = this.#code
    if (settled !== undefined) yield* Effect.promise(settled)
  }).pipe(Effect.ignoreCause)

  #terminate(): Promise<unknown> {
    return (this.#terminated ??= this.#worker.terminate())
  }

  /** Ends the children that are still there, and waits for it, though not for long. */
  #endChildren(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      for (let i = 0; i < 20; i++) {
        const living = [...this.#children].filter(isLivingChild)
        if (living.length === 0) return
        for (const pid of living) kill(pid)
        yield* Effect.sleep(5)
      }
    })
  }

  #onMessage(message: unknown): void {
    // Only a child of the host can be one of the thread's.
    if (typeof message === "number" && isLivingChild(message)) this.#children.add(message)
    if (typeof message !== "string") return
    this.#read += weightOf(message)
    if (this.#read >= countedAtOnce && !this.#paused) this.#tellRead()
    if (this.#listener === undefined) this.#early.push(message)
    else this.#listener.onText(message)
  }

  /** Lets a guest go on that waits for its host. */
  #tellRead(): void {
    const read = this.#read
    this.#read = 0
    const before = Atomics.sub(this.#unread, 0, read)
    if (before > fewUnread && before - read <= fewUnread) Atomics.notify(this.#unread, 0)
  }

  /** Takes what the thread has sent; of children it is heard at once, of all else in its turn. */
  #take(): void {
    for (let next = receiveMessageOnPort(this.#port); next !== undefined; next = receiveMessageOnPort(this.#port)) {
      if (typeof next.message === "string") this.#taken.push(next.message)
      else this.#onMessage(next.message)
    }
  }

  #tellTaken(): void {
    if (this.#taken.length === 0) return
    const taken = this.#taken
    this.#taken = []
    for (const message of taken) this.#onMessage(message)
  }

  /** Tells all that the thread had sent before it ended. */
  #drain(): void {
    this.#take()
    this.#tellTaken()
  }

  #onExit(code: number): void {
    this.#drain()
    this.#exit = { code, outOfMemory: this.#outOfMemory }
    this.#listener?.onExit(this.#exit)
  }
}

/** Launches worker threads. */
export const launcher = (limits: Limits, permission?: NodePermission): GuestLauncher["Service"] => ({
  language: "typescript",
  isolation: "worker-thread",
  launch: Effect.acquireRelease(
    Effect.try({
      try: () => new ThreadGuest(limits.maxMemoryMb, permission),
      catch: (cause) => new LaunchFailure({ message: "a worker thread could not be started", cause })
    }),
    (guest) => guest.end
  )
})

/** Schemas of the options beside the limits. */
export const optionFields = { permission: permissionOption }

/**
 * A code runtime of worker threads, `language` `typescript`, `isolation` `worker-thread`.
 *
 * Fails with `InvalidLimit` for an option outside its bound.
 */
export const layer = (options: Options = {}): Layer.Layer<CodeRuntime, InvalidLimit> =>
  RuntimeLayer.make(options, (checked) => launcher(checked, options.permission), TypeScriptCompiler.layer, optionFields)
