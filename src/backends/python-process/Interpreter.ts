/**
 * Finds a CPython and compiles the guest for it.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** No CPython of at least 3.10 could be started; says what was tried and found. */
export class PythonUnavailable extends Schema.TaggedError<PythonUnavailable>()("PythonUnavailable", {
  message: Schema.String
}) {}

/** An interpreter, and the guest as it takes it. */
export interface Interpreter {
  readonly executable: string
  /** Such as `3.11.2`. */
  readonly version: string
  /** The guest's code object, as marshal writes it. */
  readonly guest: Uint8Array
}

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const sources = [fileOf("../python-guest/guest.py"), fileOf("./start.py")]
const newline = 10

const Found = Schema.fromJsonString(Schema.Struct({ executable: Schema.String, version: Schema.String }))

/** Asks one interpreter; a text says why it will not do. */
const ask = (python: string): Effect.Effect<Interpreter | string> =>
  Effect.callback<Interpreter | string>((resume) => {
    execFile(
      python,
      ["-I", "-S", "-B", fileOf("./probe.py"), ...sources],
      { encoding: "buffer", maxBuffer: 2 ** 26, timeout: 20_000 },
      (error, stdout, stderr) => {
        const end = stdout.indexOf(newline)
        const told = Schema.decodeOption(Found)(stdout.subarray(0, Math.max(0, end)).toString())
        if (told._tag === "None") {
          const reason = stderr.toString().trim().split("\n").at(-1)
          return resume(
            Effect.succeed(
              `${python} ${error === null ? "is no CPython" : `does not start (${reason || error.message})`}`
            )
          )
        }
        const { executable, version } = told.value
        const guest = stdout.subarray(end + 1)
        if (guest.length > 0 && error === null) return resume(Effect.succeed({ executable, version, guest }))
        const [major = 0, minor = 0] = version.split(".").map(Number)
        resume(
          Effect.succeed(
            major > 3 || (major === 3 && minor >= 10)
              ? `${python} cannot compile the guest (${stderr.toString().trim().split("\n").at(-1)})`
              : `${python} is ${version}`
          )
        )
      }
    )
  })

/** Interpreters that were found, by the name that they were asked for. */
const known = new Map<string, Interpreter>()

/**
 * The interpreter to use: the one named, or the system's, or the first on `PATH`.
 *
 * The executable itself is found behind a version manager's shim, which would cost every start. `by` is where a caller can
 * name one, if there is such a place, for the message of the failure.
 */
export const find = (python: string | undefined, by?: string): Effect.Effect<Interpreter, PythonUnavailable> =>
  Effect.gen(function* () {
    const failures: Array<string> = []
    for (const name of python === undefined ? ["/usr/bin/python3", "python3"] : [python]) {
      const before = known.get(name)
      if (before !== undefined && existsSync(before.executable)) return before
      const found = yield* ask(name)
      if (typeof found !== "string") {
        known.set(name, found)
        return found
      }
      failures.push(found)
    }
    return yield* new PythonUnavailable({
      message: `Python programs need CPython 3.10 or newer, but ${failures.join(" and ")}; install one${by === undefined ? "" : `, or name it by ${by}`}`
    })
  })
