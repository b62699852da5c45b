/**
 * The options that all process backends have, as schemas.
 */
import * as Schema from "effect/Schema"
import { bounded } from "../../domain/Options.ts"

/** Whether a control group holds each guest where the host may make one. */
export const cgroup = bounded(Schema.Boolean, "true or false")

/** How long a standby waits for a program, in milliseconds. */
export const standbyMs = bounded(Schema.Number, "a number of at least 0; Infinity is for ever", (value) => value >= 0)
