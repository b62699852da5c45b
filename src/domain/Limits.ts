/**
 * The limits of a runtime: one set for every backend, each with a default and a bound.
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Options from "./Options.ts"

export { InvalidLimit } from "./Options.ts"

const bounded = (bound: string, holds: (value: number) => boolean) => Options.bounded(Schema.Finite, bound, holds)

const integerFrom = (least: number) => (value: number) => Number.isSafeInteger(value) && value >= least
const longestTimer = 2_147_483_647

/** The bound of each limit, as a Schema; its description is the bound in words. */
export const fields = {
  computeMs: bounded("a finite number above 0", (value) => value > 0 && Number.isFinite(value)),
  maxWallMs: bounded(`a number above 0 and at most ${longestTimer}`, (value) => value > 0 && value <= longestTimer),
  maxOutputBytes: bounded("a safe integer of at least 4", integerFrom(4)),
  maxBindingBytes: bounded("a safe integer of at least 2", integerFrom(2)),
  maxProgramBytes: bounded("a safe integer of at least 1", integerFrom(1)),
  maxMemoryMb: bounded("a finite number above 0", (value) => value > 0 && Number.isFinite(value)),
  maxConcurrentCalls: bounded("a safe integer of at least 1", integerFrom(1)),
  maxConcurrentRuns: bounded("a safe integer of at least 1, or left out for no limit", integerFrom(1)),
  standby: bounded("a safe integer of at least 0", integerFrom(0))
}

/** The names of the limits. */
export type LimitKey = keyof typeof fields

/** The names of the limits, in the order of the documentation. */
export const keys: ReadonlyArray<LimitKey> = [
  "computeMs",
  "maxWallMs",
  "maxOutputBytes",
  "maxBindingBytes",
  "maxProgramBytes",
  "maxMemoryMb",
  "maxConcurrentCalls",
  "maxConcurrentRuns",
  "standby"
]

/** Checked limits. */
export interface Limits {
  /** Busy time of one run, in milliseconds; above 0, finite. */
  readonly computeMs: number
  /** Wall time of one run, in milliseconds; above 0, at most 2147483647. */
  readonly maxWallMs: number
  /** UTF-8 bytes of the JSON of one run's logs plus that of its value or message; at least 4. */
  readonly maxOutputBytes: number
  /** UTF-8 bytes of the JSON of one argument or one result of a call; at least 2. */
  readonly maxBindingBytes: number
  /** UTF-8 bytes of one program; at least 1. */
  readonly maxProgramBytes: number
  /** Memory of one guest, in MiB; above 0. What it covers depends on the substrate. */
  readonly maxMemoryMb: number
  /** Host functions at work at once for one run; at least 1. More calls wait, in order. */
  readonly maxConcurrentCalls: number
  /** Runs at once; at least 1. More runs wait, in order. Absent: no limit. */
  readonly maxConcurrentRuns?: number
  /** Fresh guests kept ready for the next runs; 0 or more. */
  readonly standby: number
}

/** Limits as a caller writes them: any of them may be left out. */
export type LimitsInput = { readonly [key in LimitKey]?: number | undefined }

/** The limits of a runtime that says nothing of its own. */
export const defaults: Limits = {
  computeMs: 60_000,
  maxWallMs: 600_000,
  maxOutputBytes: 67_108_864,
  maxBindingBytes: 67_108_864,
  maxProgramBytes: 1_048_576,
  maxMemoryMb: 512,
  maxConcurrentCalls: 256,
  standby: 1
}

/**
 * Checks limits and fills in the defaults; fails with the first offender. A key that is `undefined` counts as left out.
 *
 * `options` are further options of the layer that may stand beside the limits; they are checked too.
 */
export const make = (
  input: LimitsInput = {},
  options: Options.Fields = {}
): Effect.Effect<Limits, Options.InvalidLimit> =>
  Effect.suspend(() => {
    const offence = Options.offence(input, { ...options, ...fields })
    if (offence !== undefined) return Effect.fail(offence)
    const limits: { -readonly [key in keyof Limits]: Limits[key] } = { ...defaults }
    for (const key of keys) {
      const value = input[key]
      if (value !== undefined) limits[key] = value
    }
    return Effect.succeed(limits)
  })

/** The bound of a limit, in words. */
export const boundOf = (key: LimitKey): string => Options.boundOf(fields[key]) ?? "a number"

const setting = (key: LimitKey) => Config.option(Config.Number(key))

/** The limits as a `Config`, each by its own name (`computeMs`, ...); those that are absent have their defaults. */
export const config: Config.Config<LimitsInput> = Config.all({
  computeMs: setting("computeMs"),
  maxWallMs: setting("maxWallMs"),
  maxOutputBytes: setting("maxOutputBytes"),
  maxBindingBytes: setting("maxBindingBytes"),
  maxProgramBytes: setting("maxProgramBytes"),
  maxMemoryMb: setting("maxMemoryMb"),
  maxConcurrentCalls: setting("maxConcurrentCalls"),
  maxConcurrentRuns: setting("maxConcurrentRuns"),
  standby: setting("standby")
}).pipe(
  Config.map((found) => {
    const input: { [key in LimitKey]?: number } = {}
    for (const key of keys) {
      const value = found[key]
      if (Option.isSome(value)) input[key] = value.value
    }
    return input
  })
)
