/**
 * `code-runtime check`: compiles a program and runs nothing.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { render } from "../domain/Diagnostic.ts"
import { type ProgramRejected, ProgramCompiler } from "../services/ProgramCompiler.ts"
import * as Backends from "./Backends.ts"
import * as ExitCode from "./ExitCode.ts"
import { orStop } from "./Interruption.ts"
import { writeLine } from "./Output.ts"
import * as Report from "./Report.ts"
import * as Source from "./Source.ts"
import { Stopped, unusable } from "./Stopped.ts"

const explained = ({ column, line, message }: ProgramRejected, program: string, file: string): string => {
  const frames = line === undefined ? [] : [{ line, ...(column === undefined ? {} : { column }) }]
  return render({ message, frames }, program, file)[0] ?? message
}

export const check = Effect.fnUntraced(function* ({ file }: { readonly file: string }) {
  const compiler = yield* Backends.checkerFor(file)
  const [services, program] = yield* orStop(
    Effect.all([Effect.mapError(Layer.build(compiler.layer), unusable), Source.read(file)], {
      concurrency: "unbounded"
    })
  )
  const compiled = yield* orStop(Effect.result(Context.get(services, ProgramCompiler).compile(program)))
  if (compiled._tag === "Success") return
  yield* writeLine("stderr", Report.failure("exception", explained(compiled.failure, program, compiler.file)))
  return yield* new Stopped({ exitCode: ExitCode.failures.exception })
}, Effect.scoped)
