/**
 * Turns the text of a program into what a guest evaluates.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

/** A place in a text: line and column, both from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** A program as its guest takes it. */
export interface CompiledProgram {
  /**
   * What the guest evaluates. For JavaScript: a script whose value is an async function that is then called with `this`
   * undefined. For languages that the guest compiles itself: the program.
   */
  readonly code: string
  /** What the columns of the first line of `code` are shifted by; 0 or less. */
  readonly columnOffset: number
  /**
   * The place in the program of a place that the guest reports (from 1, after `columnOffset`); undefined for what the
   * compiler added. A column may be 0 or less on the first line.
   */
  readonly locate: (line: number, column: number) => Place | undefined
}

/** A program that cannot be compiled. `message` starts with `SyntaxError: `; `line` and `column` count from 1. */
export class ProgramRejected extends Schema.TaggedError<ProgramRejected>()("ProgramRejected", {
  message: Schema.String,
  line: Schema.optionalKey(Schema.Int),
  column: Schema.optionalKey(Schema.Int)
}) {}

/** Compiles the programs of one language. */
export class ProgramCompiler extends Context.Service<
  ProgramCompiler,
  {
    /** The program compiled; fails with `ProgramRejected` for a text that does not parse or takes too much to compile. */
    readonly compile: (program: string) => Effect.Effect<CompiledProgram, ProgramRejected>
  }
>()("effect-code-runtime/ProgramCompiler") {}

/** Leaves programs as they are, for languages that the guest compiles itself. */
export const layerIdentity: Layer.Layer<ProgramCompiler> = Layer.succeed(
  ProgramCompiler,
  ProgramCompiler.of({
    compile: (program) =>
      Effect.succeed({ code: program, columnOffset: 0, locate: (line, column) => ({ line, column }) })
  })
)
