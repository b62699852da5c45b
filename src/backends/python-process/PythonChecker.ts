/**
 * Says whether a Python program compiles: by the guest's own compiler, in a process that runs nothing of the program.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { type CompiledProgram, ProgramCompiler, ProgramRejected } from "../../services/ProgramCompiler.ts"
import * as Interpreter from "./Interpreter.ts"

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const Rejection = Schema.fromJsonString(
  Schema.Struct({
    message: Schema.String,
    frames: Schema.Array(Schema.Struct({ line: Schema.Int, column: Schema.optionalKey(Schema.Int) }))
  })
)

/** A text that takes longer to compile, in milliseconds, is refused; the guest gives a very long one four seconds. */
const patienceMs = 20_000

const tooMuch = "SyntaxError: the program is nested too deeply, or too long for the compiler"

const compile = (executable: string, program: string): Effect.Effect<CompiledProgram, ProgramRejected> =>
  Effect.callback((resume) => {
    const args = ["-I", "-S", "-B", "-W", "ignore", fileOf("./check.py"), fileOf("../python-guest/guest.py")]
    const child = execFile(executable, args, { env: {}, timeout: patienceMs }, (error, stdout) => {
      const told = Schema.decodeOption(Rejection)(stdout)
      if (told._tag === "Some") {
        const { frames, message } = told.value
        return resume(Effect.fail(new ProgramRejected({ message, ...frames[0] })))
      }
      // An interpreter that a text brings down says nothing.
      if (error !== null) return resume(Effect.fail(new ProgramRejected({ message: tooMuch })))
      resume(Effect.succeed({ code: program, columnOffset: 0, locate: (line, column) => ({ line, column }) }))
    })
    child.stdin?.on("error", () => {})
    child.stdin?.end(program)
    return Effect.sync(() => void child.kill("SIGKILL"))
  })

/**
 * The compiler of Python programs as a check: what it gives is the program itself.
 *
 * Fails with `PythonUnavailable` where no CPython of at least 3.10 is found; `python` is the one to use.
 */
export const make = (python?: string): Layer.Layer<ProgramCompiler, Interpreter.PythonUnavailable> =>
  Layer.effect(
    ProgramCompiler,
    Effect.map(Interpreter.find(python), ({ executable }) =>
      ProgramCompiler.of({ compile: (program) => compile(executable, program) })
    )
  )

/** The check by the host's own CPython. */
export const layer: Layer.Layer<ProgramCompiler, Interpreter.PythonUnavailable> = make()
