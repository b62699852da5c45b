/**
 * Lossless JSON: the only values that cross between a host and a program.
 */
import * as Schema from "effect/Schema"
import { inspect, type Json as JsonValue } from "./LosslessJson.ts"

export { inspect, type Inspection, jsonBytes, type Offence, stringify, utf8Bytes } from "./LosslessJson.ts"

/** A value that JSON carries without loss: null, booleans, finite numbers other than -0, strings, dense arrays, plain objects. */
export type Json = JsonValue

/** Whether a value is lossless JSON, at any depth; getters and `toJSON` are never called. */
export const isJson = (value: unknown): value is Json =>
  inspect(value, "value", Number.POSITIVE_INFINITY) === "lossless"

const isPresent = (value: unknown): value is Json => value !== undefined

/**
 * Schema of lossless JSON. Unlike `Schema.Json` its check has no bound on depth, and it refuses -0, holes, extra
 * properties of arrays, hidden and computed properties, symbols as keys, and cycles.
 */
export const Json: Schema.declare<Json> = Schema.declare(isPresent, {
  identifier: "LosslessJson",
  expected: "lossless JSON"
}).check(
  // A check, and not the guard itself, so that the driver can build what it has proven without a second walk.
  Schema.makeFilter((value: Json) => {
    const found = inspect(value, "value", Number.POSITIVE_INFINITY)
    return typeof found === "string" ? undefined : found.message
  })
)
