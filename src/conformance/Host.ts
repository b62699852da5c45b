/**
 * The host functions of the suite; each records its calls.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { BindingFunction, BindingNamespace } from "../domain/CodeRun.ts"
import type { Json } from "../domain/Json.ts"

/** One call that reached the host. */
export interface HostCall {
  readonly name: string
  readonly args: Json
  interrupted: boolean
  ended: boolean
}

/** A failure of a host function that carries more than its message. */
class Refusal extends Error {
  readonly _tag = "Refusal"
  readonly code = "E_HOST_SECRET"
  readonly secret = "host-secret"
}

/** A list nested so deep. */
export const nest = (depth: number): Json => {
  let value: Json = []
  for (let i = 1; i < depth; i++) value = [value]
  return value
}

/** How deep a list is nested. */
export const depthOf = (value: unknown): number => {
  let depth = 0
  for (let inner = value; Array.isArray(inner); inner = inner[0]) depth++
  return depth
}

const field = (args: Json, key: string): unknown =>
  typeof args === "object" && args !== null && !Array.isArray(args) ? Reflect.get(args, key) : undefined
const numberOf = (args: Json, key: string): number => Number(field(args, key))
const textOf = (args: Json, key: string, otherwise: string): string => {
  const value = field(args, key)
  return typeof value === "string" ? value : otherwise
}

class Point {
  readonly x = 1
}

const cycle = (): unknown => {
  const node: { self?: unknown } = {}
  node.self = node
  return node
}

/** Results that are no lossless JSON, each by the name of what is wrong with it. */
export const lossyResults: { readonly [what: string]: () => unknown } = {
  undefined: () => undefined,
  inside: () => ({ rows: [1, { at: undefined }] }),
  nan: () => [Number.NaN],
  infinity: () => ({ n: Number.NEGATIVE_INFINITY }),
  minusZero: () => ({ z: -0 }),
  bigint: () => [1n],
  date: () => ({ at: new Date(0) }),
  map: () => new Map([[1, 2]]),
  set: () => [new Set([1])],
  bytes: () => ({ b: new Uint8Array(2) }),
  function: () => ({ f: () => 1 }),
  symbol: () => [Symbol("s")],
  symbolKey: () => ({ [Symbol("k")]: 1 }),
  // oxlint-disable-next-line no-sparse-arrays
  hole: () => [1, , 3],
  extra: () => Object.assign([1], { more: 2 }),
  hidden: () => Object.defineProperty({}, "h", { value: 1, enumerable: false }),
  instance: () => new Point(),
  error: () => ({ e: new Error("inside") }),
  promise: () => [Promise.resolve(1)],
  cycle,
  getter: () => ({
    get g() {
      return 1
    }
  })
}

/** Fresh host functions with a record of their calls. */
export class Host {
  readonly calls: Array<HostCall> = []
  running = 0
  mostRunning = 0
  /** Names of the finalizers of host functions that have run. */
  readonly finalized: Array<string> = []
  #waiters: Array<{ readonly name: string; readonly count: number; readonly met: Deferred.Deferred<void> }> = []
  #gate = Deferred.makeUnsafe<void>()

  /** How often a host function was called, or all of them. */
  called(name?: string): number {
    return this.calls.filter((call) => name === undefined || call.name === name).length
  }

  /** Waits until a host function was called so often. */
  arrived(name: string, count = 1): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.called(name) >= count) return Effect.void
      const met = Deferred.makeUnsafe<void>()
      this.#waiters.push({ name, count, met })
      return Deferred.await(met)
    })
  }

  /** Lets every call of `gate` end. */
  open(): void {
    Deferred.doneUnsafe(this.#gate, Exit.void)
  }

  /** A host function whose calls are recorded. */
  record(name: string, body: (args: Json) => Effect.Effect<Json, unknown>): BindingFunction {
    return (args) =>
      Effect.suspend(() => {
        const call: HostCall = { name, args, interrupted: false, ended: false }
        this.calls.push(call)
        this.mostRunning = Math.max(this.mostRunning, ++this.running)
        const met = this.#waiters.filter((waiter) => this.called(waiter.name) >= waiter.count)
        this.#waiters = this.#waiters.filter((waiter) => !met.includes(waiter))
        // Last: whoever waited may go on at once, and wait for more.
        for (const waiter of met) Deferred.doneUnsafe(waiter.met, Exit.void)
        return body(args).pipe(
          Effect.onInterrupt(() => Effect.sync(() => void (call.interrupted = true))),
          Effect.ensuring(
            Effect.sync(() => {
              call.ended = true
              this.running--
            })
          )
        )
      })
  }

  readonly functions: { readonly [name: string]: BindingFunction } = {
    echo: this.record("echo", (args) => Effect.succeed(args)),
    add: this.record("add", (args) => Effect.sync(() => numberOf(args, "a") + numberOf(args, "b"))),
    count: this.record("count", () => Effect.sync(() => this.called("count"))),
    text: this.record("text", (args) => Effect.sync(() => textOf(args, "of", "x").repeat(numberOf(args, "n")))),
    deep: this.record("deep", (args) => Effect.sync(() => nest(numberOf(args, "depth")))),
    depth: this.record("depth", (args) => Effect.sync(() => depthOf(args))),
    fail: this.record("fail", (args) => Effect.fail(new Refusal(textOf(args, "message", "refused")))),
    failWith: this.record("failWith", (args) =>
      Effect.suspend(() => {
        const kinds: { readonly [kind: string]: unknown } = {
          text: "only words",
          number: 42,
          nothing: null,
          object: { message: "of an object" },
          typed: new TypeError("of a type"),
          symbol: Symbol("s"),
          trap: {
            get message(): string {
              throw new Error("trapped")
            }
          }
        }
        return Effect.fail(kinds[textOf(args, "kind", "")])
      })
    ),
    die: this.record("die", () => Effect.die(new Error("host-secret defect"))),
    interrupt: this.record("interrupt", () => Effect.interrupt),
    slow: this.record("slow", (args) => Effect.as(Effect.sleep(numberOf(args, "ms")), textOf(args, "value", "slept"))),
    slowly: this.record("slowly", (args) => Effect.as(Effect.sleep(10), args)),
    never: this.record("never", () => Effect.never),
    gate: this.record("gate", (args) => Effect.as(Deferred.await(this.#gate), args)),
    tidy: this.record("tidy", () =>
      Effect.never.pipe(
        Effect.onInterrupt(() =>
          Effect.andThen(
            Effect.sleep(60),
            Effect.sync(() => void this.finalized.push("tidy"))
          )
        )
      )
    ),
    // What a host without types may give back.
    lossy: this.record("lossy", (args) => Effect.sync(() => untyped(lossyResults[textOf(args, "kind", "")]?.())))
  }

  /** The namespace `tools` with every host function, and the error class `ToolError` with its member `tool`. */
  tools(): BindingNamespace {
    return {
      global: "tools",
      functions: this.functions,
      errorClass: { name: "ToolError", memberNameProperty: "tool" }
    }
  }
}

/** A value of a host that checks nothing. */
export const untyped = (value: unknown): Json => {
  const loose: { readonly value: unknown } = { value }
  return isWhatever(loose.value) ? loose.value : null
}
const isWhatever = (_value: unknown): _value is Json => true
