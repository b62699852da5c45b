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
  /** Zygotes that live, each with the timer that looks at it again. */
  const living = new Map<Zygote, NodeJS.Timeout | undefined>()
  let current: Zygote | undefined
  let next: Deferred.Deferred<Zygote, LaunchFailure> | undefined
  let broken = false
  let closed = false

  const retire = (zygote: Zygote): void => {
    if (current === zygote) current = undefined
    runFork(
      Effect.andThen(
        zygote.end,
        Effect.sync(() => living.delete(zygote))
      )
    )
  }

  /** Ends an idle zygote that is of no use, now or when it has not been used for long. */
  const review = (zygote: Zygote): void => {
    if (!living.has(zygote) || !zygote.isIdle) return
    clearTimeout(living.get(zygote))
    const left = zygote.lastUse + idleMs - performance.now()
    if (!zygote.isUsable || zygote !== current || left <= 0) return retire(zygote)
    if (left > longestTimer) return
    // What nobody waits for keeps no host alive.
    living.set(zygote, setTimeout(() => review(zygote), Math.ceil(left)).unref())
  }

  const boot: Effect.Effect<Deferred.Deferred<Zygote, LaunchFailure>> = Effect.suspend(() => {
    if (next !== undefined) return Effect.succeed(next)
    const booted = Deferred.makeUnsafe<Zygote, LaunchFailure>()
    next = booted
    // A start that takes time is waited for: interrupted, it would leave processes that nobody ends.
    const starting = Effect.exit(start(recipe)).pipe(
      Effect.flatMap((exit) => {
        next = undefined
        if (Exit.isFailure(exit)) {
          broken = true
          return Deferred.done(booted, exit)
        }
        const zygote = exit.value
        if (closed) return Effect.andThen(zygote.end, Deferred.fail(booted, failure("its runtime ended")))
        const before = current
        current = zygote
        living.set(zygote, undefined)
        zygote.onIdle = () => review(zygote)
        for (const each of before === undefined ? [zygote] : [zygote, before]) review(each)
        return Deferred.succeed(booted, zygote)
      })
    )
    return Effect.as(Effect.forkIn(Effect.uninterruptible(starting), scope), booted)
  })

  const fork: Effect.Effect<SandboxGuest, LaunchFailure> = Effect.suspend(() => {
    if (current?.isUsable === true) {
      const { fork: forked, isNearlySpent } = current
      return isNearlySpent ? Effect.andThen(boot, forked) : forked
    }
    // One that cannot be started is not tried again.
    if (broken) return Effect.fail(failure("its zygote does not start"))
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
