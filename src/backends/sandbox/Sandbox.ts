/**
 * Programs behind a hard boundary: each guest is built by bubblewrap, unprivileged and without a daemon. It sees its
 * interpreter, read-only, and a small private `/tmp`; nothing of the host, no network, no other processes.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { InvalidLimit, Limits, LimitsInput } from "../../domain/Limits.ts"
import * as RuntimeLayer from "../../layers/RuntimeLayer.ts"
import type { CodeRuntime } from "../../services/CodeRuntime.ts"
import type { GuestLauncher } from "../../services/GuestLauncher.ts"
import * as ProgramCompiler from "../../services/ProgramCompiler.ts"
import * as TypeScriptCompiler from "../typescript-compiler/TypeScriptCompiler.ts"
import * as Bubblewrap from "./Bubblewrap.ts"
import * as Containers from "./oci/Containers.ts"
import * as OciPolicy from "./oci/OciPolicy.ts"
import * as Policy from "./Policy.ts"
import type { SandboxUnavailable } from "./SandboxUnavailable.ts"

export type { EngineName, OciPolicy } from "./oci/OciPolicy.ts"
export type { Language, Mount, Policy } from "./Policy.ts"
export { SandboxUnavailable } from "./SandboxUnavailable.ts"

/** Options of the backend: the language, the limits, and what a guest may see beyond its interpreter. */
export interface Options extends LimitsInput, Policy.Policy {}

/**
 * Launches guests in sandboxes of bubblewrap. The engine is found and tried once, here.
 *
 * Fails with `InvalidLimit` for an option outside its bound, and with `SandboxUnavailable` where no sandbox can be made;
 * it never falls back to anything weaker.
 */
export const launcher = (
  limits: Limits,
  policy: Policy.Policy
): Effect.Effect<GuestLauncher["Service"], InvalidLimit | SandboxUnavailable, Scope.Scope> =>
  Effect.gen(function* () {
    const checked = yield* Policy.check(policy)
    const { launch } = yield* Bubblewrap.make(limits, checked)
    const { standbyMs } = checked
    return { language: checked.language, isolation: "container", standbyMs, launch }
  })

/** A caller without types may give no options at all; the launcher's check says so. */
const compilerOf = (
  options: { readonly language: Policy.Language } | undefined
): Layer.Layer<ProgramCompiler.ProgramCompiler> =>
  Layer.suspend(() => (options?.language === "typescript" ? TypeScriptCompiler.layer : ProgramCompiler.layerIdentity))

/**
 * A code runtime of sandboxes, `isolation` `container`.
 *
 * Fails with `InvalidLimit` for an option outside its bound, and with `SandboxUnavailable` where no sandbox can be made.
 */
export const layer = (options: Options): Layer.Layer<CodeRuntime, InvalidLimit | SandboxUnavailable> =>
  RuntimeLayer.make(options, (checked) => launcher(checked, options), compilerOf(options), Policy.optionFields)

/** Options of containers: the language, the image, the limits, and what a guest may use. */
export interface OciOptions extends LimitsInput, OciPolicy.OciPolicy {}

/**
 * Launches guests in containers of an OCI engine. The engine and the image are looked at and tried once, here, and what
 * hosts that crashed left with the engine is removed.
 *
 * Fails with `InvalidLimit` for an option outside its bound, and with `SandboxUnavailable` where no engine answers, it does
 * not have the image, or a first program does not come through.
 */
export const launcherOci = (
  limits: Limits,
  policy: OciPolicy.OciPolicy
): Effect.Effect<GuestLauncher["Service"], InvalidLimit | SandboxUnavailable, Scope.Scope> =>
  Effect.gen(function* () {
    const checked = yield* OciPolicy.check(policy)
    const { launch } = yield* Containers.make(limits, checked)
    return { language: checked.language, isolation: "container", standbyMs: checked.standbyMs, launch }
  })

/**
 * A code runtime of containers of an OCI engine, `isolation` `container`.
 *
 * Fails with `InvalidLimit` for an option outside its bound, and with `SandboxUnavailable` where no engine answers, it does
 * not have the image, or a first program does not come through.
 */
export const layerOci = (options: OciOptions): Layer.Layer<CodeRuntime, InvalidLimit | SandboxUnavailable> =>
  RuntimeLayer.make(options, (checked) => launcherOci(checked, options), compilerOf(options), OciPolicy.optionFields)
