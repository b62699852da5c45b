/**
 * Python programs in processes of their own, run by a CPython of the host (3.10 or newer).
 */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { InvalidLimit, Limits, LimitsInput } from "../../domain/Limits.ts"
import { bounded } from "../../domain/Options.ts"
import * as RuntimeLayer from "../../layers/RuntimeLayer.ts"
import type { CodeRuntime } from "../../services/CodeRuntime.ts"
import type { GuestLauncher } from "../../services/GuestLauncher.ts"
import * as ProgramCompiler from "../../services/ProgramCompiler.ts"
import { lastWords } from "../process/Ending.ts"
import * as Platform from "../process/Platform.ts"
import * as Premises from "../process/Premises.ts"
import * as ProcessGuest from "../process/ProcessGuest.ts"
import * as ProcessOptions from "../process/ProcessOptions.ts"
import * as Interpreter from "./Interpreter.ts"

export { UnsupportedPlatform } from "../process/Platform.ts"
export { PythonUnavailable } from "./Interpreter.ts"

/** Options of the backend: the limits, and how guests are started. */
export interface Options extends LimitsInput {
  /** The executable of CPython, a path or a name on `PATH`; by default `/usr/bin/python3`, else `python3`. */
  readonly python?: string | undefined
  /** Whether a control group (version 2) holds each guest where the host may make one; true by default. */
  readonly cgroup?: boolean | undefined
  /** How long a standby waits for a program before it is given up, in milliseconds; 500 by default. */
  readonly standbyMs?: number | undefined
}

/** Runs the guest, whose code comes on standard input: compiling it would take longer than all the rest. */
const starting = `import sys, marshal
__name__ = "guest"
exec(marshal.loads(sys.stdin.buffer.read()))`

/** Address space of an interpreter before any program, in MiB. */
const idleMb = 48

/**
 * Launches CPython processes. What they share on the host is given up with the scope.
 *
 * Fails with `PythonUnavailable` where no CPython of at least 3.10 is found, and with `UnsupportedPlatform` elsewhere
 * than on Linux.
 */
export const launcher = (
  limits: Limits,
  options: Pick<Options, "python" | "cgroup" | "standbyMs"> = {}
): Effect.Effect<GuestLauncher["Service"], Interpreter.PythonUnavailable | Platform.UnsupportedPlatform, Scope.Scope> =>
  Effect.gen(function* () {
    yield* Platform.check
    const { executable, guest } = yield* Interpreter.find(options.python, "the option python of PythonProcess.layer")
    const premises = yield* Premises.make({ cgroup: options.cgroup ?? true })
    const space = Math.ceil((idleMb + limits.maxMemoryMb) * 1_048_576)
    return {
      language: "python",
      isolation: "process",
      standbyMs: options.standbyMs ?? ProcessGuest.standbyMs,
      launch: ProcessGuest.launch(premises, {
        command: ({ folder, mark }) => [executable, "-ISuBc", starting, String(space), String(mark), folder],
        input: guest,
        memoryMb: idleMb + limits.maxMemoryMb,
        lastWords: lastWords.python,
        maxConcurrentCalls: limits.maxConcurrentCalls
      })
    }
  })

/** Schemas of the options beside the limits. */
export const optionFields = {
  python: bounded(Schema.String, "the path of a CPython, or its name on PATH", (value) => value !== ""),
  cgroup: ProcessOptions.cgroup,
  standbyMs: ProcessOptions.standbyMs
}

/**
 * A code runtime of CPython processes, `language` `python`, `isolation` `process`.
 *
 * Fails with `InvalidLimit` for an option outside its bound, with `PythonUnavailable` where no CPython of at least 3.10 is
 * found, and with `UnsupportedPlatform` elsewhere than on Linux.
 */
export const layer = (
  options: Options = {}
): Layer.Layer<CodeRuntime, InvalidLimit | Interpreter.PythonUnavailable | Platform.UnsupportedPlatform> =>
  RuntimeLayer.make(options, (checked) => launcher(checked, options), ProgramCompiler.layerIdentity, optionFields)
