/**
 * What a run is asked for and what comes of it.
 */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Json } from "./Json.ts"

/** A host function that a program can call: one JSON argument in, one JSON value out. */
export type BindingFunction<R = never> = (args: Json) => Effect.Effect<Json, unknown, R>

/** The error class that a program sees when a binding of a namespace fails. */
export interface BindingErrorClass {
  /** The global of the class and the `name` of its errors. */
  readonly name: string
  /** The property of an error that holds the name of the binding that failed. */
  readonly memberNameProperty: string
}

/** A group of host functions that the program reaches through one global object. */
export interface BindingNamespace<R = never> {
  readonly global: string
  readonly functions: { readonly [name: string]: BindingFunction<R> }
  readonly errorClass?: BindingErrorClass | undefined
}

/** One run: a program, its bindings and what may abort it. */
export interface CodeRunRequest<R = never> {
  /** The body of an async function in the runtime's language; at most `maxProgramBytes` of UTF-8. */
  readonly program: string
  /** Absent: the program can call nothing. */
  readonly bindings?: ReadonlyArray<BindingNamespace<R>> | undefined
  /** Ends the run at once when it fires; its reason becomes the failure's message. */
  readonly signal?: AbortSignal | undefined
}

/** What a run used. */
export const CodeRunUsage = Schema.Struct({
  /** Milliseconds from the program's start to its end; boot and queueing are not counted. */
  wallMs: Schema.Finite,
  /** Milliseconds of busy time, as `computeMs` meters it. */
  cpuMs: Schema.Finite,
  /** Calls that reached the host. */
  calls: Schema.Finite,
  /** UTF-8 bytes of the JSON of the logs plus that of the value or message. */
  outputBytes: Schema.Finite,
  /** Peak memory of the guest in MiB, where the substrate can say. */
  peakMemoryMb: Schema.optionalKey(Schema.Finite)
})
/** What a run used. */
export type CodeRunUsage = typeof CodeRunUsage.Type

/** A call that was still open when the program ended. */
export const UnsettledCall = Schema.Struct({
  global: Schema.String,
  name: Schema.String,
  /** The line of the program that made the call, from 1. */
  line: Schema.optionalKey(Schema.Finite)
})
/** A call that was still open when the program ended. */
export type UnsettledCall = typeof UnsettledCall.Type

/** What a program logged, used and left open, whatever its end. */
const account = {
  logs: Schema.Array(Schema.String),
  usage: CodeRunUsage,
  unsettledCalls: Schema.Array(UnsettledCall)
}

/** A program that ended by itself with a lossless value, or with none. */
export class CodeRunSuccess extends Schema.Class<CodeRunSuccess>("CodeRunSuccess")({
  /** Absent when the program returned nothing; null is a value. */
  value: Schema.optionalKey(Json),
  ...account
}) {}

/** The program threw, did not parse, left a rejection unhandled, or waits for what cannot come. */
export class Exception extends Schema.TaggedError<Exception>()("Exception", {
  message: Schema.String,
  /** The line of the program, from 1. */
  line: Schema.optionalKey(Schema.Finite),
  /** The column of that line, from 1. */
  column: Schema.optionalKey(Schema.Finite)
}) {}

/** A budget expired. */
export class Timeout extends Schema.TaggedError<Timeout>()("Timeout", {
  message: Schema.String,
  budget: Schema.Literals(["computeMs", "maxWallMs"]),
  /** The budget, in milliseconds. */
  limitMs: Schema.Finite
}) {}

/** The caller's signal fired, or the runtime was disposed. */
export class Abort extends Schema.TaggedError<Abort>()("Abort", {
  message: Schema.String,
  /** What the signal was aborted with. */
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/** The guest died without settling. */
export class WorkerExit extends Schema.TaggedError<WorkerExit>()("WorkerExit", {
  message: Schema.String,
  exitCode: Schema.optionalKey(Schema.Finite),
  signal: Schema.optionalKey(Schema.String),
  /** Whether it died for want of memory. */
  outOfMemory: Schema.Boolean
}) {}

/** The completion value is not lossless JSON. */
export class InvalidOutput extends Schema.TaggedError<InvalidOutput>()("InvalidOutput", {
  message: Schema.String
}) {}

/** Logs plus value or message exceed `maxOutputBytes`. */
export class OutputLimit extends Schema.TaggedError<OutputLimit>()("OutputLimit", {
  message: Schema.String,
  maxOutputBytes: Schema.Finite
}) {}

/** Why a run failed. */
export const FailureReason = Schema.Union([Exception, Timeout, Abort, WorkerExit, InvalidOutput, OutputLimit])
/** Why a run failed. */
export type FailureReason = typeof FailureReason.Type

/** A run that failed: the reason, with everything that was logged, used and left open until then. */
export class CodeRunFailed extends Schema.TaggedError<CodeRunFailed>()("CodeRunFailed", {
  reason: FailureReason,
  ...account
}) {
  override get message(): string {
    return this.reason.message
  }
}

/** The kinds of failure of the seam. */
export const FailureKind = Schema.Literals([
  "exception",
  "timeout",
  "abort",
  "worker-exit",
  "invalid-output",
  "output-limit"
])
/** The kinds of failure of the seam. */
export type FailureKind = typeof FailureKind.Type

const kinds: { readonly [tag in FailureReason["_tag"]]: FailureKind } = {
  Exception: "exception",
  Timeout: "timeout",
  Abort: "abort",
  WorkerExit: "worker-exit",
  InvalidOutput: "invalid-output",
  OutputLimit: "output-limit"
}

/** The seam's kind of a reason; one to one. */
export const kindOf = (reason: FailureReason): FailureKind => kinds[reason._tag]

/** The request has the wrong shape. */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", {
  message: Schema.String
}) {}

/** A binding's name or shape breaks a rule. */
export class InvalidBinding extends Schema.TaggedError<InvalidBinding>()("InvalidBinding", {
  message: Schema.String,
  /** The offending name. */
  name: Schema.String
}) {}

/** The runtime was disposed before the run was asked for. */
export class RuntimeDisposed extends Schema.TaggedError<RuntimeDisposed>()("RuntimeDisposed", {
  message: Schema.String
}) {}

/** The caller broke the contract; no guest was started. */
export class CodeRuntimeMisuse extends Schema.TaggedError<CodeRuntimeMisuse>()("CodeRuntimeMisuse", {
  reason: Schema.Union([InvalidRequest, InvalidBinding, RuntimeDisposed])
}) {
  override get message(): string {
    return this.reason.message
  }
}
