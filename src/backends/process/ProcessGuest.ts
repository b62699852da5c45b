/**
 * A guest in a process of its own: frames on file descriptor 3, both ways; standard output and error are the program's.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import { lstatSync, mkdirSync, rmdirSync } from "node:fs"
import { Socket } from "node:net"
import { type Guest, type GuestListener, LaunchFailure } from "../../services/GuestLauncher.ts"
import type { LogChannel } from "../../domain/RunEvent.ts"
import { Answers } from "./Answers.ts"
import { Audience } from "./Audience.ts"
import type { Cgroup } from "./Cgroup.ts"
import { type Ending, exitOf, type LastWords } from "./Ending.ts"
import { FatalText } from "./FatalText.ts"
import { texts } from "./Pipe.ts"
import { type Premises, removeFolder } from "./Premises.ts"
import * as ProcessTable from "./ProcessTable.ts"

/** What differs from one language to the next. */
export interface Program {
  /** The command that starts a guest; each process of it is held to the limits and carries the mark. */
  readonly command: (options: {
    /** Its private working directory, which is made before it is sent anything; it starts in `/`. */
    readonly folder: string
    /** The value of RLIMIT_RTTIME, in microseconds, by which it and all that it starts are found. */
    readonly mark: number
  }) => ReadonlyArray<string>
  /** What its standard input holds; nothing by default. */
  readonly input?: Uint8Array | undefined
  /** Memory of a guest and all that it starts, in MiB, where a control group can bound it. */
  readonly memoryMb: number
  /** How the interpreter's last words begin, and which of them tell of memory. */
  readonly lastWords: LastWords
  /** `maxConcurrentCalls`: an honest guest leaves no more answers than that unread. */
  readonly maxConcurrentCalls: number
}

/** How long a guest may be kept ready: a process holds more than its runtime should hold while nobody uses it. */
export const standbyMs = 500

/** How long the pipes of a dead guest may be held open by somebody who could not be ended. */
const drainMs = 500

/** After what time who left the group of a dead guest is sought for holding its pipes; seeking costs milliseconds. */
const seekMs = 20

/** How long members of a guest may take to die. */
const deathMs = 5000

/** Marks are values of a limit in microseconds: so far off that it bounds nothing, and told apart by the rest. */
const leastMark = 2 ** 50
const newMark = (): number => leastMark + Math.floor(Math.random() * leastMark)

class ProcessGuest implements Guest {
  readonly #child: ChildProcess
  readonly #pid: number
  readonly #folder: string
  readonly #mark: number
  readonly #joined: Promise<void>
  readonly #channel: Socket
  readonly #sockets: ReadonlyArray<Socket>
  readonly #fatal: FatalText
  readonly #lastWords: LastWords
  readonly #audience = new Audience()
  readonly #answers: Answers
  readonly #gone: Promise<void>
  #cgroup: Cgroup | undefined
  /** What waits until the guest has joined its group: it must start nothing before. */
  #outbox: Array<string> | undefined
  #entered = false
  #dead = false
  #killed = false
  #draining: NodeJS.Timeout | undefined
  #busyMs = 0
  #peakMemoryMb: number | undefined

  constructor(
    child: ChildProcess,
    pid: number,
    folder: string,
    mark: number,
    cgroup: Cgroup | undefined,
    program: Program
  ) {
    this.#child = child
    this.#pid = pid
    this.#folder = folder
    this.#mark = mark
    this.#cgroup = cgroup
    this.#joined = cgroup === undefined ? Promise.resolve() : this.#join(cgroup, program.memoryMb)
    this.#lastWords = program.lastWords
    this.#fatal = new FatalText(program.lastWords.opening, (bytes) => this.#onStray("stderr", bytes))
    const [stdin, stdout, stderr, pipe] = child.stdio
    if (!(stdout instanceof Socket && stderr instanceof Socket && pipe instanceof Socket)) {
      throw new TypeError("the pipes of a child process are sockets")
    }
    const channel = texts(pipe, (text) => this.#audience.tell((listener) => listener.onText(text)))
    this.#channel = channel
    this.#answers = new Answers(channel, program.maxConcurrentCalls)
    this.#sockets = stdin instanceof Socket ? [stdin, stdout, stderr, channel] : [stdout, stderr, channel]
    stdout.on("data", (bytes: Buffer) => this.#onStray("stdout", bytes))
    stderr.on("data", (bytes: Buffer) => this.#fatal.push(bytes))
    // A pipe whose other end is gone; the exit tells the rest.
    for (const socket of this.#sockets) socket.on("error", () => {})
    if (program.input !== undefined) stdin?.end(program.input)
    let seeking: NodeJS.Timeout | undefined
    child.on("exit", () => {
      this.#dead = true
      // Whatever it had started must not outlive it, and holds its pipes.
      this.#signal()
      if (this.#cgroup === undefined) seeking = setTimeout(() => this.#killMarked(), seekMs)
      else if (!this.#cgroup.isEmpty()) void this.#cgroup.kill()
      this.#draining = setTimeout(() => {
        for (const socket of this.#sockets) socket.destroy()
      }, drainMs)
    })
    this.#gone = new Promise((resolve) => {
      child.on("close", (code, signal) => {
        clearTimeout(seeking)
        clearTimeout(this.#draining)
        this.#draining = undefined
        this.#onClose({ code: code ?? undefined, signal: signal ?? undefined })
        resolve()
      })
    })
    // A guest that waits for a program keeps no host alive.
    child.unref()
    for (const socket of this.#sockets) socket.unref()
  }

  listen(listener: GuestListener): void {
    this.#audience.listen(listener)
  }

  send(text: string): void {
    if (this.#dead || this.#channel.destroyed) return
    if (this.#outbox !== undefined) {
      this.#hold()
      this.#outbox.push(text)
      return
    }
    if (!this.#entered && !this.#enter()) return this.#signal()
    if (!this.#answers.write(text)) this.#signal()
  }

  busyMs(): number {
    const measured = this.#cgroup?.cpuMs() ?? (this.#dead ? undefined : ProcessTable.cpuMs(this.#pid))
    if (measured !== undefined && measured > this.#busyMs) this.#busyMs = measured
    return this.#busyMs
  }

  peakMemoryMb(): number | undefined {
    if (!this.#dead) this.#peakMemoryMb = ProcessTable.peakMemoryMb(this.#pid) ?? this.#peakMemoryMb
    return this.#peakMemoryMb
  }

  pause(): void {
    for (const socket of this.#sockets) socket.pause()
  }

  resume(): void {
    for (const socket of this.#sockets) socket.resume()
    // What it has written is read from now on.
    this.#draining?.refresh()
  }

  kill(): void {
    if (this.#killed) return
    this.#killed = true
    this.peakMemoryMb()
    this.#hold()
    this.#signal()
  }

  /** Ends the process and all that it started, waits until they are gone, and removes what they left. */
  readonly end: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    this.kill()
    // What takes a while is done while it dies: from its signal on it starts nothing.
    let isEmpty = this.#cgroup === undefined && this.#killMarked()
    this.#removeFolder()
    yield* Effect.promise(() => this.#gone)
    yield* Effect.promise(() => this.#joined)
    for (let waited = 0; waited < deathMs; waited += 1) {
      isEmpty ||= this.#isEmpty()
      if (isEmpty) break
      const cgroup = this.#cgroup
      if (cgroup !== undefined) yield* Effect.promise(() => cgroup.kill())
      yield* Effect.sleep(1)
    }
    // Nobody needs to wait for the removal of what is empty.
    void this.#cgroup?.remove()
    // Those that it left, or its program that was still on its way, may have made the folder anew.
    if (!this.#removeFolder()) yield* removeFolder(this.#folder)
  }).pipe(Effect.ignoreCause)

  async #join(cgroup: Cgroup, memoryMb: number): Promise<void> {
    this.#outbox = []
    if (!(await cgroup.join(this.#pid, Math.ceil(memoryMb * 1_048_576)))) {
      this.#cgroup = undefined
      void cgroup.remove()
    }
    const waiting = this.#outbox
    this.#outbox = undefined
    for (const text of waiting) this.send(text)
  }

  /** Makes the working directory for the program that is about to be sent. */
  #enter(): boolean {
    this.#entered = true
    this.#hold()
    try {
      mkdirSync(this.#folder, { mode: 0o700 })
      return true
    } catch {
      return false
    }
  }

  /** Keeps the host alive from now on. */
  #hold(): void {
    if (this.#dead) return
    this.#child.ref()
    for (const socket of this.#sockets) socket.ref()
  }

  #onStray(channel: LogChannel, bytes: Uint8Array): void {
    this.#audience.tell((listener) => listener.onStray(channel, bytes))
  }

  #signal(): void {
    if (!this.#dead) ProcessTable.signal(this.#pid, "SIGKILL")
    ProcessTable.signal(-this.#pid, "SIGKILL")
  }

  /** Ends what left the process group; whether nothing was found beside the guest itself, which is dead or dies. */
  #killMarked(): boolean {
    // Stopped first: what is found can start nothing more while the others are looked for.
    const pids = ProcessTable.marked(this.#mark).filter((pid) => pid !== this.#pid)
    for (const pid of pids) ProcessTable.signal(pid, "SIGSTOP")
    for (const pid of pids) ProcessTable.signal(pid, "SIGKILL")
    return pids.length === 0
  }

  #isEmpty(): boolean {
    return this.#cgroup === undefined ? this.#killMarked() : this.#cgroup.isEmpty()
  }

  #removeFolder(): boolean {
    // Most often it is gone already, which an exception would tell more slowly.
    if (lstatSync(this.#folder, { throwIfNoEntry: false }) === undefined) return true
    try {
      rmdirSync(this.#folder)
      return true
    } catch (error) {
      return error instanceof Error && "code" in error && error.code === "ENOENT"
    }
  }

  #onClose(ending: Ending): void {
    this.busyMs()
    const ranOutOfMemory = ending.signal === "SIGKILL" && this.#cgroup?.ranOutOfMemory() === true
    this.#audience.end(exitOf(ending, this.#fatal, this.#lastWords, ranOutOfMemory))
  }
}

const startGuest = (premises: Premises, program: Program): Effect.Effect<ProcessGuest, LaunchFailure> =>
  Effect.callback((resume) => {
    const failed = (cause: unknown) => {
      const why = cause instanceof Error ? `: ${cause.message}` : ""
      resume(Effect.fail(new LaunchFailure({ message: `a process could not be started${why}`, cause })))
    }
    try {
      const name = premises.newName()
      const folder = premises.folderOf(name)
      const mark = newMark()
      const [file = "", ...args] = [...premises.deathSignal, ...program.command({ folder, mark })]
      const child = spawn(file, args, {
        cwd: "/",
        // A process group of its own, which is ended as a whole.
        detached: true,
        env: {},
        stdio: [program.input === undefined ? "ignore" : "pipe", "pipe", "pipe", "pipe"]
      })
      child.on("error", failed)
      const { pid } = child
      if (pid === undefined) return
      const cgroup = premises.cgroup?.child(name)
      resume(Effect.succeed(new ProcessGuest(child, pid, folder, mark, cgroup, program)))
    } catch (cause) {
      failed(cause)
    }
  })

/** Launches guests on premises. */
export const launch = (
  premises: Effect.Effect<Premises, never, Scope.Scope>,
  program: Program
): Effect.Effect<Guest, LaunchFailure, Scope.Scope> =>
  Effect.flatMap(premises, (taken) => Effect.acquireRelease(startGuest(taken, program), (guest) => guest.end))
