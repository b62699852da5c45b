/**
 * What a request must be before any guest is started.
 */
import { CodeRuntimeMisuse, InvalidBinding, InvalidRequest } from "./CodeRun.ts"
import { offenceOfErrorMember, offenceOfGlobal } from "./Names.ts"
import { nearest } from "./Spelling.ts"

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null

const invalidRequest = (message: string) => new CodeRuntimeMisuse({ reason: new InvalidRequest({ message }) })

const invalidBinding = (name: string, message: string) =>
  new CodeRuntimeMisuse({ reason: new InvalidBinding({ name, message }) })

const said = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "an array" : typeof value)

/**
 * The misuse of a key that is a slip of the one that was meant, such as `binding`. Keys that look like none of ours may stay:
 * a caller's object can hold more than is asked of it, as objects of any type may.
 */
const misspelt = (
  at: string,
  object: { readonly [key: string]: unknown },
  keys: ReadonlyArray<string>
): CodeRuntimeMisuse | undefined => {
  for (const key of Object.keys(object)) {
    if (object[key] === undefined || keys.includes(key)) continue
    const meant = nearest(key, keys)
    if (meant === undefined || object[meant] !== undefined) continue
    return invalidRequest(`${at} has no key ${JSON.stringify(key)}; did you mean ${meant}?`)
  }
  return undefined
}

/** Names of a request that were seen, so that each is used once. */
const claim = (names: Set<string>, name: string, what: string): CodeRuntimeMisuse | undefined => {
  const offence = offenceOfGlobal(name)
  if (offence !== undefined) return invalidBinding(name, `${what} ${JSON.stringify(name)} ${offence}`)
  if (names.has(name)) {
    return invalidBinding(
      name,
      `${what} ${JSON.stringify(name)} is used twice in one request; every global must be unique`
    )
  }
  names.add(name)
  return undefined
}

const checkNamespace = (namespace: unknown, at: string, names: Set<string>): CodeRuntimeMisuse | undefined => {
  if (!isRecord(namespace)) return invalidRequest(`${at} is ${said(namespace)}; it must be { global, functions }`)
  const slip = misspelt(at, namespace, ["global", "functions", "errorClass"])
  if (slip !== undefined) return slip
  const { errorClass, functions, global } = namespace
  if (typeof global !== "string") return invalidRequest(`${at}.global is ${said(global)}; it must be a string`)
  const misuse = claim(names, global, "the namespace")
  if (misuse !== undefined) return misuse
  if (!isRecord(functions))
    return invalidRequest(`${at}.functions is ${said(functions)}; it must be an object of functions`)
  for (const name of Object.keys(functions)) {
    if (typeof functions[name] !== "function") {
      return invalidBinding(
        name,
        `the binding ${JSON.stringify(name)} of ${global} is ${said(functions[name])}; it must be a function`
      )
    }
  }
  if (errorClass === undefined) return undefined
  const slipInside = isRecord(errorClass)
    ? misspelt(`${at}.errorClass`, errorClass, ["name", "memberNameProperty"])
    : undefined
  if (slipInside !== undefined) return slipInside
  if (
    !isRecord(errorClass) ||
    typeof errorClass.name !== "string" ||
    typeof errorClass.memberNameProperty !== "string"
  ) {
    return invalidRequest(`${at}.errorClass must be { name, memberNameProperty }, both strings`)
  }
  const claimed = claim(names, errorClass.name, "the error class")
  if (claimed !== undefined) return claimed
  const member = errorClass.memberNameProperty
  const offence = offenceOfErrorMember(member)
  return offence === undefined
    ? undefined
    : invalidBinding(
        member,
        `the member property ${JSON.stringify(member)} of the error class ${errorClass.name} ${offence}`
      )
}

/** The rule of the seam that a request breaks, or undefined. */
export const checkRequest = (request: unknown): CodeRuntimeMisuse | undefined => {
  if (!isRecord(request))
    return invalidRequest(`the request is ${said(request)}; it must be { program, bindings?, signal? }`)
  const slip = misspelt("the request", request, ["program", "bindings", "signal"])
  if (slip !== undefined) return slip
  const { bindings, program, signal } = request
  if (typeof program !== "string") return invalidRequest(`request.program is ${said(program)}; it must be a string`)
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    return invalidRequest(`request.signal is ${said(signal)}; it must be an AbortSignal`)
  }
  if (bindings === undefined) return undefined
  if (!Array.isArray(bindings))
    return invalidRequest(`request.bindings is ${said(bindings)}; it must be a list of namespaces`)
  const names = new Set<string>()
  for (const [index, namespace] of bindings.entries()) {
    const misuse = checkNamespace(namespace, `request.bindings[${index}]`, names)
    if (misuse !== undefined) return misuse
  }
  return undefined
}
