/**
 * Admission: at most so many guests at once; more runs wait, in order.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { GuestLauncher } from "../services/GuestLauncher.ts"
import * as Telemetry from "./Telemetry.ts"

/** A launcher that lets at most `maxConcurrentRuns` of its guests live at once; `undefined` for no limit. */
export const admit = (
  launcher: GuestLauncher["Service"],
  maxConcurrentRuns: number | undefined
): GuestLauncher["Service"] => {
  if (maxConcurrentRuns === undefined) return launcher
  const permits = Semaphore.makeUnsafe(maxConcurrentRuns)
  let waiting = 0
  const told = (change: number) =>
    Effect.suspend(() => {
      waiting += change
      return Metric.update(Telemetry.waitingRuns, waiting)
    })
  return {
    ...launcher,
    launch: Effect.gen(function* () {
      // A scope of its own, closed in order: the place is free again only when the guest is gone.
      const scope = yield* Scope.fork(yield* Effect.scope)
      yield* Effect.uninterruptibleMask((restore) =>
        Effect.acquireUseRelease(
          told(1),
          () => Effect.andThen(restore(permits.take(1)), Scope.addFinalizer(scope, permits.release(1))),
          () => told(-1)
        )
      )
      return yield* Scope.provide(launcher.launch, scope)
    })
  }
}
