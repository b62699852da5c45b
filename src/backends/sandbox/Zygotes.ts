/**
 * The zygotes of one runtime: one while guests are needed often, and the next one before it is spent.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type { LaunchFailure } from "../../services/GuestLauncher.ts"
import type { SandboxGuest } from "./SandboxGuest.ts"
import { failure, start, type Zygote, type ZygoteRecipe } from "./Zygote.ts"

/** The longest wait that a timer takes, in milliseconds; longer ones are for ever. */
const longestTimer = 2_147_483_647

/** So many guests within the time that an idle zygote is kept make it worth its boot. */
const worthwhile = 3

/**
 * Forks guests of zygotes, which are ended with the scope, or when nobody has asked for a guest for `idleMs`. Fails at once
 * where none is ready: then a fresh guest is there sooner than a zygote and its fork would be.
 */
export const make = Effect.fnUntraced(function* (recipe: ZygoteRecipe, idleMs: number) {
  const scope: Scope.Scope = yield* Effect.scope
  const runFork = Effect.runForkWith(yield* Effect.context())
  /** Zygotes that live, oldest first, each with the timer that looks at it again. */
  const living = new Map<Zygote, NodeJS.Timeout | undefined>()
  /** When the last guests were asked for. */
  let asked: ReadonlyArray<number> = []
  let booting = false
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

  /** Starts the next zygote, if it is not starting already; nobody waits for it. */
  const boot: Effect.Effect<void> = Effect.suspend(() => {
    if (booting || broken) return Effect.void
    booting = true
    // A start that takes time is waited for: interrupted, it would leave processes that nobody ends.
    const starting = Effect.exit(start(recipe)).pipe(
      Effect.flatMap((exit) => {
        booting = false
        // One that does not start is not tried again.
        broken = Exit.isFailure(exit)
        if (Exit.isFailure(exit)) return Effect.void
        const zygote = exit.value
        if (closed) return zygote.end
        living.set(zygote, undefined)
        zygote.onIdle = () => review(zygote)
        review(zygote)
        return Effect.void
      })
    )
    return Effect.forkIn(Effect.uninterruptible(starting), scope)
  })

  /** Whether guests are needed so often that the next will be, too, before a zygote would be given up. */
  const isWorthwhile = (): boolean => {
    const now = performance.now()
    asked = [...asked, now].slice(-worthwhile)
    return asked.length === worthwhile && now - (asked[0] ?? now) <= idleMs
  }

  const forkOf = (zygote: Zygote): Effect.Effect<SandboxGuest, LaunchFailure> =>
    Effect.tapError(zygote.fork, () => Effect.sync(() => (broken ||= !zygote.isDead)))

  const fork: Effect.Effect<SandboxGuest, LaunchFailure> = Effect.suspend(() => {
    const isNeeded = isWorthwhile()
    const [oldest, another] = usable()
    const forked = oldest === undefined ? Effect.fail(failure("no zygote is ready")) : forkOf(oldest)
    const isLast = another === undefined && oldest?.isNearlySpent !== false
    return isNeeded && isLast ? Effect.andThen(boot, forked) : forked
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
