/**
 * What happens in a run, in order: `Started`, then logs and calls, then exactly one of `Completed` and `Failed`.
 */
import * as Schema from "effect/Schema"
import { CodeRunFailed, CodeRunSuccess } from "./CodeRun.ts"
import { Json } from "./Json.ts"

/** Where a log entry was written. */
export const LogChannel = Schema.Literals(["stdout", "stderr"])
/** Where a log entry was written. */
export type LogChannel = typeof LogChannel.Type

/** The program is compiled and begins to run. */
export const Started = Schema.TaggedStruct("Started", {})

/** One log entry. */
export const Log = Schema.TaggedStruct("Log", { channel: LogChannel, text: Schema.String })

/** A call reached the host; its function runs after this event was read. */
export const CallStarted = Schema.TaggedStruct("CallStarted", {
  id: Schema.Finite,
  global: Schema.String,
  name: Schema.String,
  args: Json
})

/** A call was answered: `ok` when its function succeeded. */
export const CallSettled = Schema.TaggedStruct("CallSettled", {
  id: Schema.Finite,
  ok: Schema.Boolean,
  ms: Schema.Finite
})

/** The program ended by itself. */
export const Completed = Schema.TaggedStruct("Completed", { success: CodeRunSuccess })

/** The run failed. */
export const Failed = Schema.TaggedStruct("Failed", { failure: CodeRunFailed })

/** An event of a run. */
export const RunEvent = Schema.Union([Started, Log, CallStarted, CallSettled, Completed, Failed]).pipe(
  Schema.toTaggedUnion("_tag")
)
/** An event of a run. */
export type RunEvent = typeof RunEvent.Type
