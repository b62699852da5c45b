/**
 * One run, from its request to its ending: what arrives from the guest, the calls it makes, and the one settlement.
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { BindingFunction, CodeRunRequest, CodeRunUsage, UnsettledCall } from "../domain/CodeRun.ts"
import { type CallFrame, decode, encodeError, encodeResult, type GuestFrame, LineSplitter } from "../domain/Frame.ts"
import { inspect, type Json, jsonBytes, stringify, utf8Bytes } from "../domain/Json.ts"
import { cutText, Ledger } from "../domain/Ledger.ts"
import type { Limits } from "../domain/Limits.ts"
import type { LogChannel, RunEvent } from "../domain/RunEvent.ts"
import type { Guest, GuestExit, GuestListener } from "../services/GuestLauncher.ts"
import type { CompiledProgram } from "../services/ProgramCompiler.ts"
import { isDense } from "./DenseArrays.ts"
import { Inbox } from "./Inbox.ts"
import { type Ending, messageOf } from "./Outcome.ts"
import type { CallSpan } from "./Telemetry.ts"

/** Who is told of a run's events. */
export interface Observer {
  readonly tell: (event: RunEvent) => void
  /** Tells of a call and completes once that was read; the call's function runs afterwards. */
  readonly tellCall: (event: RunEvent) => Effect.Effect<void>
}

/** Starts an effect in a fiber of its own, which ends with the run, and tells its exit, at once where it has one at once. */
type Fork<R> = <A, E>(effect: Effect.Effect<A, E, R>, onExit: (exit: Exit.Exit<A, E>) => void) => void

interface OpenCall {
  readonly frame: CallFrame
  /** When it came; 0 where nobody is told how long it took. */
  readonly arrivedAt: number
  /** Characters of the frame's line, which bound the bytes of its argument. */
  readonly length: number
}

/** Junk frames that end a run: an honest guest sends none, and each costs the host a little. */
const mostJunk = 1000

/** Calls beyond `maxConcurrentCalls` that wait in the host; an honest guest keeps its own back. */
const mostWaiting = 1000

/** Characters of answers that travel together at most. */
const longestOutbox = 4096

/** A value's JSON has at most eight bytes for each character of any text that stands for it: `1e20` is 21 digits. */
const canonicalGrowth = 8

/** Endings that the guest told: nothing of the program comes after them. */
const endedByItself: ReadonlySet<Ending["_tag"]> = new Set(["Done", "Threw", "Invalid", "Overflow"])

/** How long a guest whose program has returned is given to tell a failure that stood then, in milliseconds; it takes far less. */
const confirmMs = 250

/** Characters of the longest line that is put together; V8's strings end a little above. */
const longestLine = 500_000_000

const milliseconds = (): number => performance.now()

export class Run<R> implements GuestListener {
  readonly ended = Deferred.makeUnsafe<Ending>()
  readonly started = Deferred.makeUnsafe<void>()
  readonly ledger: Ledger
  readonly inbox = new Inbox(this)
  readonly #request: CodeRunRequest<R>
  readonly #limits: Limits
  readonly #observer: Observer | undefined
  readonly #span: CallSpan | undefined
  readonly #fork: Fork<R>
  readonly #lines: LineSplitter
  /** Made for the bytes that come below the capture: few runs have any. */
  readonly #decoders: { [channel in LogChannel]?: TextDecoder } = {}
  readonly #open = new Map<number, OpenCall>()
  #waiting: Array<OpenCall> = []
  #taking = false
  #guest: Guest | undefined
  #compiled: CompiledProgram | undefined
  #ending: Ending | undefined
  #tentative: Ending | undefined
  #confirmation: NodeJS.Timeout | undefined
  #unsent: ReadonlyArray<UnsettledCall> = []
  #lastId = 0
  #calls = 0
  #succeeded = 0
  #answered = 0
  #active = 0
  #junk = 0
  #outbox = ""
  #startedAt: number | undefined
  #endedAt = 0
  #busyAtStart = 0
  #busyAtEnd = 0

  constructor(options: {
    readonly request: CodeRunRequest<R>
    readonly limits: Limits
    readonly observer: Observer | undefined
    readonly span: CallSpan | undefined
    readonly fork: Fork<R>
  }) {
    this.#request = options.request
    this.#limits = options.limits
    this.#observer = options.observer
    this.#span = options.span
    this.#fork = options.fork
    this.ledger = new Ledger(options.limits.maxOutputBytes)
    this.#lines = new LineSplitter(
      Math.min(
        longestLine,
        canonicalGrowth * Math.max(options.limits.maxOutputBytes, options.limits.maxBindingBytes) + 65_536
      )
    )
  }

  get settled(): boolean {
    return this.#ending !== undefined
  }

  get compiled(): CompiledProgram | undefined {
    return this.#compiled
  }

  /** Connects the run to its guest and starts the program. */
  begin(guest: Guest, compiled: CompiledProgram, start: string): void {
    this.#guest = guest
    this.#compiled = compiled
    this.inbox.open(guest)
    guest.send(start)
  }

  /** Decides the run's outcome; whatever comes later changes nothing. */
  settle(ending: Ending): void {
    if (this.#ending !== undefined) return
    const stood = this.#tentative
    if (stood === undefined) this.#stopClocks()
    else clearTimeout(this.#confirmation)
    // Only what the program itself left behind comes before a value that it has returned.
    this.#ending = stood === undefined || ending._tag === "Threw" ? ending : stood
    this.#waiting = []
    // All that is left to do is done while the guest dies.
    this.#guest?.kill?.()
    Deferred.doneUnsafe(this.ended, Exit.succeed(this.#ending))
  }

  #stopClocks(): void {
    this.#endedAt = milliseconds()
    this.#busyAtEnd = this.#guest?.busyMs() ?? 0
  }

  /** The program has returned; its guest says soon whether a failure stood then. */
  #stand(ending: Ending): void {
    this.#stopClocks()
    this.#tentative = ending
    const confirm = () => {
      // What the guest said may be there already, and wait for its turn.
      if (this.inbox.isEmpty) this.settle(ending)
      else this.#confirmation = setTimeout(confirm, confirmMs)
    }
    this.#confirmation = setTimeout(confirm, confirmMs)
  }

  /** Busy time of the program so far, in milliseconds. */
  busyMs(): number {
    return this.#guest === undefined ? 0 : this.#guest.busyMs() - this.#busyAtStart
  }

  usage(): Omit<CodeRunUsage, "outputBytes"> {
    const peakMemoryMb = this.#guest?.peakMemoryMb()
    return {
      wallMs: this.#startedAt === undefined ? 0 : Math.max(0, this.#endedAt - this.#startedAt),
      cpuMs: this.#startedAt === undefined ? 0 : Math.max(0, this.#busyAtEnd - this.#busyAtStart),
      calls: this.#calls,
      ...(peakMemoryMb === undefined ? {} : { peakMemoryMb })
    }
  }

  /** Calls that were answered, for the metrics. */
  get answers(): { readonly succeeded: number; readonly failed: number } {
    return { succeeded: this.#succeeded, failed: this.#answered - this.#succeeded }
  }

  unsettledCalls(): ReadonlyArray<UnsettledCall> {
    const calls: Array<UnsettledCall> = []
    for (const { frame } of this.#open.values()) calls.push(this.#located(frame))
    for (const call of this.#unsent) calls.push(this.#located(call))
    return calls
  }

  #located(call: UnsettledCall & { readonly column?: number }): UnsettledCall {
    const { column, global, line, name } = call
    if (line === undefined) return { global, name }
    const place = this.#compiled === undefined ? undefined : this.#compiled.locate(line, column ?? 1)
    return place === undefined ? { global, name } : { global, name, line: place.line }
  }

  onText(text: string): void {
    for (const line of this.#lines.push(text)) this.#onLine(line)
    if (this.#lines.overlong) this.settle({ _tag: "Junk" })
  }

  onStray(channel: LogChannel, bytes: Uint8Array): void {
    const decoder = (this.#decoders[channel] ??= new TextDecoder())
    const text = decoder.decode(bytes, { stream: true })
    if (text !== "") this.#log(channel, text)
  }

  onExit(exit: GuestExit): void {
    for (const channel of ["stdout", "stderr"] as const) {
      const rest = this.#decoders[channel]?.decode()
      if (rest !== undefined && rest !== "") this.#log(channel, rest)
    }
    this.settle({ _tag: "Exit", exit })
  }

  #onLine(line: string): void {
    const settled = this.#ending
    // What a program logs after it ended by itself is nobody's; what it logged before it was ended is kept.
    if (settled !== undefined && endedByItself.has(settled._tag)) return
    // A guest that was interrupted in a write begins a new line after it.
    if (line === "") return
    const frame = decode(line)
    if (frame === undefined) {
      if (++this.#junk > mostJunk) this.settle({ _tag: "Junk" })
      return
    }
    if (this.#tentative !== undefined) {
      if (frame.type === "quiet") this.settle(this.#tentative)
      else if (frame.type === "threw") this.settle({ _tag: "Threw", frame })
      return
    }
    if (frame.type === "log") this.#log(frame.channel, frame.text)
    else if (settled === undefined) this.#onFrame(frame, line.length)
  }

  #log(channel: LogChannel, text: string): void {
    if (this.ledger.log(text)) {
      if (this.#ending === undefined) this.#observer?.tell({ _tag: "Log", channel, text })
      return
    }
    this.settle({ _tag: "LogsFull" })
  }

  #onFrame(frame: Exclude<GuestFrame, { readonly type: "log" }>, length: number): void {
    switch (frame.type) {
      case "call":
        return this.#onCall({ frame, arrivedAt: this.#observer === undefined ? 0 : milliseconds(), length })
      case "started":
        if (this.#startedAt !== undefined) return
        this.#startedAt = milliseconds()
        this.#busyAtStart = this.#guest?.busyMs() ?? 0
        this.#observer?.tell({ _tag: "Started" })
        Deferred.doneUnsafe(this.started, Exit.void)
        return
      case "done":
        this.#unsent = frame.unsent
        return this.#onDone("value" in frame ? { _tag: "Done", value: frame.value } : { _tag: "Done" }, frame.tentative)
      case "quiet":
        return
      case "threw":
        this.#unsent = frame.unsent
        return this.settle({ _tag: "Threw", frame })
      case "invalid":
        this.#unsent = frame.unsent
        return this.settle({ _tag: "Invalid", message: frame.message })
      case "overflow":
        this.#unsent = frame.unsent
        return this.settle({ _tag: "Overflow" })
    }
  }

  #onDone(ending: Ending, tentative: boolean | undefined): void {
    if (tentative === true) this.#stand(ending)
    else this.settle(ending)
  }

  #onCall(call: OpenCall): void {
    const { id } = call.frame
    // Ids rise, so an id that was seen is never answered twice.
    if (id <= this.#lastId) return
    this.#lastId = id
    this.#calls++
    this.#open.set(id, call)
    if (this.#active < this.#limits.maxConcurrentCalls) return this.#dispatch(call)
    if (this.#waiting.length >= mostWaiting) return this.settle({ _tag: "Junk" })
    this.#waiting.push(call)
  }

  #dispatch({ frame, length }: OpenCall): void {
    const found = this.#find(frame.global, frame.name)
    if (found === undefined) {
      return this.#answer(
        frame.id,
        false,
        encodeError(frame.id, `${frame.global} has no binding ${JSON.stringify(frame.name)}`)
      )
    }
    const cap = this.#limits.maxBindingBytes
    // A line that is short enough needs no exact count.
    if (length * canonicalGrowth > cap && jsonBytes(frame.args) > cap) {
      return this.#answer(
        frame.id,
        false,
        encodeError(frame.id, `the argument of ${frame.global}.${frame.name} exceeds maxBindingBytes (${cap} bytes)`)
      )
    }
    this.#active++
    const call = this.#perform(frame, found)
    // What made the call may have ended the run; an effect that has not begun then never does.
    if (this.#ending !== undefined) return
    // What has its exit already needs no fiber: the call of an ordinary function costs little more than itself.
    if (hasExit(call)) this.#finish(frame, call)
    else this.#fork(call, (exit) => this.#finish(frame, exit))
  }

  #find(global: string, name: string): BindingFunction<R> | undefined {
    for (const namespace of this.#request.bindings ?? []) {
      if (namespace.global === global) {
        return Object.hasOwn(namespace.functions, name) ? namespace.functions[name] : undefined
      }
    }
    return undefined
  }

  /** The effect of one call: it tells of it where somebody listens, and runs the host function. */
  #perform(frame: CallFrame, binding: BindingFunction<R>): Effect.Effect<Json, unknown, R> {
    const { args, global, id, name } = frame
    if (this.#observer === undefined && this.#span === undefined) return invoke(frame, binding)
    const call = Effect.suspend(() => invoke(frame, binding))
    const told =
      this.#observer === undefined
        ? call
        : Effect.andThen(this.#observer.tellCall({ _tag: "CallStarted", id, global, name, args }), call)
    return this.#span === undefined ? told : Effect.flatten(this.#span(Effect.exit(told), global, name))
  }

  /** Answers a call with whatever came of it. Never throws. */
  #finish(frame: CallFrame, exit: Exit.Exit<Json, unknown>): void {
    this.#active--
    if (Exit.isSuccess(exit)) {
      try {
        this.#reply(frame, exit.value)
      } catch (error) {
        // The trap of a proxy threw, or the text is longer than any string may be.
        this.#refuse(frame, Cause.die(error))
      }
    } else if (!Cause.hasInterruptsOnly(exit.cause) || this.#ending === undefined) {
      this.#refuse(frame, exit.cause)
    }
    this.#next()
  }

  #refuse({ global, id, name }: CallFrame, cause: Cause.Cause<unknown>): void {
    const failure = failureOf(cause)
    this.#answer(id, false, encodeError(id, cutText(failure.message, this.#limits.maxBindingBytes)))
    if (failure.defect) this.#fork(Effect.logError(`The binding ${global}.${name} died`, cause), () => {})
  }

  /** Takes up what waits, as far as the cap lets it. A call that ends at once is followed here, not from within itself. */
  #next(): void {
    if (this.#taking) return
    this.#taking = true
    while (this.#ending === undefined && this.#active < this.#limits.maxConcurrentCalls) {
      const next = this.#waiting.shift()
      if (next === undefined) break
      this.#dispatch(next)
    }
    this.#taking = false
  }

  #reply(frame: CallFrame, value: unknown): void {
    const { global, id, name } = frame
    const cap = this.#limits.maxBindingBytes
    const refuse = (message: string) => this.#answer(id, false, encodeError(id, message))
    if (this.#ending !== undefined) return
    const oversize = `the result of ${global}.${name} exceeds maxBindingBytes (${cap} bytes)`
    const found = inspect(value, "result", cap, isDense)
    if (found === "oversize") return refuse(oversize)
    if (found !== "lossless") {
      return refuse(`the result of ${global}.${name} is not lossless JSON: ${found.message}`)
    }
    if (!isInspected(value)) return
    const text = stringify(value)
    if (utf8Bytes(text) > cap) return refuse(oversize)
    this.#answer(id, true, encodeResult(id, text))
  }

  /** Answers a call; answers of one turn of the event loop travel together. */
  #answer(id: number, ok: boolean, line: string): void {
    const call = this.#open.get(id)
    if (call === undefined || this.#ending !== undefined) return
    this.#open.delete(id)
    const ms = milliseconds() - call.arrivedAt
    this.#answered++
    if (ok) this.#succeeded++
    this.#observer?.tell({ _tag: "CallSettled", id, ok, ms })
    if (this.#outbox === "") queueMicrotask(() => this.#flush())
    this.#outbox += line
    // The guest takes the first answers while the host works on the next.
    if (this.#outbox.length > longestOutbox) this.#flush()
  }

  #flush(): void {
    if (this.#outbox === "") return
    const text = this.#outbox
    this.#outbox = ""
    this.#guest?.send(text)
  }
}

/** `inspect` has proven it; this only tells the compiler. */
const isInspected = (value: unknown): value is Json => value !== undefined

const hasExit = <R>(call: Effect.Effect<Json, unknown, R>): call is Exit.Exit<Json, unknown> => Exit.isExit(call)

/** What a host function gives, in whatever way. Never throws. */
const invoke = <R>({ args, global, name }: CallFrame, binding: BindingFunction<R>): Effect.Effect<Json, unknown, R> => {
  try {
    // A caller without types may bind a plain function; running what is no Effect would end a fiber unheard.
    const made: Effect.Effect<Json, unknown, R> = binding(args)
    return Effect.isEffect(made) ? made : Effect.die(notAnEffect(global, name))
  } catch (error) {
    return Effect.die(error)
  }
}

const notAnEffect = (global: string, name: string) =>
  new TypeError(`the binding ${global}.${name} returned no Effect; functions of Promises are for PromiseAdapter`)

/** What a program is told of a failed call, and whether the host should be told more. */
const failureOf = (cause: Cause.Cause<unknown>): { readonly message: string; readonly defect: boolean } => {
  for (const reason of cause.reasons) {
    if (reason._tag === "Fail") return { message: messageOf(reason.error, "the call failed"), defect: false }
  }
  return Cause.hasInterruptsOnly(cause)
    ? { message: "the call was interrupted", defect: false }
    : { message: "internal error", defect: true }
}
