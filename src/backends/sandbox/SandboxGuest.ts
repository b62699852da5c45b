/**
 * A guest inside bubblewrap: frames on file descriptor 3, both ways; standard output and error are the program's.
 */
import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, openSync } from "node:fs"
import { Socket } from "node:net"
import { constants } from "node:os"
import type { LogChannel } from "../../domain/RunEvent.ts"
import { type Guest, type GuestExit, type GuestListener, LaunchFailure } from "../../services/GuestLauncher.ts"
import { outOfMemoryCode } from "../process/ExitCode.ts"
import { FatalText } from "../process/FatalText.ts"
import * as ProcessTable from "../process/ProcessTable.ts"
import { ControlGroup, type Place } from "./ControlGroup.ts"
import * as ProcessTree from "./ProcessTree.ts"

/** How guests of one runtime are started. */
export interface Recipe {
  /** bubblewrap, and its arguments up to the command's end. */
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** Open files whose contents bubblewrap reads, from descriptor `firstData` on. */
  readonly data: ReadonlyArray<number>
  /** Who the guest is on the host; undefined: whoever the host is. */
  readonly identity: (() => number) | undefined
  readonly groups: Place | undefined
  readonly memoryBytes: number | undefined
  readonly maxProcesses: number
  readonly lastWords: { readonly opening: RegExp; readonly outOfMemory: RegExp }
  readonly maxConcurrentCalls: number
}

/** Where bubblewrap tells of the sandbox. */
export const infoDescriptor = 4
/** Where it waits until it may go on; it closes the other one before, so they cannot be one. */
export const gateDescriptor = 5
/** The first of the descriptors that bubblewrap reads files from. */
export const firstData = 6

/** Signals by which an interpreter ends itself when it can no longer go on. */
const aborts: ReadonlySet<string> = new Set(["SIGABRT", "SIGTRAP", "SIGILL"])

/** How long a sandbox may take to be built, in milliseconds. */
const buildMs = 20_000
/** How long the processes of a sandbox may take to die, in milliseconds. */
const deathMs = 5000

/** Names by number; where there are two, such as SIGABRT and SIGIOT, the first is the one that Node uses. */
const signalNames = new Map(
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [number, name])
)

/** bubblewrap tells a signal as a shell does: 128 and its number. */
const signalOf = (code: number): string | undefined => (code > 128 ? signalNames.get(code - 128) : undefined)

/** Lines of a text of whole lines. */
const linesOf = (text: string): number => {
  let lines = 0
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++
  return lines
}

export class SandboxGuest implements Guest {
  readonly #child: ChildProcess
  /** The first process inside, by its number on the host: all others end with it. */
  readonly #first: number
  readonly #group: ControlGroup | undefined
  readonly #channel: Socket
  readonly #sockets: ReadonlyArray<Socket>
  readonly #fatal: FatalText
  readonly #recipe: Recipe
  readonly #mostUnread: number
  readonly #gone: Promise<void>
  #listener: GuestListener | undefined
  #early: Array<(listener: GuestListener) => void> = []
  #exit: GuestExit | undefined
  #unread = 0
  #held = false
  #dead = false
  #busyMs = 0
  #peakMemoryMb: number | undefined

  constructor(built: Built, recipe: Recipe) {
    const { channel, child, first, group, stderr, stdout } = built
    this.#child = child
    this.#first = first
    this.#group = group
    this.#recipe = recipe
    // One batch of answers that the guest reads while it makes new calls, and the answers of those.
    this.#mostUnread = 2 * recipe.maxConcurrentCalls + 1
    this.#fatal = new FatalText(recipe.lastWords.opening, (bytes) => this.#onStray("stderr", bytes))
    this.#channel = channel
    this.#sockets = [stdout, stderr, channel]
    channel.setEncoding("utf8")
    channel.on("data", (text: string) => this.#tell((listener) => listener.onText(text)))
    stdout.on("data", (bytes: Buffer) => this.#onStray("stdout", bytes))
    stderr.on("data", (bytes: Buffer) => this.#fatal.push(bytes))
    for (const socket of this.#sockets) socket.resume()
    child.once("exit", () => (this.#dead = true))
    this.#gone = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        this.#onClose(code ?? undefined, signal ?? undefined)
        resolve()
      })
    })
    // A guest that waits for a program keeps no host alive.
    child.unref()
    for (const socket of this.#sockets) socket.unref()
  }

  listen(listener: GuestListener): void {
    this.#listener = listener
    const early = this.#early
    this.#early = []
    for (const tell of early) tell(listener)
    if (this.#exit !== undefined) listener.onExit(this.#exit)
  }

  send(text: string): void {
    if (this.#dead || this.#channel.destroyed) return
    if (!this.#held) this.#hold()
    const lines = linesOf(text)
    this.#unread += lines
    // Only a guest that forges calls without reading the answers lets them pile up.
    if (this.#unread > this.#mostUnread + lines) return this.#kill()
    this.#channel.write(text, () => (this.#unread -= lines))
  }

  busyMs(): number {
    const measured = this.#group?.cpuMs() ?? (this.#dead ? undefined : ProcessTree.cpuMs(this.#first))
    if (measured !== undefined && measured > this.#busyMs) this.#busyMs = measured
    return this.#busyMs
  }

  peakMemoryMb(): number | undefined {
    const measured = this.#group?.peakMemoryMb() ?? (this.#dead ? undefined : ProcessTree.peakMemoryMb(this.#first))
    if (measured !== undefined) this.#peakMemoryMb = measured
    return this.#peakMemoryMb
  }

  /** What the interpreter holds now, before any program: what a budget is counted from. */
  idle(): { readonly memoryBytes: number; readonly dataMb: number; readonly addressSpaceMb: number } {
    return { memoryBytes: this.#group?.memoryBytes() ?? 0, ...ProcessTree.sizesMb(this.#first) }
  }

  /** Ends the sandbox with all that it started, and waits until that is gone. */
  readonly end: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    this.peakMemoryMb()
    this.#hold()
    this.#kill()
    yield* Effect.promise(() => this.#gone)
    // bubblewrap may be gone before: somebody ended it, or the interpreter ended and left children. The kernel then ends
    // the first process inside, which takes a moment.
    for (let waited = 0; ProcessTree.isAlive(this.#first) && waited < deathMs; waited++) yield* Effect.sleep(1)
    if (this.#group !== undefined) yield* this.#group.remove
  }).pipe(Effect.ignoreCause)

  /** Keeps the host alive from now on. */
  #hold(): void {
    this.#held = true
    if (this.#dead) return
    this.#child.ref()
    for (const socket of this.#sockets) socket.ref()
  }

  #tell(tell: (listener: GuestListener) => void): void {
    if (this.#listener === undefined) this.#early.push(tell)
    else tell(this.#listener)
  }

  #onStray(channel: LogChannel, bytes: Uint8Array): void {
    this.#tell((listener) => listener.onStray(channel, bytes))
  }

  /** Ends the first process inside: the kernel then ends all others, and bubblewrap waits for that. */
  #kill(): void {
    if (!this.#dead) ProcessTable.signal(this.#first, "SIGKILL")
  }

  #onClose(code: number | undefined, killed: string | undefined): void {
    const signal = killed ?? (code === undefined ? undefined : signalOf(code))
    const aborted = signal !== undefined && aborts.has(signal)
    const words = aborted ? this.#fatal.take() : ""
    if (!aborted) this.#fatal.release()
    this.busyMs()
    this.peakMemoryMb()
    const outOfMemory =
      code === outOfMemoryCode ||
      this.#recipe.lastWords.outOfMemory.test(words) ||
      (signal === "SIGKILL" && this.#group?.ranOutOfMemory() === true)
    this.#exit = signal === undefined ? { code, outOfMemory } : { signal, outOfMemory }
    this.#listener?.onExit(this.#exit)
  }
}

interface Built {
  readonly child: ChildProcess
  readonly first: number
  readonly group: ControlGroup | undefined
  readonly stdout: Socket
  readonly stderr: Socket
  readonly channel: Socket
}

/** Builds a sandbox, groups its processes once it stands, and starts its interpreter. It is ended by `end`. */
export const start = (recipe: Recipe): Effect.Effect<SandboxGuest, LaunchFailure> =>
  Effect.callback((resume) => {
    const fail = (why: string, cause?: unknown) =>
      resume(
        Effect.fail(
          new LaunchFailure({
            message: `a sandbox could not be made: ${why}`,
            ...(cause === undefined ? {} : { cause })
          })
        )
      )
    // Each sandbox reads the files from their beginning, so each has descriptors of its own.
    const data: Array<number> = []
    let child: ChildProcess
    try {
      for (const file of recipe.data) data.push(openSync(`/proc/self/fd/${file}`, "r"))
      const id = recipe.identity?.()
      child = spawn(recipe.command, recipe.args, {
        cwd: "/",
        env: {},
        stdio: ["ignore", "pipe", "pipe", "pipe", "pipe", "pipe", ...data],
        ...(id === undefined ? {} : { uid: id, gid: id })
      })
    } catch (cause) {
      return fail(cause instanceof Error ? cause.message : "no process could be started", cause)
    } finally {
      for (const file of data) closeSync(file)
    }
    const pipes: ReadonlyArray<unknown> = child.stdio
    const [, stdout, stderr, channel, info, gate] = pipes
    if (
      !(stdout instanceof Socket && stderr instanceof Socket && channel instanceof Socket) ||
      !(info instanceof Socket && gate instanceof Socket)
    ) {
      child.once("error", (cause) => fail(cause.message, cause))
      return
    }
    // A pipe whose other end is gone; the exit tells the rest.
    for (const socket of [stdout, stderr, channel, info, gate]) socket.on("error", () => {})

    let said = ""
    let told = ""
    let refusal = ""
    const onSaid = (bytes: Buffer) => (said += bytes.toString())
    const timer = setTimeout(() => child.kill("SIGKILL"), buildMs)
    const done = () => {
      clearTimeout(timer)
      stderr.off("data", onSaid)
      stderr.pause()
      child.removeListener("error", onError)
      child.removeListener("close", onClose)
    }
    const onError = (cause: Error) => {
      done()
      child.on("error", () => {})
      fail(cause.message, cause)
    }
    const onClose = (code: number | null, signal: string | null) => {
      done()
      fail(said.trim().split("\n")[0] || refusal || `bubblewrap ended with ${signal ?? `code ${code}`}`)
    }
    child.on("error", onError)
    child.on("close", onClose)
    stdout.pause()
    channel.pause()
    stderr.on("data", onSaid)
    info.on("data", (bytes: Buffer) => {
      told += bytes.toString()
      const first = Number(/"child-pid": (\d+)\b[^]*\}/u.exec(told)?.[1])
      if (!(first > 0)) return
      info.destroy()
      const { groups, maxProcesses, memoryBytes } = recipe
      // The first process inside and one that only waits are none of the program's.
      const bounds = { memoryBytes, processes: maxProcesses + 2 }
      const group = groups === undefined ? undefined : ControlGroup.make(groups, bounds)
      if (groups !== undefined && (group === undefined || !group.join(first))) {
        ProcessTable.signal(first, "SIGKILL")
        if (group !== undefined) Effect.runFork(group.remove)
        // Unless it is gone already, and says why.
        refusal = "its control group could not be made"
        return
      }
      gate.end("\n")
      done()
      child.on("error", () => {})
      resume(Effect.succeed(new SandboxGuest({ child, first, group, stdout, stderr, channel }, recipe)))
    })
  })
