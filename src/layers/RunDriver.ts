/**
 * The run driver: what a run is, written once, over any launcher of guests.
 *
 * A request is checked, its guest launched while its program is compiled, the program started, its calls performed, its
 * budgets watched. The first thing that ends it settles it; then the guest and the open calls are ended and waited for,
 * and only then is the outcome told.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import {
  CodeRunFailed,
  type CodeRunRequest,
  type CodeRunSuccess,
  CodeRuntimeMisuse,
  RuntimeDisposed
} from "../domain/CodeRun.ts"
import { encodeStart } from "../domain/Frame.ts"
import { utf8Bytes } from "../domain/Json.ts"
import type { Limits } from "../domain/Limits.ts"
import { checkRequest } from "../domain/Request.ts"
import type { RunEvent } from "../domain/RunEvent.ts"
import { CodeRuntime } from "../services/CodeRuntime.ts"
import { GuestLauncher, type LaunchFailure } from "../services/GuestLauncher.ts"
import { ProgramCompiler, type ProgramRejected } from "../services/ProgramCompiler.ts"
import { CallFibers } from "./CallFibers.ts"
import { conclude, type Ending, messageOf, valueBytesOf } from "./Outcome.ts"
import { type Observer, Run } from "./Run.ts"
import * as Telemetry from "./Telemetry.ts"

/** What programs of a language are called in places: the extension of their files. */
const files: { readonly [language: string]: string } = { typescript: "program.ts", python: "program.py" }

/** The longest nap between two looks at a run's budgets, in milliseconds. */
const longestNap = 1_000_000

/** Watches both budgets from the program's start; busy time never outruns wall time, so no look is needed sooner. */
const watchBudgets = Effect.fnUntraced(function* <R>(run: Run<R>, limits: Limits) {
  yield* Deferred.await(run.started)
  const startedAt = yield* Clock.currentTimeMillis
  for (;;) {
    const wallLeft = limits.maxWallMs - ((yield* Clock.currentTimeMillis) - startedAt)
    if (wallLeft <= 0) return run.settle({ _tag: "Timeout", budget: "maxWallMs" })
    const computeLeft = limits.computeMs - run.busyMs()
    if (computeLeft <= 0) return run.settle({ _tag: "Timeout", budget: "computeMs" })
    yield* Effect.sleep(Math.max(1, Math.ceil(Math.min(wallLeft, computeLeft, longestNap))))
  }
})

/** Settles a run that could not be prepared. */
const tellFailure = <R>(run: Run<R>, cause: Cause.Cause<LaunchFailure | ProgramRejected>): Effect.Effect<void> =>
  Effect.sync(() => {
    const failed = cause.reasons.find(Cause.isFailReason)?.error
    if (failed?._tag === "LaunchFailure") run.settle({ _tag: "Unlaunched", failure: failed })
    else if (failed !== undefined) run.settle({ _tag: "Rejected", rejection: failed })
    // A defect of a backend is the run's: nobody waits for an ending that cannot come.
    else if (!Cause.hasInterruptsOnly(cause)) {
      const defects = cause.reasons.filter(Cause.isDieReason)
      Deferred.doneUnsafe(run.ended, Exit.failCause(Cause.fromReasons<never>(defects)))
    }
  })

const abortOf = (signal: AbortSignal): Ending => ({
  _tag: "Abort",
  message: messageOf(signal.reason, "the run was aborted"),
  cause: signal.reason
})

const disposed: Ending = { _tag: "Abort", message: "runtime disposed" }

/**
 * The code runtime over a launcher and a compiler.
 *
 * Closing its scope ends the runs in flight as `Abort` ("runtime disposed"), waits for their guests, and makes later runs
 * `RuntimeDisposed`.
 */
export const layer = (limits: Limits): Layer.Layer<CodeRuntime, never, GuestLauncher | ProgramCompiler> =>
  Layer.effect(
    CodeRuntime,
    Effect.gen(function* () {
      const launcher = yield* GuestLauncher
      const compiler = yield* ProgramCompiler
      const backend: Telemetry.Backend = { language: launcher.language, isolation: launcher.isolation }
      const tellEnd = Telemetry.endsOf(backend)
      const inSpan = Telemetry.runSpan(backend)
      const file = files[launcher.language] ?? "program"

      const inFlight = new Map<{ readonly settle: (ending: Ending) => void }, Deferred.Deferred<void>>()
      let isDisposed = false
      yield* Effect.addFinalizer(() =>
        Effect.suspend(() => {
          isDisposed = true
          const ends = [...inFlight.values()]
          for (const run of inFlight.keys()) run.settle(disposed)
          return Effect.forEach(ends, Deferred.await, { discard: true })
        })
      )

      /** From a checked request to a started program; every failure on the way settles the run. */
      const prepare = Effect.fnUntraced(
        function* <R>(run: Run<R>, request: CodeRunRequest<R>, guestScope: Scope.Scope) {
          // Most guests are there at once, and so are most programs: one fiber is enough for the two.
          const launching = yield* Effect.forkDetach(
            Effect.onError(Scope.provide(launcher.launch, guestScope), (cause) => tellFailure(run, cause)),
            { startImmediately: true }
          )
          const program = yield* Effect.onError(compiler.compile(request.program), () => Fiber.interrupt(launching))
          const guest = yield* Effect.onInterrupt(Fiber.join(launching), () => Fiber.interrupt(launching))
          run.begin(guest, program, encodeStart(program, request, limits))
          yield* watchBudgets(run, limits)
        },
        (effect, run) => Effect.ignoreCause(Effect.onError(effect, (cause) => tellFailure(run, cause)))
      )

      const drive = <R>(
        request: CodeRunRequest<R>,
        observer: Observer | undefined
      ): Effect.Effect<CodeRunSuccess, CodeRunFailed | CodeRuntimeMisuse, R> =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            if (isDisposed) {
              const message = "the runtime is disposed; make a new one to run programs"
              return yield* new CodeRuntimeMisuse({ reason: new RuntimeDisposed({ message }) })
            }
            const misuse = checkRequest(request)
            if (misuse !== undefined) return yield* misuse

            const guestScope = Scope.makeUnsafe()
            const context = yield* Effect.context<R>()
            const calls = new CallFibers(context)
            const run = new Run<R>({
              request,
              limits,
              observer,
              span: Telemetry.callSpan(context),
              fork: (call, onExit) => calls.fork(call, onExit)
            })
            const gone = Deferred.makeUnsafe<void>()
            inFlight.set(run, gone)

            const { signal } = request
            const onAbort = () => {
              if (signal !== undefined) run.settle(abortOf(signal))
            }
            const programBytes = utf8Bytes(request.program)
            if (signal?.aborted === true) onAbort()
            else if (programBytes > limits.maxProgramBytes) run.settle({ _tag: "TooLong", bytes: programBytes })
            signal?.addEventListener("abort", onAbort, { once: true })

            const preparation = yield* Effect.forkDetach(
              // What is settled before it began starts nothing.
              run.settled ? Effect.void : Effect.interruptible(prepare(run, request, guestScope)),
              { startImmediately: true }
            )
            const exit = yield* Effect.exit(restore(Deferred.await(run.ended)))
            // Nobody waits for an interrupted run: nothing of it is to begin any more.
            if (Exit.isFailure(exit)) run.settle({ _tag: "Abort", message: "the run was interrupted" })

            yield* Fiber.interrupt(preparation)
            calls.interrupt()
            // A large value takes as long to count as its guest takes to die.
            const valueBytes = Exit.isSuccess(exit) ? valueBytesOf(exit.value) : 0
            yield* Scope.close(guestScope, Exit.void)
            if (!run.inbox.isEmpty) yield* Effect.promise(() => run.inbox.emptied())
            yield* calls.ended
            signal?.removeEventListener("abort", onAbort)
            inFlight.delete(run)
            Deferred.doneUnsafe(gone, Exit.void)
            if (Exit.isFailure(exit)) return yield* Effect.failCause(exit.cause)

            const outcome = conclude(exit.value, {
              program: request.program,
              file,
              compiled: run.compiled,
              limits,
              ledger: run.ledger,
              valueBytes,
              usage: run.usage(),
              unsettledCalls: run.unsettledCalls()
            })
            if (outcome instanceof CodeRunFailed) {
              yield* tellEnd(outcome.reason._tag, outcome.usage, run.answers)
              return yield* outcome
            }
            yield* tellEnd("Completed", outcome.usage, run.answers)
            return outcome
          })
        ).pipe(inSpan)

      const run = <R = never>(request: CodeRunRequest<R>) => drive(request, undefined)

      const stream = <R = never>(request: CodeRunRequest<R>): Stream.Stream<RunEvent, CodeRuntimeMisuse, R> =>
        Stream.unwrap(
          Effect.gen(function* () {
            const told = yield* Queue.unbounded<Told, CodeRuntimeMisuse | Cause.Done>()
            const observer: Observer = {
              tell: (event) => void Queue.offerUnsafe(told, { event }),
              tellCall: (event) => {
                const read = Deferred.makeUnsafe<void>()
                Queue.offerUnsafe(told, { event, read })
                return Deferred.await(read)
              }
            }
            yield* Effect.forkScoped(
              drive(request, observer).pipe(
                Effect.map((success): RunEvent => ({ _tag: "Completed", success })),
                Effect.catchTag("CodeRunFailed", (failure) => Effect.succeed<RunEvent>({ _tag: "Failed", failure })),
                Effect.flatMap((event) => {
                  Queue.offerUnsafe(told, { event })
                  return Queue.end(told)
                }),
                Effect.catchCause((cause) => Queue.failCause(told, cause))
              )
            )
            // One event a pull: a call waits until the reader has come to it.
            return Stream.fromEffectRepeat(
              Effect.map(Queue.take(told), ({ event, read }) => {
                if (read !== undefined) Deferred.doneUnsafe(read, Exit.void)
                return event
              })
            )
          })
        )

      return CodeRuntime.of({ ...backend, run, stream })
    })
  )

interface Told {
  readonly event: RunEvent
  readonly read?: Deferred.Deferred<void>
}
