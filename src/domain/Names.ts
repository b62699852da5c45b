/**
 * Names that a request may give to globals, error classes and their properties, on every backend alike.
 *
 * The sets are those of the seam: a name that one language or one backend cannot use is refused by all, so that a list
 * of bindings that is valid on one backend is valid on every other.
 */
import * as Schema from "effect/Schema"

/** Reserved words of ECMAScript and Python together, soft keywords included. */
export const reservedWords: ReadonlySet<string> = new Set(
  (
    "await break case catch class const continue debugger default delete do else enum export extends false finally for " +
    "function if import in instanceof new null return super switch this throw true try typeof var void while with yield " +
    "let static implements interface package private protected public arguments eval " +
    "False None True and as assert async def del elif except from global is lambda nonlocal not or pass raise " +
    "match type _"
  ).split(" ")
)

/**
 * Globals that a backend owns: `console`, the slots of Python's module scope, the guests' own slot, and those properties
 * of the JavaScript global object that nothing can replace.
 */
export const reservedGlobals: ReadonlySet<string> = new Set([
  "console",
  "__dsh_main__",
  "__builtins__",
  "__name__",
  "__debug__",
  "__loader__",
  "__annotations__",
  "__code_runtime__",
  "undefined",
  "NaN",
  "Infinity"
])

/** Properties of an error object that a member property would break, in JavaScript or Python. */
export const reservedErrorMembers: ReadonlySet<string> = new Set([
  "name",
  "message",
  "stack",
  "args",
  "with_traceback",
  "add_note"
])

/** Names of the form `__x__`: Python's object protocol, refused as error members. */
export const dunderMember = /^__.+__$/su

const portableIdentifier = /^[A-Za-z_][A-Za-z0-9_]*$/u

/** The rule that a global's or an error class's name breaks, in words; undefined when it breaks none. */
export const offenceOfGlobal = (name: string): string | undefined => {
  if (!portableIdentifier.test(name))
    return "is not an identifier that every language has: it must match [A-Za-z_][A-Za-z0-9_]*"
  if (reservedWords.has(name)) return "is a reserved word of ECMAScript or Python"
  if (reservedGlobals.has(name)) return "is a global that a backend owns"
  return undefined
}

/** The rule that a member property's name breaks, in words; undefined when it breaks none. */
export const offenceOfErrorMember = (name: string): string | undefined => {
  if (name === "") return "is empty"
  if (reservedErrorMembers.has(name)) return "is a property that every error has in JavaScript or Python"
  if (dunderMember.test(name)) return "has the form __x__, which belongs to Python's object protocol"
  return undefined
}

const named = (offenceOf: (name: string) => string | undefined) =>
  Schema.makeFilter((name: string) => {
    const offence = offenceOf(name)
    return offence === undefined ? undefined : `${JSON.stringify(name)} ${offence}`
  })

/** The name of a namespace's global or of an error class. */
export const GlobalName = Schema.String.check(named(offenceOfGlobal)).annotate({ identifier: "GlobalName" })

/** The name of the property by which an error tells the binding that failed. */
export const ErrorMemberName = Schema.String.check(named(offenceOfErrorMember)).annotate({
  identifier: "ErrorMemberName"
})
