/**
 * How a command ends other than well.
 */
import * as Schema from "effect/Schema"
import * as ExitCode from "./ExitCode.ts"

/** The command ends with this exit code; `message` is still to be told, on standard error. */
export class Stopped extends Schema.TaggedError<Stopped>()("Stopped", {
  exitCode: Schema.Int,
  message: Schema.optionalKey(Schema.String)
}) {}

/** Nothing ran: what was asked for cannot be had. */
export const unusable = (error: Error): Stopped => new Stopped({ exitCode: ExitCode.usage, message: error.message })
