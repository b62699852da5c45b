/**
 * Standby: fresh guests that are booted and wait for a program.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { Guest, GuestLauncher, GuestListener } from "../services/GuestLauncher.ts"
import { StandbyGuest } from "./StandbyGuest.ts"

interface Waiting {
  readonly guest: Guest
  readonly scope: Scope.Closeable
}

/**
 * A launcher that keeps `size` guests ready. Each is used once; one that was launched for a run that never started it
 * goes back, since it is as fresh as before. One that dies while it waits is replaced. All end with the scope.
 *
 * A guest that has waited for `standbyMs` is ended: an idle runtime gives back what its guests hold.
 *
 * The place of a guest that was taken is filled just after its run is over or after `refillAfterMs`, whichever comes
 * first: booting the next competes with no run that is about to end, and a run that follows at once still finds one that
 * boots already.
 */
export const keepReady = (
  launcher: GuestLauncher["Service"],
  size: number
): Effect.Effect<GuestLauncher["Service"], never, Scope.Scope> =>
  size === 0 ? Effect.succeed(launcher) : Effect.map(makePool(launcher, size), (pool) => ({ ...launcher, ...pool }))

/** About as long as a guest takes to boot: sooner, it would take the CPU of a run that is under way for one that may never come. */
const refillAfterMs = 25

/** The longest wait that a timer takes, in milliseconds; longer ones are for ever. */
const longestTimer = 2_147_483_647

const makePool = Effect.fnUntraced(function* (launcher: GuestLauncher["Service"], size: number) {
  const poolScope = yield* Effect.scope
  const runFork = Effect.runForkWith(yield* Effect.context())
  const ready: Array<Waiting> = []
  let booting = 0
  let closed = false

  const boot: Effect.Effect<void> = Effect.gen(function* () {
    const scope = Scope.makeUnsafe()
    const exit = yield* Effect.exit(Scope.provide(launcher.launch, scope))
    booting--
    // A launcher that fails is asked again by the next run, which tells its failure.
    if (Exit.isFailure(exit) || closed) return yield* Scope.close(scope, Exit.void)
    watch({ guest: exit.value, scope })
  })

  const fill = Effect.suspend(() => {
    const missing = closed ? 0 : size - ready.length - booting
    if (missing <= 0) return Effect.void
    booting += missing
    // A launch that takes time is waited for: interrupted, it would leave a guest that nobody ends.
    return Effect.forEach(
      Array.from({ length: missing }),
      () => Effect.forkIn(Effect.uninterruptible(boot), poolScope),
      { discard: true }
    )
  })

  /** Waits with a guest, and for its death. */
  const watch = (waiting: Waiting): void => {
    ready.push(waiting)
    const taken = (): boolean => {
      const at = ready.indexOf(waiting)
      if (at >= 0) ready.splice(at, 1)
      return at < 0
    }
    const listener: GuestListener = {
      // It has nothing to say before its program; what has, failed. The next run starts another, and tells what is wrong.
      onText: () => {
        if (!taken()) runFork(Scope.close(waiting.scope, Exit.void))
      },
      onStray: () => {},
      onExit: () => {
        if (!taken()) runFork(Effect.andThen(Scope.close(waiting.scope, Exit.void), fill))
      }
    }
    waiting.guest.listen(listener)
    if (launcher.standbyMs === undefined || launcher.standbyMs > longestTimer) return
    const retire = setTimeout(() => {
      if (!taken()) runFork(Scope.close(waiting.scope, Exit.void))
    }, launcher.standbyMs)
    // What nobody waits for keeps no host alive.
    retire.unref()
  }

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      closed = true
      return Effect.forEach(ready.splice(0), ({ scope }) => Scope.close(scope, Exit.void), {
        concurrency: "unbounded",
        discard: true
      })
    })
  )
  yield* fill

  const refill = (): void => void runFork(fill)

  const lend = ({ guest, scope }: Waiting) =>
    Effect.suspend(() => {
      guest.wake?.()
      // Plain timers: a run waits for all that is set up here.
      const early = setTimeout(refill, refillAfterMs)
      early.unref()
      let replacement: { readonly scope: Scope.Closeable; readonly launched: Fiber.Fiber<unknown, unknown> } | undefined
      const lent = new StandbyGuest(guest, (take) => {
        const other = Scope.makeUnsafe()
        const launched = runFork(
          Effect.uninterruptible(
            Scope.provide(launcher.launch, other).pipe(
              Effect.exit,
              Effect.map((exit) => take(Exit.isSuccess(exit) ? exit.value : undefined))
            )
          )
        )
        replacement = { scope: other, launched }
      })
      const giveBack = Effect.suspend(() => {
        clearTimeout(early)
        lent.giveBack()
        if (lent.used || closed || ready.length >= size) return Scope.close(scope, Exit.void)
        watch({ guest, scope })
        return Effect.void
      })
      const endReplacement = Effect.suspend(() =>
        replacement === undefined
          ? Effect.void
          : Effect.andThen(Fiber.await(replacement.launched), Scope.close(replacement.scope, Exit.void))
      )
      // The turn in which a run ends belongs to whoever waits for it.
      const over = Effect.sync(() => void setTimeout(refill, 0).unref())
      return Effect.as(
        Effect.addFinalizer(() => giveBack.pipe(Effect.andThen(endReplacement), Effect.andThen(over))),
        lent
      )
    })

  const launch: GuestLauncher["Service"]["launch"] = Effect.suspend(() => {
    const waiting = ready.shift()
    return waiting === undefined ? Effect.andThen(fill, launcher.launch) : lend(waiting)
  })
  return { launch }
})
