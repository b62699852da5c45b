/**
 * What the command line says of an outcome.
 */
import {
  type CodeRunFailed,
  type CodeRunSuccess,
  type FailureKind,
  kindOf,
  type UnsettledCall
} from "../domain/CodeRun.ts"
import { type Json, stringify } from "../domain/Json.ts"

/** How values read: on one line for programs, spread for people. */
export type Layout = "line" | "spread"

/** How many times its length a spread text may have: beyond, it is more indentation than text. */
const mostGrowth = 20

const spread = (text: string): string => {
  try {
    const wide = JSON.stringify(JSON.parse(text), null, 2)
    return wide.length > mostGrowth * text.length ? text : wide
  } catch {
    // Nested more deeply than JSON.stringify reaches.
    return text
  }
}

const laidOut = (text: string, layout: Layout): string => (layout === "spread" ? spread(text) : text)

/** A value as JSON. */
export const value = (json: Json, layout: Layout): string => laidOut(stringify(json), layout)

/** A failure as text: its kind, its message with the code frame. */
export const failure = (kind: FailureKind, message: string): string => `${kind}: ${message}`

/** The whole outcome as one JSON object. */
export const outcome = (result: CodeRunSuccess | CodeRunFailed, layout: Layout): string => {
  const { logs, unsettledCalls, usage } = result
  const parts: Array<string> = []
  if ("value" in result && result.value !== undefined) parts.push(`"value":${stringify(result.value)}`)
  parts.push(`"logs":${JSON.stringify(logs)}`)
  if ("reason" in result) {
    parts.push(`"error":${JSON.stringify({ kind: kindOf(result.reason), message: result.message })}`)
  }
  parts.push(`"usage":${JSON.stringify(usage)}`, `"unsettledCalls":${JSON.stringify(unsettledCalls)}`)
  return laidOut(`{${parts.join(",")}}`, layout)
}

const mostWarnings = 10

const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u

const named = ({ global, name }: UnsettledCall): string =>
  identifier.test(name) ? `${global}.${name}` : `${global}[${JSON.stringify(name)}]`

/** Warnings of calls that were still open; where the program ended by itself it may have forgotten them. */
export const unsettled = (calls: ReadonlyArray<UnsettledCall>, endedItself: boolean): ReadonlyArray<string> => {
  const advice = endedItself ? "; did you forget `await`?" : ""
  const warnings = calls.slice(0, mostWarnings).map((call) => {
    const place = call.line === undefined ? "" : `, line ${call.line},`
    return `warning: ${named(call)}${place} was still open when the program ended${advice}`
  })
  const more = calls.length - warnings.length
  return more > 0 ? [...warnings, `warning: ${more} more calls were still open`] : warnings
}
