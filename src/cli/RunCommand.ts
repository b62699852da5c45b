/**
 * `code-runtime run`: one program, its logs as they come, its value at the end.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type CodeRunFailed, type CodeRunSuccess, kindOf } from "../domain/CodeRun.ts"
import type { LimitsInput } from "../domain/Limits.ts"
import { CodeRuntime } from "../services/CodeRuntime.ts"
import * as Backends from "./Backends.ts"
import * as Bindings from "./Bindings.ts"
import * as ExitCode from "./ExitCode.ts"
import { Interruption, orStop } from "./Interruption.ts"
import { isTerminal, writeLine } from "./Output.ts"
import * as Report from "./Report.ts"
import * as Source from "./Source.ts"
import { Stopped, unusable } from "./Stopped.ts"

export interface Input {
  readonly file: string
  readonly backend: Option.Option<string>
  readonly bindings: ReadonlyArray<string>
  readonly json: boolean
  readonly logs: Option.Option<boolean>
  readonly limits: LimitsInput
}

const tell = (outcome: CodeRunSuccess | CodeRunFailed, json: boolean): Effect.Effect<void> =>
  Effect.gen(function* () {
    const layout = isTerminal("stdout") ? "spread" : "line"
    if (json) return yield* writeLine("stdout", Report.outcome(outcome, layout))
    const failed = "reason" in outcome
    if (failed) yield* writeLine("stderr", Report.failure(kindOf(outcome.reason), outcome.message))
    else if (outcome.value !== undefined) yield* writeLine("stdout", Report.value(outcome.value, layout))
    for (const warning of Report.unsettled(outcome.unsettledCalls, !failed)) yield* writeLine("stderr", warning)
  })

export const run = Effect.fnUntraced(function* (input: Input) {
  const { bindings: modules, file, json, limits } = input
  const { exitCode, signal } = yield* Interruption
  const showLogs = Option.getOrElse(input.logs, () => !json)

  // Who pipes a program in may take a while: its guest boots meanwhile. A file is read sooner than a guest boots, and a
  // place that is filled again would only compete with the run.
  const standby = file === "-" ? 1 : 0
  const layer = yield* Backends.runtimeFor(file, Option.getOrUndefined(input.backend), { standby, ...limits })
  const [services, program, bindings] = yield* orStop(
    Effect.all([Effect.mapError(Layer.build(layer), unusable), Source.read(file), Bindings.loadAll(modules)], {
      concurrency: "unbounded"
    })
  )

  let ended: CodeRunSuccess | CodeRunFailed | undefined
  yield* Context.get(services, CodeRuntime)
    .stream({ program, bindings, signal })
    .pipe(
      Stream.runForEach((event) => {
        if (event._tag === "Log" && showLogs) return writeLine("stderr", event.text)
        if (event._tag === "Completed") ended = event.success
        if (event._tag === "Failed") ended = event.failure
        return Effect.void
      }),
      Effect.mapError(unusable)
    )
  if (ended === undefined) return yield* Effect.die("a run ended without an outcome")
  yield* tell(ended, json)
  if ("reason" in ended) {
    const { reason } = ended
    const aborted = reason._tag === "Abort" ? exitCode() : undefined
    return yield* new Stopped({ exitCode: aborted ?? ExitCode.failures[kindOf(reason)] })
  }
}, Effect.scoped)
