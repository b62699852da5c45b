/**
 * How a command ends other than well.
 */
import * as Schema from "effect/Schema"

/** The command ends with this exit code; `message` is still to be told, on standard error. */
export class Stopped extends Schema.TaggedError<Stopped>()("Stopped", {
  exitCode: Schema.Int,
  message: Schema.optionalKey(Schema.String)
}) {}
