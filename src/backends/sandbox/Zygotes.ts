/**
 * The zygotes of one runtime: one that forks, the next one before it is spent, and none while nobody needs it.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type { LaunchFailure } from "../../services/GuestLauncher.ts"
import type { SandboxGuest } from "./SandboxGuest.ts"
import { failure, start, type Zygote, type ZygoteRecipe } from "./Zygote.ts"

/** The longest wait that a timer takes, in milliseconds; longer ones are for ever. */
const longestTimer = 2_147_483_647

/** Forks guests of zygotes that are ended with the scope, and of one that nobody has asked for `idleMs`. */
export const make = Effect.fnUntraced(function* (recipe: ZygoteRecipe, idleMs: number) {
  const scope: Scope.Scope = yield* Effect.scope
  const runFork = Effect.runForkWith(yield* Effect.context())
  /** Zygotes that live, oldest first, each with the timer that looks at it again. */
  const living = new Map<Zygote, NodeJS.Timeout | undefined>()
  let next: Deferred.Deferred<Zygote, LaunchFailure> | undefined
  let broken = false
  let closed = false

  const usable = (): ReadonlyArray<Zygote> => [...living.keys()].filter(({ isUsable }) => isUsable)

  /** Ends a zygote that none of its guests needs any more and that is spent, or was not used for long. */
  const review = (zygote: Zygote): void => {
    if (!living.has(zygote) || !zygote.isIdle) return
    clearTimeout(living.get(zygote))
    const left = zygote.isUsable ? zygote.lastUse + idleMs - performance.now() : 0
    if (left <= 0) {
      runFork(
        Effect.andThen(
          zygote.end,
          Effect.sync(() => living.delete(zygote))
        )
      )
    } else if (left <= longestTimer) {
      // What nobody waits for keeps no host alive.
      living.set(zygote, setTimeout(() => review(zygote), Math.ceil(left)).unref())
    }
  }

  const boot: Effect.Effect<Deferred.Deferred<Zygote, LaunchFailure>> = Effect.suspend(() => {
    if (next !== undefined) return Effect.succeed(next)
    const booted = Deferred.makeUnsafe<Zygote, LaunchFailure>()
    next = booted
    // A start that takes time is waited for: interrupted, it would leave processes that nobody ends.
    const starting = Effect.exit(start(recipe)).pipe(
      Effect.flatMap((exit) => {
        next = undefined
        broken = Exit.isFailure(exit)
        if (Exit.isFailure(exit)) return Deferred.done(booted, exit)
        const zygote = exit.value
        if (closed) return Effect.andThen(zygote.end, Deferred.fail(booted, failure("its runtime ended")))
        living.set(zygote, undefined)
        zygote.onIdle = () => review(zygote)
        review(zygote)
        return Deferred.succeed(booted, zygote)
      })
    )
    return Effect.as(Effect.forkIn(Effect.uninterruptible(starting), scope), booted)
  })

  const forkOf = (zygote: Zygote): Effect.Effect<SandboxGuest, LaunchFailure> =>
    Effect.tapError(zygote.fork, () => Effect.sync(() => (broken ||= !zygote.isDead)))

  const fork: Effect.Effect<SandboxGuest, LaunchFailure> = Effect.suspend(() => {
    // One that does not work here is not tried again.
    if (broken) return Effect.fail(failure("zygotes do not work here"))
    const [oldest, another] = usable()
    if (oldest !== undefined) {
      const isLast = oldest.isNearlySpent && another === undefined
      return isLast ? Effect.andThen(boot, forkOf(oldest)) : forkOf(oldest)
    }
    return Effect.flatMap(boot, (booted) =>
      Effect.flatMap(Deferred.await(booted), ({ isDead }) => (isDead ? Effect.fail(failure("its zygote ended")) : fork))
    )
  })

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      closed = true
      for (const timer of living.values()) clearTimeout(timer)
      return Effect.forEach([...living.keys()], ({ end }) => end, { concurrency: "unbounded", discard: true })
    })
  )
  return fork
})
