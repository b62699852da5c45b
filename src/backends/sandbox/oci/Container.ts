/**
 * A guest in a container: the engine attaches two streams to it, which carry the channel and the outputs.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import type { Socket } from "node:net"
import { StringDecoder } from "node:string_decoder"
import type { LogChannel } from "../../../domain/RunEvent.ts"
import { type Guest, type GuestListener, LaunchFailure } from "../../../services/GuestLauncher.ts"
import { Answers } from "../../process/Answers.ts"
import { Audience } from "../../process/Audience.ts"
import { exitOf, type LastWords, signalName } from "../../process/Ending.ts"
import { FatalText } from "../../process/FatalText.ts"
import * as Premises from "../../process/Premises.ts"
import * as ProcessTable from "../../process/ProcessTable.ts"
import * as Accounts from "./Accounts.ts"
import * as Engine from "./Engine.ts"
import { Messages, tags } from "./Messages.ts"

/** How containers of one runtime are started. */
export interface Recipe {
  readonly socketPath: string
  /** What the engine is asked to create. */
  readonly config: unknown
  /** What the first process inside reads before any frame. */
  readonly instructions: Uint8Array
  readonly memoryBytes: number | undefined
  readonly lastWords: LastWords
  readonly maxConcurrentCalls: number
  /** Names of containers that could not be removed, since the engine did not answer. */
  readonly owed: Set<string>
}

/** How long an engine may take to remove a container, in milliseconds, and how often it is asked. */
const removeMs = 20_000
const removeAgainMs = 20
/** How long the engine may take to tell of an end that the container did not tell itself, in milliseconds. */
const tellMs = 5000
/** How long output may take to arrive once its container is gone, in milliseconds. */
const drainMs = 1000
/** How often an engine on another machine is asked for a container's figures, in milliseconds. */
const askMs = 250
/** Characters of complaints that are kept at most. */
const longestComplaint = 16_384
/** A container that ends by SIGKILL with this share of its memory used at the peak ran out of it. */
const nearlyAll = 0.95

const isGone = ({ status }: Engine.Answer): boolean => status === 204 || status === 404

/** Removes a container, running or not; false where the engine does not answer or cannot. */
export const remove = (socketPath: string, name: string): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    for (let waited = 0; waited < removeMs; waited += removeAgainMs) {
      const answer = yield* Engine.ask(socketPath, "DELETE", `/containers/${name}?force=true&v=true`)
      if (isGone(answer)) return true
      // It is being removed already, or its end has not been told to the engine yet.
      yield* Effect.sleep(removeAgainMs)
    }
    return false
  }).pipe(Effect.orElseSucceed(() => false))

const Ended = Schema.Struct({ StatusCode: Schema.Finite })
const Inspected = Schema.Struct({
  State: Schema.Struct({ Pid: Schema.Finite, OOMKilled: Schema.optionalKey(Schema.Boolean) })
})

interface Attached {
  readonly name: string
  readonly socket: Socket
  readonly head: Buffer
  /** Waits for the engine to say how it ended. */
  readonly ended: Fiber.Fiber<Engine.Answer, Engine.EngineSilent>
}

export class ContainerGuest implements Guest {
  readonly #name: string
  readonly #socket: Socket
  readonly #recipe: Recipe
  readonly #audience = new Audience()
  readonly #answers: Answers
  readonly #fatal: FatalText
  readonly #messages: Messages
  readonly #decoder = new StringDecoder("utf8")
  readonly #gone: Promise<void>
  readonly #ended: Attached["ended"]
  #id = ""
  #pid = 0
  #accounts: Accounts.Accounts = new Accounts.Told()
  #asking: NodeJS.Timeout | undefined
  #said: string | undefined
  #complaints = ""
  #compiled: Uint8Array | undefined
  #dead = false
  #busyMs = 0
  #peakMemoryMb: number | undefined

  constructor({ ended, head, name, socket }: Attached, recipe: Recipe) {
    this.#name = name
    this.#socket = socket
    this.#ended = ended
    this.#recipe = recipe
    this.#answers = new Answers(socket, recipe.maxConcurrentCalls)
    this.#fatal = new FatalText(recipe.lastWords.opening, (bytes) => this.#onStray("stderr", bytes))
    this.#messages = new Messages({
      onMessage: (tag, bytes) => this.#onMessage(tag, bytes),
      onComplaint: (bytes) => {
        if (this.#complaints.length < longestComplaint) this.#complaints += Buffer.from(bytes).toString()
      },
      onBroken: () => socket.destroy()
    })
    if (head.length > 0) this.#messages.push(head)
    socket.on("data", (bytes: Buffer) => this.#messages.push(bytes))
    socket.on("error", () => {})
    socket.on("end", () => socket.destroy())
    this.#gone = new Promise((resolve) => {
      socket.once("close", () => {
        clearInterval(this.#asking)
        this.#dead = true
        this.peakMemoryMb()
        void this.#conclude().then(resolve)
      })
    })
    socket.write(recipe.instructions)
    // A guest that waits for a program keeps no host alive.
    socket.unref()
  }

  /** What the first process inside compiled, and what it complained of. */
  get compiled(): Uint8Array | undefined {
    return this.#compiled
  }
  get complaints(): string {
    return this.#complaints
  }

  /** Learns where the engine keeps it. */
  place(id: string, pid: number): void {
    this.#id = id
    this.#pid = pid
    const local = Accounts.local(pid, id)
    if (local !== undefined) this.#accounts = local
  }

  listen(listener: GuestListener): void {
    this.#audience.listen(listener)
  }

  send(text: string): void {
    if (this.#dead) return
    this.#socket.ref()
    this.#keepAsking()
    if (!this.#answers.write(text)) this.#socket.destroy()
  }

  busyMs(): number {
    const measured = this.#accounts.cpuMs()
    if (measured !== undefined && measured > this.#busyMs) this.#busyMs = measured
    return this.#busyMs
  }

  peakMemoryMb(): number | undefined {
    this.#peakMemoryMb = this.#accounts.peakMemoryMb() ?? this.#peakMemoryMb
    return this.#peakMemoryMb
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** What the container holds now, in bytes. */
  readonly memoryBytes: Effect.Effect<number> = Effect.gen({ self: this }, function* () {
    if (this.#accounts instanceof Accounts.Told) yield* this.#askForFigures
    return this.#accounts.memoryBytes() ?? 0
  })

  /** Removes the container with all that it started, and waits until that is so. */
  readonly end: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    this.peakMemoryMb()
    clearInterval(this.#asking)
    if (!this.#dead) this.#socket.ref()
    const { owed, socketPath } = this.#recipe
    if (!(yield* remove(socketPath, this.#name))) {
      owed.add(this.#name)
      // The engine is gone, but not what it started.
      if (Accounts.isInside(this.#pid, this.#id)) ProcessTable.signal(this.#pid, "SIGKILL")
    }
    const giveUp = () => {
      // A host that is behind has not read it yet.
      if (this.#socket.isPaused()) drained = setTimeout(giveUp, drainMs)
      else this.#socket.destroy()
    }
    let drained = setTimeout(giveUp, drainMs)
    yield* Effect.promise(() => this.#gone)
    clearTimeout(drained)
    yield* Fiber.interrupt(this.#ended)
  }).pipe(Effect.ignoreCause)

  /** Whether the engine says that it ran out of memory; undefined where it says nothing of it any more. */
  get #ranOutOfMemory(): Effect.Effect<boolean | undefined> {
    return Engine.ask(this.#recipe.socketPath, "GET", `/containers/${this.#name}/json`).pipe(
      Effect.map(({ body }) => {
        const inspected = Schema.decodeUnknownOption(Inspected)(body)
        return inspected._tag === "Some" ? inspected.value.State.OOMKilled : undefined
      }),
      Effect.orElseSucceed(() => undefined)
    )
  }

  get #askForFigures(): Effect.Effect<void> {
    const path = `/containers/${this.#name}/stats?stream=false&one-shot=true`
    return Engine.ask(this.#recipe.socketPath, "GET", path).pipe(
      Effect.map(({ body }) => {
        if (this.#accounts instanceof Accounts.Told) this.#accounts.take(body)
      }),
      Effect.ignore
    )
  }

  /** Keeps the figures of an engine elsewhere up to date. */
  #keepAsking(): void {
    if (this.#asking !== undefined || !(this.#accounts instanceof Accounts.Told)) return
    let open = false
    this.#asking = setInterval(() => {
      if (open) return
      open = true
      Effect.runFork(
        Effect.ensuring(
          this.#askForFigures,
          Effect.sync(() => (open = false))
        )
      )
    }, askMs)
  }

  #onStray(channel: LogChannel, bytes: Uint8Array): void {
    this.#audience.tell((listener) => listener.onStray(channel, bytes))
  }

  #onMessage(tag: number, bytes: Uint8Array): void {
    if (tag === tags.channel) {
      const text = this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
      if (text !== "") this.#audience.tell((listener) => listener.onText(text))
    } else if (tag === tags.stdout) this.#onStray("stdout", bytes)
    else if (tag === tags.stderr) this.#fatal.push(bytes)
    else if (tag === tags.compiled) this.#compiled ??= bytes
    else if (tag === tags.exit) {
      this.#said ??= Buffer.from(bytes).toString("latin1")
      // Nothing comes after it, and whoever says so is gone.
      this.#socket.destroy()
    }
  }

  async #conclude(): Promise<void> {
    const [, kind, figure, killed] = /^(code|signal) (\d+) ([01])$/u.exec(this.#said ?? "") ?? []
    let code = kind === "code" ? Number(figure) : undefined
    let signal = kind === "signal" ? (signalName(Number(figure)) ?? "SIGKILL") : undefined
    let outOfMemory = killed === "1"
    if (kind === undefined) {
      // Asked at once: it is about to be removed.
      const inspecting = Effect.runPromise(this.#ranOutOfMemory)
      const status = await statusOf(this.#ended)
      if (status !== undefined && status > 128) signal = signalName(status - 128)
      if (signal === undefined) code = status
      const { memoryBytes } = this.#recipe
      const peakMb = this.#peakMemoryMb ?? 0
      const isFull = memoryBytes !== undefined && peakMb * 1_048_576 > nearlyAll * memoryBytes
      outOfMemory = signal === "SIGKILL" && (isFull || (await inspecting) === true)
    }
    this.busyMs()
    this.#audience.end(exitOf({ code, signal }, this.#fatal, this.#recipe.lastWords, outOfMemory))
  }
}

/** The status that the engine tells, where it does within some seconds. */
const statusOf = (ended: Attached["ended"]): Promise<number | undefined> =>
  Effect.runPromise(
    Fiber.await(ended).pipe(
      Effect.map((exit) => {
        if (exit._tag === "Failure") return undefined
        const told = Schema.decodeUnknownOption(Ended)(exit.value.body)
        return told._tag === "Some" ? told.value.StatusCode : undefined
      }),
      Effect.timeoutOrElse({ duration: tellMs, orElse: () => Effect.as(Effect.void, undefined) })
    )
  )

const Created = Schema.Struct({ Id: Schema.String })

const failure = (why: string, cause?: unknown) =>
  new LaunchFailure({
    message: `a container could not be started: ${why}`,
    ...(cause === undefined ? {} : { cause })
  })

/** Creates a container, attaches to it and starts it. It is ended by `end`. */
export const start = (recipe: Recipe): Effect.Effect<ContainerGuest, LaunchFailure> =>
  Effect.suspend(() => startAs(recipe, Premises.uniqueName()))

const startAs = (recipe: Recipe, name: string): Effect.Effect<ContainerGuest, LaunchFailure> => {
  const { owed, socketPath } = recipe
  return Effect.gen(function* () {
    for (const before of owed) {
      if (yield* remove(socketPath, before)) owed.delete(before)
    }
    const created = yield* Engine.ask(socketPath, "POST", `/containers/create?name=${name}`, recipe.config)
    if (created.status !== 201) return yield* failure(Engine.messageOf(created))
    const { Id: id } = yield* Schema.decodeUnknownEffect(Created)(created.body)
    const streams = "stream=1&stdin=1&stdout=1&stderr=1"
    const { head, socket } = yield* Engine.hijack(socketPath, `/containers/${name}/attach?${streams}`)
    const ended = Effect.runFork(Engine.wait(socketPath, `/containers/${name}/wait?condition=next-exit`))
    const guest = new ContainerGuest({ name, socket, head, ended }, recipe)
    const started = yield* Engine.ask(socketPath, "POST", `/containers/${name}/start`)
    if (started.status !== 204) {
      socket.destroy()
      yield* Fiber.interrupt(ended)
      return yield* failure(Engine.messageOf(started))
    }
    // One that has ended already is gone.
    const { body } = yield* Engine.ask(socketPath, "GET", `/containers/${name}/json`)
    const inspected = Schema.decodeUnknownOption(Inspected)(body)
    guest.place(id, inspected._tag === "Some" ? inspected.value.State.Pid : 0)
    return guest
  }).pipe(
    Effect.mapError((error) => (error instanceof LaunchFailure ? error : failure(error.message, error))),
    Effect.tapError(() =>
      Effect.map(remove(socketPath, name), (gone) => {
        if (!gone) owed.add(name)
      })
    )
  )
}
