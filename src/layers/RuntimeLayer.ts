/**
 * A backend's runtime from its parts: limits checked, standby, admission, the driver.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { type InvalidLimit, type Limits, type LimitsInput, make as makeLimits } from "../domain/Limits.ts"
import type { Fields } from "../domain/Options.ts"
import type { CodeRuntime } from "../services/CodeRuntime.ts"
import { GuestLauncher } from "../services/GuestLauncher.ts"
import type { ProgramCompiler } from "../services/ProgramCompiler.ts"
import { admit } from "./Admission.ts"
import * as RunDriver from "./RunDriver.ts"
import { keepReady } from "./Standby.ts"

/**
 * The layer of a runtime over a launcher, which is made from the checked limits. `options` are schemas of the backend's own
 * options, by name; they stand in one object with the limits.
 *
 * Fails with `InvalidLimit` for a limit or an option outside its bound, or one that does not exist, and with whatever making the launcher fails with.
 */
export const make = <E = never, E2 = never>(
  limits: LimitsInput,
  launcher: (limits: Limits) => GuestLauncher["Service"] | Effect.Effect<GuestLauncher["Service"], E, Scope.Scope>,
  compiler: Layer.Layer<ProgramCompiler, E2>,
  options: Fields = {}
): Layer.Layer<CodeRuntime, InvalidLimit | E | E2> =>
  Layer.unwrap(
    Effect.map(makeLimits(limits, options), (checked) =>
      RunDriver.layer(checked).pipe(
        Layer.provide(
          Layer.effect(
            GuestLauncher,
            Effect.gen(function* () {
              const made = launcher(checked)
              const bare = Effect.isEffect(made) ? yield* made : made
              const ready = yield* keepReady(bare, checked.standby)
              return GuestLauncher.of(admit(ready, checked.maxConcurrentRuns))
            })
          )
        ),
        Layer.provide(compiler)
      )
    )
  )
