/**
 * A guest inside bubblewrap: frames on file descriptor 3, both ways; standard output and error are the program's.
 */
import * as Effect from "effect/Effect"
import type { Socket } from "node:net"
import type { LogChannel } from "../../domain/RunEvent.ts"
import type { Guest, GuestListener } from "../../services/GuestLauncher.ts"
import { Answers } from "../process/Answers.ts"
import { Audience } from "../process/Audience.ts"
import { type Ending, exitOf, type LastWords } from "../process/Ending.ts"
import { FatalText } from "../process/FatalText.ts"
import * as ProcessTable from "../process/ProcessTable.ts"
import type { ControlGroup } from "./ControlGroup.ts"
import * as ProcessTree from "./ProcessTree.ts"

/** The first process of a guest's world, which all others end with, and the host's ends of its pipes. */
export interface Leader {
  /** Its number on the host. */
  readonly pid: number
  readonly group: ControlGroup | undefined
  readonly stdout: Socket
  readonly stderr: Socket
  readonly channel: Socket
  /** Whether it is known to have ended: its number may be another's by now. */
  readonly isGone: () => boolean
  /** Keeps the host alive until it has ended. */
  readonly hold: () => void
  /** How it ended, once it has and everything that it said was told. */
  readonly ended: Promise<Ending>
}

/** What is to be known of the guests of one runtime. */
export interface Kind {
  readonly lastWords: LastWords
  readonly maxConcurrentCalls: number
}

/** How long the processes of a sandbox may take to die, in milliseconds. */
const deathMs = 5000

export class SandboxGuest implements Guest {
  readonly #leader: Leader
  readonly #sockets: ReadonlyArray<Socket>
  readonly #fatal: FatalText
  readonly #kind: Kind
  readonly #audience = new Audience()
  readonly #answers: Answers
  readonly #gone: Promise<void>
  #held = false
  #killed = false
  #busyMs = 0
  #peakMemoryMb: number | undefined

  constructor(leader: Leader, kind: Kind) {
    const { channel, stderr, stdout } = leader
    this.#leader = leader
    this.#kind = kind
    this.#answers = new Answers(channel, kind.maxConcurrentCalls)
    this.#fatal = new FatalText(kind.lastWords.opening, (bytes) => this.#onStray("stderr", bytes))
    this.#sockets = [stdout, stderr, channel]
    channel.setEncoding("utf8")
    channel.on("data", (text: string) => this.#audience.tell((listener) => listener.onText(text)))
    stdout.on("data", (bytes: Buffer) => this.#onStray("stdout", bytes))
    stderr.on("data", (bytes: Buffer) => this.#fatal.push(bytes))
    for (const socket of this.#sockets) {
      socket.resume()
      // A guest that waits for a program keeps no host alive.
      socket.unref()
    }
    this.#gone = leader.ended.then((ending) => this.#onEnd(ending))
  }

  listen(listener: GuestListener): void {
    this.#audience.listen(listener)
  }

  send(text: string): void {
    const { channel, isGone } = this.#leader
    if (isGone() || channel.destroyed) return
    this.#hold()
    if (!this.#answers.write(text)) this.#signal()
  }

  busyMs(): number {
    const measured =
      this.#leader.group?.cpuMs() ?? (this.#leader.isGone() ? undefined : ProcessTree.cpuMs(this.#leader.pid))
    if (measured !== undefined && measured > this.#busyMs) this.#busyMs = measured
    return this.#busyMs
  }

  peakMemoryMb(): number | undefined {
    const measured =
      this.#leader.group?.peakMemoryMb() ??
      (this.#leader.isGone() ? undefined : ProcessTree.peakMemoryMb(this.#leader.pid))
    if (measured !== undefined) this.#peakMemoryMb = measured
    return this.#peakMemoryMb
  }

  /** What the interpreter holds now, before any program: what a budget is counted from. */
  idle(): { readonly memoryBytes: number; readonly dataMb: number; readonly addressSpaceMb: number } {
    const { group, pid } = this.#leader
    return { memoryBytes: group?.memoryBytes() ?? 0, ...ProcessTree.sizesMb(pid) }
  }

  pause(): void {
    for (const socket of this.#sockets) socket.pause()
  }

  resume(): void {
    for (const socket of this.#sockets) socket.resume()
  }

  kill(): void {
    if (this.#killed) return
    this.#killed = true
    this.peakMemoryMb()
    this.#hold()
    this.#signal()
  }

  /** Ends the sandbox with all that it started, and waits until that is gone. */
  readonly end: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    this.kill()
    yield* Effect.promise(() => this.#gone)
    // The kernel ends the others, which takes a moment where its parent was gone before.
    const { group, pid } = this.#leader
    for (let waited = 0; ProcessTree.isAlive(pid) && waited < deathMs; waited++) yield* Effect.sleep(1)
    if (group !== undefined) yield* group.remove
  }).pipe(Effect.ignoreCause)

  /** Keeps the host alive from now on. */
  #hold(): void {
    if (this.#held) return
    this.#held = true
    this.#leader.hold()
    for (const socket of this.#sockets) socket.ref()
  }

  #onStray(channel: LogChannel, bytes: Uint8Array): void {
    this.#audience.tell((listener) => listener.onStray(channel, bytes))
  }

  /** Ends the first process: the kernel then ends all others. */
  #signal(): void {
    if (!this.#leader.isGone()) ProcessTable.signal(this.#leader.pid, "SIGKILL")
  }

  #onEnd(ending: Ending): void {
    this.busyMs()
    this.peakMemoryMb()
    const ranOutOfMemory = ending.signal === "SIGKILL" && this.#leader.group?.ranOutOfMemory() === true
    this.#audience.end(exitOf(ending, this.#fatal, this.#kind.lastWords, ranOutOfMemory))
  }
}
