/**
 * Metrics and spans of runs and calls. They cost nothing that a run waits for.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Tracer from "effect/Tracer"
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

/** Runs that wait for their turn under `maxConcurrentRuns`. */
export const waitingRuns = Metric.gauge("code_runtime_waiting_runs", { description: "Runs that wait for their turn" })

/** What a run is told by: its backend. */
export interface Backend {
  readonly language: string
  readonly isolation: string
}

/** Counts a run that ended and its calls, and tells the current span of it. */
type TellEnd = (
  outcome: "Completed" | FailureReason["_tag"],
  usage: CodeRunUsage,
  answers: { readonly succeeded: number; readonly failed: number }
) => Effect.Effect<void>

/** Effect's own tracer keeps spans for nobody, and opening one costs as much as a third of a call. */
const isTraced = (context: Context.Context<never>): boolean => context.mapUnsafe.has(Tracer.Tracer.key)

/** Traces the runs of a backend, where the app traces. */
export const runSpan =
  (backend: Backend) =>
  <A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.contextWith((context: Context.Context<never>) =>
      isTraced(context)
        ? run.pipe(Effect.withSpan("CodeRuntime.run", { attributes: { ...backend } }, { captureStackTrace: false }))
        : run
    )

/** What tells of the ends of a backend's runs; each metric is named once, since that costs more than to count by it. */
export const endsOf = ({ isolation, language }: Backend): TellEnd => {
  const attributes = { language, isolation }
  const duration = Metric.withAttributes(runDuration, attributes)
  const counters = new Map<string, typeof runs>()
  const counterOf = (outcome: string): typeof runs => {
    const known = counters.get(outcome)
    if (known !== undefined) return known
    const counter = Metric.withAttributes(runs, { ...attributes, outcome })
    counters.set(outcome, counter)
    return counter
  }
  return (outcome, usage, answers) =>
    Effect.contextWith((context: Context.Context<never>) => {
      counterOf(outcome).updateUnsafe(1, context)
      duration.updateUnsafe(usage.wallMs, context)
      // Once a run, not once a call: a call costs about as much as counting it.
      if (answers.succeeded > 0) answered.updateUnsafe(answers.succeeded, context)
      if (answers.failed > 0) refused.updateUnsafe(answers.failed, context)
      return isTraced(context) ? Effect.annotateCurrentSpan({ ...attributes, outcome, ...usage }) : Effect.void
    })
}

const answered = Metric.withAttributes(calls, { ok: "true" })
const refused = Metric.withAttributes(calls, { ok: "false" })

/** Traces the effect of a call. */
export type CallSpan = <A, E, R>(call: Effect.Effect<A, E, R>, global: string, name: string) => Effect.Effect<A, E, R>

/** The span of one call; undefined where the app does not trace. */
export const callSpan = (context: Context.Context<never>): CallSpan | undefined =>
  isTraced(context)
    ? (call, global, name) =>
        call.pipe(Effect.withSpan("CodeRuntime.call", { attributes: { global, name } }, { captureStackTrace: false }))
    : undefined
