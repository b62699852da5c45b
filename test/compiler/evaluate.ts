/** Evaluates compiled programs as the JavaScript guest does. */
import * as vm from "node:vm"
import { compile, type Rejected } from "../../src/backends/typescript-compiler/compile.ts"
import { type Compiled, makeLocate } from "../../src/backends/typescript-compiler/locate.ts"

export interface Evaluated {
  readonly value?: unknown
  readonly rejected?: string
  readonly place?: string
  readonly error?: string
  /** The places of the program in the error's stack, innermost first, as `line:column`. */
  readonly frames?: ReadonlyArray<string>
}

export const isRejected = (result: Compiled | Rejected): result is Rejected => "rejected" in result

export const compiledOf = (program: string): Compiled => {
  const result = compile(program)
  if (isRejected(result)) throw new Error(result.rejected)
  return result
}

/** The places of V8 itself: what a test runner makes of a stack has no columns before the first. */
const sitesOf = (error: Error): ReadonlyArray<NodeJS.CallSite> => {
  const before = Error.prepareStackTrace
  try {
    let found: ReadonlyArray<NodeJS.CallSite> = []
    Error.prepareStackTrace = (_, sites) => {
      found = sites
      return ""
    }
    void error.stack
    return found
  } finally {
    Error.prepareStackTrace = before
  }
}

export const framesOf = (error: Error, locate: ReturnType<typeof makeLocate>): ReadonlyArray<string> =>
  sitesOf(error).flatMap((site) => {
    if (site.getFileName() !== "program.ts") return []
    const place = locate(site.getLineNumber() ?? 0, site.getColumnNumber() ?? 0)
    return place === undefined ? [] : [`${place.line}:${place.column}`]
  })

/** The async function that a script gives, called with `this` undefined. */
export const call = (code: string, columnOffset: number): Promise<unknown> => {
  const script = new vm.Script(code, {
    filename: "program.ts",
    columnOffset,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  })
  const main: unknown = script.runInThisContext()
  if (typeof main !== "function") throw new Error("the script gave no function")
  return Promise.resolve(Reflect.apply(main, undefined, []))
}

export const evaluate = async (program: string): Promise<Evaluated> => {
  const result = compile(program)
  if (isRejected(result)) {
    return {
      rejected: result.rejected,
      ...(result.line === undefined ? {} : { place: `${result.line}:${result.column}` })
    }
  }
  try {
    return { value: await call(result.code, result.columnOffset) }
  } catch (error) {
    if (!(error instanceof Error)) return { error: String(error), frames: [] }
    return { error: `${error.name}: ${error.message}`, frames: framesOf(error, makeLocate(program, result)) }
  }
}

/** Whether the program was compiled without printing it anew. */
export const isBlanked = (program: string): boolean => compiledOf(program).mappings === undefined
