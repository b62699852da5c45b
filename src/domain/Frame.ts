/**
 * The frames of the protocol between host and guest, as `docs/protocol.md` tells them.
 *
 * A frame is one line of JSON. What a guest sends is untrusted: it is parsed as JSON and rebuilt field by field, by code
 * that a property test proves equal to the schemas.
 */
import * as Schema from "effect/Schema"
import type { CodeRunRequest, UnsettledCall } from "./CodeRun.ts"
import { inspect, isJson, Json, stringify } from "./Json.ts"
import type { Limits } from "./Limits.ts"
import { parse } from "./LosslessJson.ts"
import { LogChannel } from "./RunEvent.ts"

const Position = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2 ** 31 - 1 }))

/** A place in the program, from 1: where a stack frame stands. */
export const StackFrame = Schema.Struct({
  line: Position,
  column: Schema.optionalKey(Position),
  endColumn: Schema.optionalKey(Position),
  name: Schema.optionalKey(Schema.String)
})
/** A place in the program, from 1: where a stack frame stands. */
export type StackFrame = typeof StackFrame.Type

const UnsentCall = Schema.Struct({
  global: Schema.String,
  name: Schema.String,
  line: Schema.optionalKey(Position),
  column: Schema.optionalKey(Position)
})

/** Calls that a program made and that its guest held back; at most this many are told. */
export const maxUnsent = 1000

/** Stack frames that a guest tells; at most this many. */
export const maxStackFrames = 32

const unsent = Schema.Array(UnsentCall).check(Schema.isMaxLength(maxUnsent))

/** The program is compiled and about to run. */
export const StartedFrame = Schema.Struct({ type: Schema.Literal("started") })

/** One log entry. */
export const LogFrame = Schema.Struct({ type: Schema.Literal("log"), channel: LogChannel, text: Schema.String })

/** One call of a binding; ids begin at 1. */
export const CallFrame = Schema.Struct({
  type: Schema.Literal("call"),
  id: Position,
  global: Schema.String,
  name: Schema.String,
  line: Schema.optionalKey(Position),
  column: Schema.optionalKey(Position),
  args: Json
})

/** The program returned; where `tentative`, a failure that it left behind may still follow. */
export const DoneFrame = Schema.Struct({
  type: Schema.Literal("done"),
  value: Schema.optionalKey(Json),
  tentative: Schema.optionalKey(Schema.Boolean),
  unsent
})

/** After a tentative `done`: nothing followed. */
export const QuietFrame = Schema.Struct({ type: Schema.Literal("quiet") })

/** The program threw, did not parse, or waits for what cannot come. */
export const ThrewFrame = Schema.Struct({
  type: Schema.Literal("threw"),
  message: Schema.String,
  details: Schema.optionalKey(Schema.String),
  frames: Schema.Array(StackFrame).check(Schema.isMaxLength(maxStackFrames)),
  unsent
})

/** The completion value is not lossless JSON. */
export const InvalidFrame = Schema.Struct({ type: Schema.Literal("invalid"), message: Schema.String, unsent })

/** The completion value alone is longer than `maxOutputBytes`. */
export const OverflowFrame = Schema.Struct({ type: Schema.Literal("overflow"), unsent })

/** What a guest says. */
export const GuestFrame = Schema.Union([
  StartedFrame,
  LogFrame,
  CallFrame,
  DoneFrame,
  QuietFrame,
  ThrewFrame,
  InvalidFrame,
  OverflowFrame
])
/** What a guest says. */
export type GuestFrame = typeof GuestFrame.Type
/** One call of a binding. */
export type CallFrame = typeof CallFrame.Type
/** The program threw, did not parse, or waits for what cannot come. */
export type ThrewFrame = typeof ThrewFrame.Type

/** The first frame to a guest: the program and what it may use. */
export const StartFrame = Schema.Struct({
  type: Schema.Literal("start"),
  program: Schema.String,
  columnOffset: Schema.Int,
  namespaces: Schema.Array(
    Schema.Struct({
      global: Schema.String,
      names: Schema.Array(Schema.String),
      errorClass: Schema.optionalKey(Schema.Struct({ name: Schema.String, memberNameProperty: Schema.String }))
    })
  ),
  maxOutputBytes: Schema.Int,
  maxBindingBytes: Schema.Int,
  maxConcurrentCalls: Schema.Int
})
/** The first frame to a guest: the program and what it may use. */
export type StartFrame = typeof StartFrame.Type

/** A call succeeded. */
export const ResultFrame = Schema.Struct({ type: Schema.Literal("result"), id: Position, value: Json })

/** A call failed. */
export const ErrorFrame = Schema.Struct({ type: Schema.Literal("error"), id: Position, message: Schema.String })

/** What a host says. */
export const HostFrame = Schema.Union([StartFrame, ResultFrame, ErrorFrame])
/** What a host says. */
export type HostFrame = typeof HostFrame.Type

/** The line that starts a program, with its newline. */
export const encodeStart = (
  program: { readonly code: string; readonly columnOffset: number },
  request: CodeRunRequest<unknown>,
  limits: Limits
): string => {
  const frame: StartFrame = {
    type: "start",
    program: program.code,
    columnOffset: program.columnOffset,
    namespaces: (request.bindings ?? []).map(({ errorClass, functions, global }) => ({
      global,
      names: Object.keys(functions),
      ...(errorClass === undefined
        ? {}
        : { errorClass: { name: errorClass.name, memberNameProperty: errorClass.memberNameProperty } })
    })),
    maxOutputBytes: limits.maxOutputBytes,
    maxBindingBytes: limits.maxBindingBytes,
    maxConcurrentCalls: limits.maxConcurrentCalls
  }
  return `${JSON.stringify(frame)}\n`
}

/** The line that answers a call with a value, given as its JSON text, with its newline. */
export const encodeResult = (id: number, valueText: string): string =>
  `{"type":"result","id":${id},"value":${valueText}}\n`

/** The line that answers a call with a failure, with its newline. */
export const encodeError = (id: number, message: string): string =>
  `{"type":"error","id":${id},"message":${stringify(message)}}\n`

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isPosition = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 2 ** 31 - 1

const isPositionOrAbsent = (value: unknown): value is number | undefined => value === undefined || isPosition(value)

const hugeExponent = /\d[eE]\+?\d{3}/

const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57

/** Digits that follow each other in a number beyond the range of a double which has no exponent; it takes more. */
const manyDigits = 150

const hasManyDigits = (text: string): boolean => {
  // One of every so many characters is inside of such a number.
  for (let at = manyDigits - 1; at < text.length; at += manyDigits) {
    if (!isDigit(text.charCodeAt(at))) continue
    let first = at
    let end = at + 1
    while (first > 0 && isDigit(text.charCodeAt(first - 1))) first--
    while (isDigit(text.charCodeAt(end))) end++
    if (end - first >= manyDigits) return true
  }
  return false
}

/**
 * Whether a text may hold number tokens that JSON.parse takes but that are not lossless: -0, and those beyond the range
 * of a double. Such a text is looked at value by value. The parts apart are ten times faster than one expression.
 */
const perhapsLossy = (text: string): boolean => text.includes("-0") || hugeExponent.test(text) || hasManyDigits(text)

const isLossless = (value: unknown, text: string): value is Json => !perhapsLossy(text) || isJson(value)

const decodeUnsent = (value: unknown): ReadonlyArray<UnsettledCall & { readonly column?: number }> | undefined => {
  if (!Array.isArray(value) || value.length > maxUnsent) return undefined
  const calls: Array<UnsettledCall & { readonly column?: number }> = []
  for (const each of value) {
    if (!isRecord(each)) return undefined
    const { column, global, line, name } = each
    if (typeof global !== "string" || typeof name !== "string") return undefined
    if (!isPositionOrAbsent(line) || !isPositionOrAbsent(column)) return undefined
    calls.push({ global, name, ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }) })
  }
  return calls
}

const decodeStack = (value: unknown): ReadonlyArray<StackFrame> | undefined => {
  if (!Array.isArray(value) || value.length > maxStackFrames) return undefined
  const frames: Array<StackFrame> = []
  for (const each of value) {
    if (!isRecord(each)) return undefined
    const { column, endColumn, line, name } = each
    if (!isPosition(line) || !isPositionOrAbsent(column) || !isPositionOrAbsent(endColumn)) return undefined
    if (name !== undefined && typeof name !== "string") return undefined
    frames.push({
      line,
      ...(column === undefined ? {} : { column }),
      ...(endColumn === undefined ? {} : { endColumn }),
      ...(name === undefined ? {} : { name })
    })
  }
  return frames
}

const logHeads = [
  { channel: "stdout", head: '{"type":"log","channel":"stdout","text":' },
  { channel: "stderr", head: '{"type":"log","channel":"stderr","text":' }
] as const

/** A log as our guests write it, whose text alone is parsed: half of the work, and most frames are logs. */
const decodeLog = (line: string): typeof LogFrame.Type | undefined => {
  for (const { channel, head } of logHeads) {
    if (!line.startsWith(head) || !line.endsWith("}")) continue
    try {
      const text = parse(line.slice(head.length, -1))
      if (typeof text === "string") return { type: "log", channel, text }
    } catch {
      // Something follows the text.
    }
  }
  return undefined
}

/**
 * Rebuilds one guest frame from its line (without the newline); undefined for junk of every kind. Never throws.
 *
 * A `done` whose value holds a number that is no lossless JSON becomes the `invalid` that an honest guest had sent.
 */
export const decode = (line: string): GuestFrame | undefined => {
  const log = decodeLog(line)
  if (log !== undefined) return log
  let frame: unknown
  try {
    frame = parse(line)
  } catch {
    return undefined
  }
  if (!isRecord(frame)) return undefined
  switch (frame.type) {
    case "log": {
      const { channel, text } = frame
      return (channel === "stdout" || channel === "stderr") && typeof text === "string"
        ? { type: "log", channel, text }
        : undefined
    }
    case "call": {
      const { args, column, global, id, line: at, name } = frame
      if (!isPosition(id) || typeof global !== "string" || typeof name !== "string") return undefined
      if (!isPositionOrAbsent(at) || !isPositionOrAbsent(column)) return undefined
      if (args === undefined || !isLossless(args, line)) return undefined
      const call: { -readonly [key in keyof CallFrame]: CallFrame[key] } = { type: "call", id, global, name, args }
      if (at !== undefined) call.line = at
      if (column !== undefined) call.column = column
      return call
    }
    case "started":
      return { type: "started" }
    case "done": {
      const calls = decodeUnsent(frame.unsent)
      if (calls === undefined) return undefined
      const { tentative, value } = frame
      if (tentative !== undefined && typeof tentative !== "boolean") return undefined
      const rest = { ...(tentative === undefined ? {} : { tentative }), unsent: calls }
      if (value === undefined) return { type: "done", ...rest }
      if (isLossless(value, line)) return { type: "done", value, ...rest }
      const offence = inspect(value, "value", Number.POSITIVE_INFINITY)
      return typeof offence === "string" ? undefined : { type: "invalid", message: offence.message, unsent: calls }
    }
    case "quiet":
      return { type: "quiet" }
    case "threw": {
      const calls = decodeUnsent(frame.unsent)
      const frames = decodeStack(frame.frames)
      const { details, message } = frame
      if (calls === undefined || frames === undefined || typeof message !== "string") return undefined
      if (details !== undefined && typeof details !== "string") return undefined
      return { type: "threw", message, ...(details === undefined ? {} : { details }), frames, unsent: calls }
    }
    case "invalid": {
      const calls = decodeUnsent(frame.unsent)
      return calls !== undefined && typeof frame.message === "string"
        ? { type: "invalid", message: frame.message, unsent: calls }
        : undefined
    }
    case "overflow": {
      const calls = decodeUnsent(frame.unsent)
      return calls === undefined ? undefined : { type: "overflow", unsent: calls }
    }
    default:
      return undefined
  }
}

/** Cuts a guest's text into lines, however it was split; each character is looked at once. */
export class LineSplitter {
  readonly #longest: number
  #parts: Array<string> = []
  #length = 0
  /** Whether an unfinished line is longer than any frame may be; nothing more is taken then. */
  overlong = false

  /** `longest`: characters of the longest line. */
  constructor(longest: number) {
    this.#longest = longest
  }

  /** The lines that this text ends, without their newlines. */
  *push(text: string): Generator<string, void> {
    if (this.overlong) return
    let at = 0
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", at)) {
      const rest = text.slice(at, end)
      at = end + 1
      if (this.#parts.length === 0) {
        yield rest
      } else {
        this.#parts.push(rest)
        const line = this.#parts.join("")
        this.#parts = []
        this.#length = 0
        yield line
      }
    }
    if (at === text.length) return
    this.#parts.push(at === 0 ? text : text.slice(at))
    this.#length += text.length - at
    if (this.#length > this.#longest) {
      this.overlong = true
      this.#parts = []
    }
  }
}
