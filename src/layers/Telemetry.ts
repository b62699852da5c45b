/**
 * Metrics and spans of runs and calls. They cost nothing that a run waits for.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { CodeRunUsage, FailureReason } from "../domain/CodeRun.ts"

const durations = Metric.exponentialBoundaries({ start: 1, factor: 2, count: 20 })

/** Runs that ended, by `language`, `isolation` and `outcome` (`Completed` or the tag of the failure's reason). */
export const runs = Metric.counter("code_runtime_runs", { description: "Runs that ended", incremental: true })

/** Wall time of runs in milliseconds, from the program's start to its end. */
export const runDuration = Metric.histogram("code_runtime_run_ms", {
  description: "Wall time of runs in milliseconds",
  boundaries: durations
})

/** Calls of bindings that were answered, by `ok`. */
export const calls = Metric.counter("code_runtime_calls", {
  description: "Calls that were answered",
  incremental: true
})

/** Time of calls in milliseconds, from their arrival in the host to their answer. */
export const callDuration = Metric.histogram("code_runtime_call_ms", {
  description: "Time of calls in milliseconds",
  boundaries: durations
})

/** Runs that wait for their turn under `maxConcurrentRuns`. */
export const waitingRuns = Metric.gauge("code_runtime_waiting_runs", { description: "Runs that wait for their turn" })

/** What a run is told by: its backend. */
export interface Backend {
  readonly language: string
  readonly isolation: string
}

/** Counts a run that ended and tells the current span of it. */
export const runEnded = (
  backend: Backend,
  outcome: "Completed" | FailureReason["_tag"],
  usage: CodeRunUsage
): Effect.Effect<void> => {
  const attributes = { language: backend.language, isolation: backend.isolation }
  return Effect.andThen(
    Metric.update(Metric.withAttributes(runs, { ...attributes, outcome }), 1),
    Effect.andThen(
      Metric.update(Metric.withAttributes(runDuration, attributes), usage.wallMs),
      Effect.annotateCurrentSpan({ ...attributes, outcome, ...usage })
    )
  )
}

const answered = Metric.withAttributes(calls, { ok: "true" })
const refused = Metric.withAttributes(calls, { ok: "false" })

/** Counts a call that was answered. */
export const callEnded = (ok: boolean, ms: number, context: Context.Context<never>): void => {
  const metric = ok ? answered : refused
  metric.updateUnsafe(1, context)
  callDuration.updateUnsafe(ms, context)
}
