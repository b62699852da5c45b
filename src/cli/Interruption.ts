/**
 * The signals of the process: the first aborts what is going on, the second ends the process at once.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as ExitCode from "./ExitCode.ts"
import { Stopped } from "./Stopped.ts"

/** What a signal has done so far. */
export class Interruption extends Context.Service<
  Interruption,
  {
    /** Aborts at the first signal of the process; its reason says which. */
    readonly signal: AbortSignal
    /** The exit code of the signal that came; undefined before one did. */
    readonly exitCode: () => number | undefined
  }
>()("effect-code-runtime/cli/Interruption") {}

/** Launchers such as npx pass on what the terminal has sent already: what comes so soon is no second signal. */
const echoMs = 250

/** Begins to listen to the process's signals, for good. */
export const listen = (): Interruption["Service"] => {
  const controller = new AbortController()
  let exitCode: number | undefined
  let since = 0
  const on = (name: keyof typeof ExitCode.signals) =>
    process.on(name, () => {
      if (exitCode !== undefined) {
        if (performance.now() - since < echoMs) return
        // Not by process.exit, which waits for threads: one that is stuck in native code is why there is a second signal.
        process.removeAllListeners(name)
        process.kill(process.pid, name)
        return
      }
      since = performance.now()
      exitCode = ExitCode.signals[name]
      controller.abort(`interrupted by ${name}`)
    })
  on("SIGHUP")
  on("SIGINT")
  on("SIGTERM")
  return { signal: controller.signal, exitCode: () => exitCode }
}

/** Gives an effect up at the first signal; for what cannot be aborted otherwise. */
export const orStop = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Stopped, R | Interruption> =>
  Effect.gen(function* () {
    const { exitCode, signal } = yield* Interruption
    const stopped = Effect.callback<never, Stopped>((resume) => {
      const stop = () => resume(Effect.fail(new Stopped({ exitCode: exitCode() ?? ExitCode.failures.abort })))
      if (signal.aborted) return stop()
      signal.addEventListener("abort", stop, { once: true })
      return Effect.sync(() => signal.removeEventListener("abort", stop))
    })
    return yield* Effect.raceFirst(effect, stopped)
  })
