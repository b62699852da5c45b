/**
 * From the way a run ended to what its caller is told.
 */
import * as CodeRun from "../domain/CodeRun.ts"
import { render } from "../domain/Diagnostic.ts"
import type { StackFrame, ThrewFrame } from "../domain/Frame.ts"
import { type Json, jsonBytes } from "../domain/Json.ts"
import { type Ledger, textBytes } from "../domain/Ledger.ts"
import type { Limits } from "../domain/Limits.ts"
import type { GuestExit, LaunchFailure } from "../services/GuestLauncher.ts"
import type { CompiledProgram, ProgramRejected } from "../services/ProgramCompiler.ts"

/** The way a run ended: the one thing that settles it. */
export type Ending =
  | { readonly _tag: "Done"; readonly value?: Json }
  | { readonly _tag: "Threw"; readonly frame: ThrewFrame }
  | { readonly _tag: "Rejected"; readonly rejection: ProgramRejected }
  | { readonly _tag: "TooLong"; readonly bytes: number }
  | { readonly _tag: "Invalid"; readonly message: string }
  | { readonly _tag: "Overflow" }
  | { readonly _tag: "LogsFull" }
  | { readonly _tag: "Timeout"; readonly budget: "computeMs" | "maxWallMs" }
  | { readonly _tag: "Abort"; readonly message: string; readonly cause?: unknown }
  | { readonly _tag: "Exit"; readonly exit: GuestExit }
  | { readonly _tag: "Unlaunched"; readonly failure: LaunchFailure }
  | { readonly _tag: "Junk" }

/** What a run's outcome is told from. */
export interface Facts {
  readonly program: string
  /** What the program is called in places, such as `program.ts`. */
  readonly file: string
  readonly compiled: CompiledProgram | undefined
  readonly limits: Limits
  readonly ledger: Ledger
  /** What {@link valueBytesOf} says of the ending. */
  readonly valueBytes: number
  readonly usage: Omit<CodeRun.CodeRunUsage, "outputBytes">
  readonly unsettledCalls: ReadonlyArray<CodeRun.UnsettledCall>
}

/**
 * Text of whatever was thrown, without running more of its code than reading a message; never throws. An error that has a
 * tag and no message is called by its tag.
 */
export const messageOf = (thrown: unknown, fallback: string): string => {
  try {
    if (typeof thrown === "string") return thrown
    if (typeof thrown !== "object" || thrown === null) return thrown === undefined ? fallback : String(thrown)
    const message = "message" in thrown ? thrown.message : undefined
    if (typeof message === "string" && message !== "") return message
    if ("_tag" in thrown && typeof thrown._tag === "string") return thrown._tag
    return typeof message === "string" ? message : fallback
  } catch {
    return fallback
  }
}

/** UTF-8 bytes of the JSON of the value that a run ended with; infinite where that is longer than any text may be. */
export const valueBytesOf = (ending: Ending): number => {
  if (ending._tag !== "Done" || ending.value === undefined) return 0
  try {
    return jsonBytes(ending.value)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Places of the compiled text in places of the program; those of the compiler's own text are left out. */
const located = (
  frames: ReadonlyArray<StackFrame>,
  compiled: CompiledProgram | undefined
): ReadonlyArray<StackFrame> => {
  if (compiled === undefined) return frames
  const places: Array<StackFrame> = []
  for (const frame of frames) {
    const place = compiled.locate(frame.line, frame.column ?? 1)
    if (place === undefined) continue
    places.push({
      ...frame,
      line: place.line,
      ...(frame.column === undefined ? {} : { column: place.column })
    })
  }
  return places
}

const fence = /^ {0,3}(?:`{3,}|~{3,})/mu

/** Models answer with prose around a fence; only the whole text inside one is a program. */
const withHint = (message: string, details: string | undefined, program: string): string | undefined => {
  if (!message.startsWith("SyntaxError") || !fence.test(program)) return details
  const hint = "A Markdown fence is taken off only when the whole text is inside one; leave out what stands around it."
  return details === undefined ? hint : `${details}\n${hint}`
}

/** The texts of a program's own failure, the fullest first. */
const threw = (facts: Facts, frame: Pick<ThrewFrame, "message" | "details" | "frames">) => {
  const frames = located(frame.frames, facts.compiled)
  const details = withHint(frame.message, frame.details, facts.program)
  const texts = render({ message: frame.message, details, frames }, facts.program, facts.file)
  const first = frames[0]
  const place =
    first === undefined ? {} : { line: first.line, ...(first.column === undefined ? {} : { column: first.column }) }
  return { texts, place }
}

const exitMessage = (exit: GuestExit, limits: Limits): string => {
  if (exit.outOfMemory) {
    return `the program ran out of memory: its guest may use ${limits.maxMemoryMb} MiB (maxMemoryMb); keep less at once`
  }
  if (exit.signal !== undefined) return `the program's guest was ended by ${exit.signal} before the program returned`
  return `the program's guest exited with code ${exit.code ?? "unknown"} before the program returned; return a value instead of exiting`
}

/** Every part was built by the driver; a check would walk the value again. */
const builtHere = { disableChecks: true }

/** As its constructor makes it, which would also walk each log: the time of a short run where that code is cold. */
const success = (fields: Pick<CodeRun.CodeRunSuccess, keyof CodeRun.CodeRunSuccess>): CodeRun.CodeRunSuccess =>
  Object.assign(Object.create(CodeRun.CodeRunSuccess.prototype), fields)

/** Builds what the caller is told; the whole of it fits under `maxOutputBytes`. */
export const conclude = (ending: Ending, facts: Facts): CodeRun.CodeRunSuccess | CodeRun.CodeRunFailed => {
  const { ledger, limits, unsettledCalls, usage, valueBytes } = facts

  const failed = (message: string, reason: (message: string) => CodeRun.FailureReason): CodeRun.CodeRunFailed => {
    const account = ledger.settle(message)
    const failure = new CodeRun.CodeRunFailed(
      {
        reason: reason(account.message),
        logs: [],
        usage: { ...usage, outputBytes: account.outputBytes },
        unsettledCalls
      },
      builtHere
    )
    // Its constructor looks at each log, also without checks: the host's longest turn after a flood.
    return Object.assign(failure, { logs: account.logs })
  }

  const overflow = (what: string): CodeRun.CodeRunFailed =>
    failed(
      `the output exceeds maxOutputBytes (${limits.maxOutputBytes} bytes): ${what}; log or return less`,
      (message) => new CodeRun.OutputLimit({ message, maxOutputBytes: limits.maxOutputBytes })
    )

  const logBytes = `the logs have ${ledger.bytes} bytes`
  const logsAlone = `the logs alone have more`
  const valueAlone = "the value alone has more"

  /** A failure of the program's own doing: its message must fit beside all the logs. */
  const own = (texts: ReadonlyArray<string>, reason: (message: string) => CodeRun.FailureReason) => {
    if (ledger.full) return overflow(logsAlone)
    const fitting = texts.find((text) => ledger.fitsText(text))
    if (fitting !== undefined) return failed(fitting, reason)
    return overflow(`${logBytes}, the message of the failure ${textBytes(texts[texts.length - 1] ?? "")}`)
  }

  switch (ending._tag) {
    case "Done": {
      if (ledger.full) return overflow(logsAlone)
      if (valueBytes === Number.POSITIVE_INFINITY) return overflow(valueAlone)
      if (!ledger.fits(valueBytes)) return overflow(`${logBytes}, the value ${valueBytes}`)
      return success({
        ...(ending.value === undefined ? {} : { value: ending.value }),
        logs: ledger.logs,
        usage: { ...usage, outputBytes: ledger.bytes + valueBytes },
        unsettledCalls
      })
    }
    case "Threw": {
      const { place, texts } = threw(facts, ending.frame)
      return own(texts, (message) => new CodeRun.Exception({ message, ...place }))
    }
    case "Rejected": {
      const { column, line, message } = ending.rejection
      // Its places are the program's own already.
      const frame: StackFrame | undefined =
        line === undefined ? undefined : { line, ...(column === undefined ? {} : { column }) }
      const details = withHint(message, undefined, facts.program)
      const frames = frame === undefined ? [] : [frame]
      const texts = render({ message, details, frames }, facts.program, facts.file)
      return own(texts, (text) => new CodeRun.Exception({ message: text, ...frame }))
    }
    case "TooLong":
      return own(
        [
          `the program has ${ending.bytes} bytes, more than maxProgramBytes (${limits.maxProgramBytes}); pass data through a binding instead of the program's text`
        ],
        (message) => new CodeRun.Exception({ message })
      )
    case "Invalid":
      return own([ending.message], (message) => new CodeRun.InvalidOutput({ message }))
    case "Overflow":
      return overflow(valueAlone)
    case "LogsFull":
      return overflow(logsAlone)
    case "Timeout": {
      const { budget } = ending
      const limitMs = limits[budget]
      return failed(
        budget === "computeMs"
          ? `computeMs expired: the program was busy for more than ${limitMs} ms; do less work in one run`
          : `maxWallMs expired: the program did not end within ${limitMs} ms of wall time`,
        (message) => new CodeRun.Timeout({ message, budget, limitMs })
      )
    }
    case "Abort":
      return failed(
        ending.message,
        (message) => new CodeRun.Abort({ message, ...("cause" in ending ? { cause: ending.cause } : {}) })
      )
    case "Exit": {
      const { code, outOfMemory, signal } = ending.exit
      return failed(
        exitMessage(ending.exit, limits),
        (message) =>
          new CodeRun.WorkerExit({
            message,
            ...(code === undefined ? {} : { exitCode: code }),
            ...(signal === undefined ? {} : { signal }),
            outOfMemory
          })
      )
    }
    case "Unlaunched":
      return failed(
        `the guest could not be started: ${ending.failure.message}`,
        (message) => new CodeRun.WorkerExit({ message, outOfMemory: false })
      )
    case "Junk":
      return failed(
        "the program's guest sent frames that break the protocol, too many or too long, and was ended",
        (message) => new CodeRun.WorkerExit({ message, outOfMemory: false })
      )
  }
}
