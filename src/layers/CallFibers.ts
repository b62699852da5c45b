/**
 * The calls of one run that are not over at once: a fiber for each, all of which end with the run.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"

export class CallFibers<R> {
  readonly #context: Context.Context<R>
  readonly #fibers = new Set<Fiber.Fiber<unknown, unknown>>()
  #starting = 0
  #hasEnded = false

  constructor(context: Context.Context<R>) {
    this.#context = context
  }

  /** Starts an effect, and tells its exit, at once where it has one at once. */
  fork<A, E>(effect: Effect.Effect<A, E, R>, onExit: (exit: Exit.Exit<A, E>) => void): void {
    this.#starting++
    const fiber = Effect.runForkWith(this.#context)(effect)
    this.#starting--
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return onExit(exit)
    this.#fibers.add(fiber)
    fiber.addObserver((late) => {
      this.#fibers.delete(fiber)
      onExit(late)
    })
    // A host function can end its own run before it waits for anything.
    if (this.#hasEnded) fiber.interruptUnsafe()
  }

  /** Interrupts them, and each that starts from now on. */
  interrupt(): void {
    this.#hasEnded = true
    for (const fiber of this.#fibers) fiber.interruptUnsafe()
  }

  /** Waits until they are gone and their finalizers have run. */
  readonly ended: Effect.Effect<void> = Effect.suspend(() => {
    if (this.#starting === 0 && this.#fibers.size === 0) return Effect.void
    return this.#starting === 0
      ? Fiber.awaitAll(this.#fibers)
      : // This may run within the beginning of a call, which has no fiber yet that could be waited for.
        Effect.andThen(Effect.sleep(0), this.ended)
  })
}
