/**
 * A zygote: a sandbox whose interpreter is booted once and forks a fresh guest, in namespaces of its own, for each run.
 */
import * as Effect from "effect/Effect"
import { LaunchFailure } from "../../services/GuestLauncher.ts"
import { asShell, type Ending } from "../process/Ending.ts"
import * as ProcessTable from "../process/ProcessTable.ts"
import { type Built, build, confine, firstPipe, type Recipe } from "./BubblewrapProcess.ts"
import * as ProcessTree from "./ProcessTree.ts"
import { SandboxGuest } from "./SandboxGuest.ts"
import { type Architecture, encode, numberOf } from "./SeccompFilter.ts"

/** Guests of one zygote: what they share, the address layout and the hash seed, is renewed after so many. */
const mostForks = 24

/** Pipes of one guest: its channel, standard output and standard error. */
const pipesOfGuest = 3

/** Pipes of a zygote, beside its own. */
export const pipes = mostForks * pipesOfGuest

/** With so few left the next zygote is started, so that nobody waits for it. */
const fewForks = 6

/** How long the start of a zygote, or a fork, may take, in milliseconds. */
const startMs = 20_000
/** How long the processes of a zygote may take to die, in milliseconds. */
const deathMs = 5000
/** Characters of what a zygote complains of that are kept at most. */
const longestComplaint = 16_384

/** How zygotes of one runtime are started, and what bounds each guest. */
export interface ZygoteRecipe {
  readonly sandbox: Recipe
  readonly group: NonNullable<Recipe["group"]>
  readonly architecture: Architecture
  /** The options of the mount that is a guest's `/tmp`. */
  readonly tmpfs: string
}

/** The number on the host of the child that has `pid` in its parent's namespace and leads one of its own. */
const hostPid = (parent: number, pid: number): number | undefined =>
  ProcessTree.children(parent).find((child) => {
    const [own, inParent] = ProcessTree.numbers(child).toReversed()
    return own === 1 && inParent === pid
  })

/** A guest that could not be forked. */
export const failure = (why: string) => new LaunchFailure({ message: `a guest could not be forked: ${why}` })

/** What is to be told of one fork. */
interface Fork {
  readonly onForked: (pid: number) => void
  readonly onFailed: (why: string) => void
  readonly onEnded: (ending: Ending) => void
}

export class Zygote {
  readonly #built: Built
  readonly #recipe: ZygoteRecipe
  readonly #forks = new Map<number, Fork>()
  readonly #gone: Promise<void>
  /** Why the host must not end yet: forks under way, and guests that run a program. */
  readonly #holds = new Set<number>()
  /** The interpreter, by its number on the host. */
  #interpreter = 0
  #started = 0
  #lastUse = 0
  #isDead = false
  #said = ""
  #complaint = ""
  #onReady: ((why: string | undefined) => void) | undefined
  /** Called when none of its guests lives any more. */
  onIdle: () => void = () => {}

  constructor(built: Built, recipe: ZygoteRecipe) {
    this.#built = built
    this.#recipe = recipe
    const { channel, child, more, stderr, stdout } = built
    channel.setEncoding("utf8")
    channel.on("data", (text: string) => this.#onText(text))
    stderr.on("data", (bytes: Buffer) => {
      if (this.#complaint.length < longestComplaint) this.#complaint += bytes.toString()
    })
    for (const socket of [channel, stdout, stderr]) socket.resume()
    child.once("exit", () => {
      this.#isDead = true
      this.#onReady?.(this.#complaint.trim().split("\n").at(-1) || "it ended at once")
      for (const { onEnded, onFailed } of this.#forks.values()) {
        onFailed("its zygote ended")
        onEnded({ code: undefined, signal: "SIGKILL" })
      }
    })
    this.#gone = new Promise((resolve) => {
      child.once("close", () => {
        resolve()
        this.onIdle()
      })
    })
    for (const socket of more) socket.unref()
    this.#keep(false)
  }

  /** Waits until it is ready to fork. */
  readonly ready: Effect.Effect<void, LaunchFailure> = Effect.callback((resume) => {
    const { architecture, tmpfs } = this.#recipe
    this.#keep(true)
    const timer = setTimeout(() => this.#kill(), startMs)
    this.#onReady = (why) => {
      this.#onReady = undefined
      clearTimeout(timer)
      this.#keep(false)
      this.#lastUse = performance.now()
      this.#interpreter = ProcessTree.tree(this.#built.first)[1] ?? 0
      resume(why === undefined ? Effect.void : Effect.fail(failure(why)))
    }
    const order = {
      first: firstPipe,
      clone: numberOf("clone", architecture),
      filter: Buffer.from(encode(architecture, "python")).toString("base64"),
      tmpfs
    }
    this.#built.channel.write(`${JSON.stringify(order)}\n`)
  })

  /** Whether it has ended. */
  get isDead(): boolean {
    return this.#isDead
  }

  /** Whether it can make another guest. */
  get isUsable(): boolean {
    return !this.#isDead && this.#started < mostForks
  }

  /** Whether so few forks are left that it is time to start the next zygote. */
  get isNearlySpent(): boolean {
    return this.#started >= mostForks - fewForks
  }

  /** Whether none of its guests lives. */
  get isIdle(): boolean {
    return this.#forks.size === 0
  }

  /** When it was last asked for a guest, by `performance.now()`. */
  get lastUse(): number {
    return this.#lastUse
  }

  /** Forks a guest. It is ended by `end`. */
  readonly fork: Effect.Effect<SandboxGuest, LaunchFailure> = Effect.callback((resume) => {
    const number = this.#started
    const [channel, stdout, stderr] = this.#built.more.slice(number * pipesOfGuest, (number + 1) * pipesOfGuest)
    if (!this.isUsable || channel === undefined || stdout === undefined || stderr === undefined) {
      return resume(Effect.fail(failure("its zygote is spent")))
    }
    this.#started++
    this.#lastUse = performance.now()
    this.#hold(number)
    const timer = setTimeout(() => this.#kill(), startMs)
    const sockets = [channel, stdout, stderr]
    for (const socket of sockets) socket.pause()
    const closed = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve))))
    const ended = Promise.withResolvers<Ending>()
    let isGone = false
    const onFailed = (why: string) => {
      clearTimeout(timer)
      for (const socket of sockets) socket.destroy()
      this.#forget(number)
      resume(Effect.fail(failure(why)))
    }
    const onEnded = (ending: Ending) => {
      isGone = true
      void closed.then(() => this.#forget(number)).then(() => ended.resolve(ending))
    }
    const onForked = (pid: number) => {
      clearTimeout(timer)
      const leader = hostPid(this.#interpreter, pid)
      // Without a word from the host it ends.
      if (leader === undefined) return onFailed("the host does not see it")
      const group = confine(this.#recipe.group, leader)
      if (group === undefined) return onFailed("its control group could not be made")
      channel.write("\n")
      this.#forks.set(number, { onForked: () => {}, onFailed: () => {}, onEnded })
      this.#release(number)
      const hold = () => {
        if (this.#forks.has(number)) this.#hold(number)
      }
      const guest = { pid: leader, group, channel, stdout, stderr, ended: ended.promise, isGone: () => isGone, hold }
      resume(Effect.succeed(new SandboxGuest(guest, this.#recipe.sandbox)))
    }
    this.#forks.set(number, { onForked, onFailed, onEnded })
    this.#built.channel.write(Uint8Array.of(number))
  })

  /** Ends it with all its guests, and waits until they are gone. */
  readonly end: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    this.#keep(true)
    this.#kill()
    yield* Effect.promise(() => this.#gone)
    const { first } = this.#built
    for (let waited = 0; ProcessTree.isAlive(first) && waited < deathMs; waited++) yield* Effect.sleep(1)
  }).pipe(Effect.ignoreCause)

  #kill(): void {
    if (!this.#isDead) ProcessTable.signal(this.#built.first, "SIGKILL")
    for (const socket of this.#built.more) socket.destroy()
  }

  /** Whether the host stays alive for it. */
  #keep(alive: boolean): void {
    const { channel, child, stderr, stdout } = this.#built
    for (const each of [child, channel, stdout, stderr]) {
      if (alive) each.ref()
      else each.unref()
    }
  }

  #hold(number: number): void {
    this.#holds.add(number)
    if (this.#holds.size === 1) this.#keep(true)
  }

  #release(number: number): void {
    if (this.#holds.delete(number) && this.#holds.size === 0) this.#keep(false)
  }

  #forget(number: number): void {
    this.#release(number)
    if (this.#forks.delete(number) && this.isIdle) this.onIdle()
  }

  #onText(text: string): void {
    const lines = (this.#said + text).split("\n")
    this.#said = lines.pop() ?? ""
    for (const line of lines) {
      const [, word, number, rest = ""] = /^(\w+) ?(\d*) ?(.*)$/u.exec(line) ?? []
      const fork = this.#forks.get(Number(number))
      if (word === "ready") this.#onReady?.(undefined)
      else if (word === "forked") fork?.onForked(Number(rest))
      else if (word === "failed") fork?.onFailed(rest)
      else if (word === "ended") fork?.onEnded(asShell(Number(rest)))
    }
  }
}

/** Starts a zygote. It is ended by `end`. */
export const start = (recipe: ZygoteRecipe): Effect.Effect<Zygote, LaunchFailure> =>
  Effect.gen(function* () {
    const zygote = new Zygote(yield* build(recipe.sandbox), recipe)
    yield* Effect.onError(zygote.ready, () => zygote.end)
    return zygote
  })
