/**
 * TypeScript programs in Node processes of their own: what a thread of the host's process cannot survive ends the guest
 * alone.
 */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { InvalidLimit, Limits, LimitsInput } from "../../domain/Limits.ts"
import * as RuntimeLayer from "../../layers/RuntimeLayer.ts"
import type { CodeRuntime } from "../../services/CodeRuntime.ts"
import type { GuestLauncher } from "../../services/GuestLauncher.ts"
import { type NodePermission, permissionFlags, permissionOrFalse } from "../javascript-guest/NodePermission.ts"
import { lastWords } from "../process/Ending.ts"
import * as Platform from "../process/Platform.ts"
import * as Premises from "../process/Premises.ts"
import * as ProcessGuest from "../process/ProcessGuest.ts"
import * as ProcessOptions from "../process/ProcessOptions.ts"
import { statusMb } from "../process/ProcessTable.ts"
import * as TypeScriptCompiler from "../typescript-compiler/TypeScriptCompiler.ts"

export { UnsupportedPlatform } from "../process/Platform.ts"

/** What programs may do. Their private working directory may always be read and written. */
export type Permission = NodePermission

/** Options of the backend: the limits, and what a guest may do. */
export interface Options extends LimitsInput {
  /**
   * Node's permission model for each guest; `false` turns it off. By default ordinary programs work: they read files, and
   * start processes and workers; they write nothing outside of their private working directory, and load no addons.
   * A process that a program may start is bound by none of this: see `docs/security.md`.
   */
  readonly permission?: Permission | false | undefined
  /** Whether a control group (version 2) holds each guest where the host may make one; true by default. */
  readonly cgroup?: boolean | undefined
  /** How long a standby waits for a program before it is given up, in milliseconds; 500 by default. */
  readonly standbyMs?: number | undefined
}

/** What programs may do by default. */
export const defaultPermission: Permission = { allowRead: ["*"], allowChildProcess: true, allowWorker: true }

const entry = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./guest-process.ts" : "./guest-process.cjs", import.meta.url)
)

const flagsOf = (permission: Permission | false, folder: string): ReadonlyArray<string> => {
  if (permission === false) return []
  // The folder is made when a program comes, so Node does not see that it is one.
  const own = [folder, `${folder}/*`]
  // The guest itself. Its sources, where it was not built, lie in folders of their own.
  const guest = entry.endsWith(".ts") ? fileURLToPath(new URL("../..", import.meta.url)) : entry
  return permissionFlags({
    ...permission,
    // The guest looks at its descriptors before a program comes.
    allowRead: [...own, "/proc/self/fdinfo", guest, ...(permission.allowRead ?? [])],
    allowWrite: [...own, ...(permission.allowWrite ?? [])]
  })
}

/** What every guest's Node is started with: one thread beside its own, and no warnings of flags on standard error. */
const flags = ["--v8-pool-size=1", "--no-warnings"]

/** Private writable memory that Node has reserved before any program, in MiB, where it cannot be measured. */
const usualIdleMb = 640
/** What a guest may need beside that and its budget: a young generation, code, stacks. */
const slackMb = 32

/** Measured once: it differs with Node's version and the machine. */
let idle: Promise<number> | undefined
const measureIdle = (): Promise<number> =>
  (idle ??= new Promise((resolve) => {
    const script = "process.stdout.write(require('fs').readFileSync('/proc/self/status'))"
    execFile(process.execPath, [...flags, "-e", script], { env: {}, timeout: 20_000 }, (_, status) =>
      resolve(statusMb(status, "VmData") ?? usualIdleMb)
    )
  }))

/**
 * Launches Node processes. What they share on the host is given up with the scope.
 *
 * Fails with `UnsupportedPlatform` elsewhere than on Linux.
 */
export const launcher = (
  limits: Limits,
  options: Pick<Options, "permission" | "cgroup" | "standbyMs"> = {}
): Effect.Effect<GuestLauncher["Service"], Platform.UnsupportedPlatform, Scope.Scope> =>
  Effect.gen(function* () {
    yield* Platform.check
    const permission = options.permission ?? defaultPermission
    const { maxMemoryMb } = limits
    const premises = yield* Premises.make({ cgroup: options.cgroup ?? true })
    const prlimit = Premises.found("prlimit")
    const heapMb = Math.max(1, Math.floor(maxMemoryMb))
    const measured = measureIdle()
    return {
      language: "typescript",
      isolation: "process",
      standbyMs: options.standbyMs ?? ProcessGuest.standbyMs,
      launch: Effect.flatMap(
        Effect.promise(() => measured),
        (idleMb) =>
          ProcessGuest.launch(premises, {
            command: ({ folder, mark }) => [
              ...(prlimit === undefined
                ? []
                : [
                    prlimit,
                    "--core=0",
                    `--rttime=${mark}`,
                    `--data=${Math.ceil((idleMb + slackMb + maxMemoryMb) * 1_048_576)}`,
                    "--"
                  ]),
              process.execPath,
              ...flags,
              `--max-old-space-size=${heapMb}`,
              ...flagsOf(permission, folder),
              entry,
              folder
            ],
            memoryMb: idleMb + slackMb + maxMemoryMb,
            lastWords: lastWords.typescript,
            maxConcurrentCalls: limits.maxConcurrentCalls
          })
      )
    }
  })

/** Schemas of the options beside the limits. */
export const optionFields = {
  permission: permissionOrFalse,
  cgroup: ProcessOptions.cgroup,
  standbyMs: ProcessOptions.standbyMs
}

/**
 * A code runtime of Node processes, `language` `typescript`, `isolation` `process`.
 *
 * Fails with `InvalidLimit` for an option outside its bound, and with `UnsupportedPlatform` elsewhere than on Linux.
 */
export const layer = (options: Options = {}): Layer.Layer<CodeRuntime, InvalidLimit | Platform.UnsupportedPlatform> =>
  RuntimeLayer.make(options, (checked) => launcher(checked, options), TypeScriptCompiler.layer, optionFields)
