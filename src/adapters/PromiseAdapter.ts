/**
 * The seam for hosts that speak Promises: a failed program resolves, misuse rejects.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import {
  type BindingErrorClass,
  type BindingFunction,
  type BindingNamespace,
  CodeRunFailed,
  type CodeRunRequest,
  type FailureKind,
  kindOf
} from "../domain/CodeRun.ts"
import type { Json } from "../domain/Json.ts"
import { messageOf } from "../layers/Outcome.ts"
import { checkRequest } from "../domain/Request.ts"
import { CodeRuntime } from "../services/CodeRuntime.ts"

/** A host function: one JSON argument and a signal that aborts when the call is no longer awaited. */
export type PromiseBindingFunction = (args: Json, context: { readonly signal: AbortSignal }) => Json | Promise<Json>

/** A group of host functions that the program reaches through one global object. */
export interface PromiseBindingNamespace {
  readonly global: string
  readonly functions: { readonly [name: string]: PromiseBindingFunction }
  readonly errorClass?: BindingErrorClass | undefined
}

/** One run. */
export interface PromiseRunRequest {
  /** The body of an async function in the runtime's language. */
  readonly program: string
  readonly bindings?: ReadonlyArray<PromiseBindingNamespace> | undefined
  /** Ends the run at once when it fires. */
  readonly signal?: AbortSignal | undefined
}

/** What came of a run; a key that has no meaning is absent. */
export interface PromiseRunResult {
  /** What the program returned; null is a value. */
  readonly value?: Json
  readonly logs: ReadonlyArray<string>
  /** Present when the run failed. */
  readonly error?: { readonly kind: FailureKind; readonly message: string }
}

/** A code runtime of Promises. */
export interface PromiseCodeRuntime {
  readonly language: string
  readonly isolation: string
  /** Resolves for every end of a program; rejects with `CodeRuntimeMisuse` alone. */
  readonly run: (request: PromiseRunRequest) => Promise<PromiseRunResult>
  /** Ends the runs in flight as `abort`, waits for their guests; later runs reject. Disposing twice is disposing once. */
  readonly dispose: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** A host function rejected: what its rejection says. */
class CallRejected extends Schema.TaggedError<CallRejected>()("CallRejected", { message: Schema.String }) {}

/** What a host function is given beside its argument. The signal is made when it is asked for: it costs as much as a call. */
const makeContext = () => {
  let controller: AbortController | undefined
  let ended = false
  return {
    context: {
      get signal(): AbortSignal {
        controller ??= new AbortController()
        if (ended) controller.abort()
        return controller.signal
      }
    },
    abort: (): void => {
      ended = true
      controller?.abort()
    }
  }
}

const isThenable = (value: unknown): value is PromiseLike<Json> =>
  ((typeof value === "object" && value !== null) || typeof value === "function") &&
  "then" in value &&
  typeof value.then === "function"

const rejected = (error: unknown): CallRejected => new CallRejected({ message: messageOf(error, "the call failed") })

/** A binding of an Effect app from one of Promises; the signal aborts when the call is interrupted. */
const fromPromise =
  (binding: PromiseBindingFunction): BindingFunction =>
  (args) => {
    const { abort, context } = makeContext()
    let answer: Json | PromiseLike<Json>
    try {
      answer = binding(args, context)
      if (!isThenable(answer)) return Effect.succeed(answer)
    } catch (error) {
      return Effect.fail(rejected(error))
    }
    const promised = answer
    return Effect.callback<Json, CallRejected>((resume) => {
      Promise.resolve(promised).then(
        (value) => resume(Effect.succeed(value)),
        (error: unknown) => resume(Effect.fail(rejected(error)))
      )
      return Effect.sync(abort)
    })
  }

/** @internal The namespace of an Effect app from one of Promises. */
export const namespaceOf = (namespace: PromiseBindingNamespace): BindingNamespace => {
  // Without a prototype, so that a binding may be called `__proto__`.
  const functions: { [name: string]: BindingFunction } = Object.create(null)
  for (const [name, binding] of Object.entries(namespace.functions)) functions[name] = fromPromise(binding)
  return { global: namespace.global, functions, errorClass: namespace.errorClass }
}

const requestOf = ({ bindings, program, signal }: PromiseRunRequest): CodeRunRequest => ({
  program,
  bindings: bindings?.map(namespaceOf),
  signal
})

const notALayer = (value: unknown): string => {
  const is = value === null ? "null" : typeof value
  return `PromiseAdapter.make takes a layer, such as WorkerThread.layer(), and was given ${is}${is === "function" ? "; call it" : ""}`
}

/**
 * Builds a layer and gives its runtime to a host of Promises. Rejects with the layer's own error, such as `InvalidLimit`, and
 * with a `TypeError` for what is no layer.
 */
export const make = async <E>(layer: Layer.Layer<CodeRuntime, E>): Promise<PromiseCodeRuntime> => {
  // A caller without types may hand over `WorkerThread.layer` itself.
  const given: unknown = layer
  if (!Layer.isLayer(given)) throw new TypeError(notALayer(given))
  const scope = Scope.makeUnsafe()
  const built = await Effect.runPromiseExit(Layer.buildWithScope(layer, scope))
  if (Exit.isFailure(built)) {
    await Effect.runPromise(Scope.close(scope, built))
    throw Cause.squash(built.cause)
  }
  const runtime = Context.get(built.value, CodeRuntime)
  let disposal: Promise<void> | undefined
  const dispose = () => (disposal ??= Effect.runPromise(Scope.close(scope, Exit.void)))

  const run = async (request: PromiseRunRequest): Promise<PromiseRunResult> => {
    // A request of the wrong shape has no functions to wrap; the rule is the driver's own.
    const misuse = checkRequest(request)
    if (misuse !== undefined) throw misuse
    const exit = await Effect.runPromiseExit(runtime.run(requestOf(request)))
    if (Exit.isSuccess(exit)) {
      const { logs, value } = exit.value
      return value === undefined ? { logs } : { value, logs }
    }
    const failure = Cause.squash(exit.cause)
    if (!(failure instanceof CodeRunFailed)) throw failure
    return { logs: failure.logs, error: { kind: kindOf(failure.reason), message: failure.message } }
  }

  return { language: runtime.language, isolation: runtime.isolation, run, dispose, [Symbol.asyncDispose]: dispose }
}
