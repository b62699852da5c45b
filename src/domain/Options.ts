/**
 * What a caller gives a layer: an object of options, each known by its name and within its bound.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { nearest } from "./Spelling.ts"

/** The schema of an option; its description is the bound in words. */
export type Field = Schema.ConstraintDecoder<unknown>

/** Options by their names. */
export type Fields = { readonly [key: string]: Field }

/** The schema with its bound in words, and a check that its type does not make. */
export const bounded = <A>(
  schema: Schema.Codec<A>,
  bound: string,
  holds: (value: A) => boolean = () => true
): Schema.Codec<A> =>
  schema.check(Schema.makeFilter((value: A) => (holds(value) ? undefined : bound), { description: bound }))

/** The bound of an option in words, also of one that may be left out; undefined for a schema that says none. */
export const boundOf = ({ ast }: Schema.Constraint): string | undefined => {
  for (const each of ast._tag === "Union" ? [ast, ...ast.types] : [ast]) {
    const bound = (each.checks?.at(-1) ?? each).annotations?.description
    if (typeof bound === "string") return bound
  }
  return undefined
}

const shown = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value)
  if (typeof value === "function") return "a function"
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "an array" : "an object"
  return String(value)
}

/** A limit outside its bound, or an option that does not exist: names the key, the value and the bound. */
export class InvalidLimit extends Schema.TaggedError<InvalidLimit>()("InvalidLimit", {
  key: Schema.String,
  value: Schema.Unknown,
  bound: Schema.String
}) {
  override get message(): string {
    return `${this.key} is ${shown(this.value)}; it must be ${this.bound}`
  }
}

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The offence of a key that is none of the options. */
export const unknownKey = (key: string, value: unknown, keys: ReadonlyArray<string>): InvalidLimit => {
  const meant = nearest(key, keys)
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`
  const all = keys.length === 0 ? "There are no options" : `The options are ${keys.join(", ")}`
  const bound = `left out: there is no such option${hint || "."} ${all}`
  return new InvalidLimit({ key, value, bound })
}

/** What is inside of an option is as known as the option itself: an excess key is no slip to pass over. */
const holds = (field: Field, value: unknown): boolean =>
  Result.isSuccess(Schema.decodeUnknownResult(field, { onExcessProperty: "error" })(value))

/** The first option that is not one of the fields or outside its bound. A key that is `undefined` counts as left out. */
export const offence = (input: unknown, fields: Fields): InvalidLimit | undefined => {
  if (!isRecord(input)) return new InvalidLimit({ key: "options", value: input, bound: "an object of options" })
  for (const [key, value] of Object.entries(input)) {
    if (value === undefined) continue
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (field === undefined) return unknownKey(key, value, Object.keys(fields))
    if (!holds(field, value)) return new InvalidLimit({ key, value, bound: boundOf(field) ?? "of another type" })
  }
  return undefined
}

/** The first option without a default that a caller without types has left out. */
export const missing = <F extends Fields>(
  input: { readonly [key in keyof F]?: unknown },
  fields: F,
  keys: ReadonlyArray<keyof F & string>
): InvalidLimit | undefined => {
  const key = keys.find((each) => input[each] === undefined)
  const field = key === undefined ? undefined : fields[key]
  return key === undefined || field === undefined
    ? undefined
    : new InvalidLimit({ key, value: undefined, bound: boundOf(field) ?? "given" })
}
