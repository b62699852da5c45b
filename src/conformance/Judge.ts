/**
 * Judges runs: first what holds for every run of the contract, then what a case expects.
 */
import * as Effect from "effect/Effect"
import {
  type CodeRunFailed,
  type CodeRunRequest,
  type CodeRunSuccess,
  CodeRuntimeMisuse,
  kindOf
} from "../domain/CodeRun.ts"
import { isJson, jsonBytes } from "../domain/Json.ts"
import { defaults, type LimitsInput } from "../domain/Limits.ts"
import type { CodeRuntime } from "../services/CodeRuntime.ts"
import { brief, ensure, equal, type Expectation, type Outcome, sameJson, Unmet } from "./Case.ts"

const described = (outcome: Outcome): string =>
  outcome.kind === undefined
    ? `${"value" in outcome ? `the value ${brief(outcome.value)}` : "no value"}, logs ${brief(outcome.logs)}`
    : `${outcome.kind}: ${brief(outcome.message, 1200)}, logs ${brief(outcome.logs)}`

const outcomeOfSuccess = (success: CodeRunSuccess): Outcome => ({
  ...("value" in success && success.value !== undefined ? { value: success.value } : {}),
  message: "",
  logs: success.logs,
  usage: success.usage,
  unsettledCalls: success.unsettledCalls
})

const outcomeOfFailure = (failure: CodeRunFailed): Outcome => ({
  kind: kindOf(failure.reason),
  reason: failure.reason,
  message: failure.message,
  logs: failure.logs,
  usage: failure.usage,
  unsettledCalls: failure.unsettledCalls
})

/** Throws `Unmet` where an outcome breaks what holds for every run. */
export const judge = (outcome: Outcome, limits: LimitsInput): void => {
  const { usage } = outcome
  ensure(
    outcome.logs.every((entry) => typeof entry === "string"),
    "logs of text",
    outcome.logs
  )
  ensure(!("value" in outcome) || isJson(outcome.value), "a lossless value")
  const told =
    outcome.kind !== undefined ? jsonBytes(outcome.message) : outcome.value === undefined ? 0 : jsonBytes(outcome.value)
  const bytes = jsonBytes([...outcome.logs]) + told
  const cap = limits.maxOutputBytes ?? defaults.maxOutputBytes
  ensure(bytes <= cap, `an outcome of at most ${cap} bytes`, bytes)
  equal(usage.outputBytes, bytes, "usage.outputBytes")
  ensure(
    usage.wallMs >= 0 &&
      usage.cpuMs >= 0 &&
      Number.isInteger(usage.calls) &&
      usage.calls >= 0 &&
      (usage.peakMemoryMb ?? 0) >= 0,
    "a sound usage",
    usage
  )
  ensure(
    outcome.unsettledCalls.every(
      (call) => typeof call.global === "string" && typeof call.name === "string" && (call.line ?? 1) >= 1
    ),
    "sound unsettledCalls",
    outcome.unsettledCalls
  )
}

/** One run, judged by what holds for every run. */
export const judgedRun = (
  runtime: CodeRuntime["Service"],
  request: CodeRunRequest,
  limits: LimitsInput
): Effect.Effect<Outcome, Unmet> =>
  runtime.run(request).pipe(
    Effect.match({
      onSuccess: (success): Outcome | Unmet => outcomeOfSuccess(success),
      onFailure: (failure): Outcome | Unmet =>
        failure instanceof CodeRuntimeMisuse
          ? new Unmet(`expected a run; got misuse: ${failure.message}`)
          : outcomeOfFailure(failure)
    }),
    Effect.flatMap((outcome) =>
      outcome instanceof Unmet
        ? Effect.fail(outcome)
        : attempt(() => {
            judge(outcome, limits)
            return outcome
          })
    )
  )

const isUnmet = (error: unknown): error is Unmet => error instanceof Unmet

/** A judgement as an effect. */
export const attempt = <A>(body: () => A): Effect.Effect<A, Unmet> =>
  Effect.try({ try: body, catch: (error) => (isUnmet(error) ? error : new Unmet(String(error))) })

const listOf = <A>(given: A | ReadonlyArray<A> | undefined): ReadonlyArray<A> =>
  given === undefined ? [] : isList(given) ? given : [given]
const isList = <A>(given: A | ReadonlyArray<A>): given is ReadonlyArray<A> => Array.isArray(given)

/** Throws `Unmet` where an outcome is not what a case expects. */
export const meet = (outcome: Outcome, expectation: Expectation): void => {
  const got = described(outcome)
  const unless = (holds: boolean, expected: string): void => {
    if (!holds) throw new Unmet(`expected ${expected}; got ${got}`)
  }
  const kinds = listOf(expectation.kind)
  if (kinds.length > 0)
    unless(
      kinds.some((kind) => kind === outcome.kind),
      kinds.join(" or ")
    )
  else if (expectation.anyEnd !== true) unless(outcome.kind === undefined, "a run that succeeds")
  if ("value" in expectation) {
    unless("value" in outcome && sameJson(expectation.value, outcome.value), `the value ${brief(expectation.value)}`)
  }
  if (expectation.noValue === true) unless(!("value" in outcome), "no value")
  for (const wanted of listOf(expectation.message)) {
    unless(
      typeof wanted === "string" ? outcome.message === wanted : wanted.test(outcome.message),
      `a message with ${String(wanted)}`
    )
  }
  for (const unwanted of listOf(expectation.messageNot)) {
    unless(!unwanted.test(outcome.message), `a message without ${String(unwanted)}`)
  }
  if (expectation.logs !== undefined)
    unless(sameJson(expectation.logs, outcome.logs), `logs ${brief(expectation.logs)}`)
  if (expectation.text !== undefined) {
    unless(outcome.logs.join("") === expectation.text, `logs that read ${brief(expectation.text)}`)
  }
}
