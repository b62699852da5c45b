/**
 * Namespaces of bindings from modules that the user names.
 */
import * as Effect from "effect/Effect"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { namespaceOf, type PromiseBindingFunction } from "../adapters/PromiseAdapter.ts"
import type { BindingNamespace } from "../domain/CodeRun.ts"
import { checkRequest } from "../domain/Request.ts"
import * as ExitCode from "./ExitCode.ts"
import { whyUnreadable } from "./Source.ts"
import { Stopped } from "./Stopped.ts"

/** What the help says of binding modules. */
export const topic = `  --bindings names a JavaScript or TypeScript module. Every export that is an object of functions is a
  namespace, called as the export is called; properties of a default export that is an object count as exports.

    // tools.ts
    export const tools = {
      add: ({ a, b }) => a + b,                                // one JSON argument in, one JSON value out
      page: (args, { signal }) => fetch(args.url, { signal }).then((reply) => reply.text())
    }
    export const db = {                                        // with an error class for the program
      functions: { find: async ({ id }) => ({ id }) },
      errorClass: { name: "DbError", memberNameProperty: "operation" }
    }

    // program.ts
    return await tools.add({ a: 1, b: 2 })

  The program sees what a function rejects with, by its message alone. \`signal\` aborts when the run is over.
  Other exports are left alone. TypeScript modules have their types stripped by Node: no enum, no namespace.`

interface Namespace {
  readonly global: string
  readonly functions: { readonly [name: string]: PromiseBindingFunction }
}

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const hasFunction = (value: { readonly [key: string]: unknown }): boolean =>
  Object.values(value).some((member) => typeof member === "function")

/** What an export stands for: a namespace yet to be checked, or nothing. */
const read = (global: string, value: unknown): object | undefined => {
  if (!isObject(value)) return undefined
  // With every key, so that the driver's rule sees one that is misspelt.
  if (isObject(value["functions"])) return { ...value, global }
  return hasFunction(value) ? { global, functions: value } : undefined
}

const namespacesOf = (module: { readonly [key: string]: unknown }): ReadonlyArray<object> => {
  const exported = new Map<string, unknown>()
  if (isObject(module["default"])) {
    for (const [name, value] of Object.entries(module["default"])) exported.set(name, value)
  }
  for (const [name, value] of Object.entries(module)) {
    // Node gives the exports of a CommonJS module once more under these names.
    if (name !== "default" && name !== "module.exports") exported.set(name, value)
  }
  return [...exported].flatMap(([name, value]) => read(name, value) ?? [])
}

/** The driver's own rule says whether they are namespaces. */
const areNamespaces = (found: ReadonlyArray<object>): found is ReadonlyArray<Namespace> =>
  checkRequest({ program: "", bindings: found }) === undefined

const refused = (path: string, why: string) =>
  new Stopped({ exitCode: ExitCode.usage, message: `cannot use --bindings ${path}: ${why}` })

const whyUnloadable = (error: unknown): string => {
  const missing =
    typeof error === "object" && error !== null && "code" in error && error.code === "ERR_MODULE_NOT_FOUND"
  return missing && error instanceof Error ? error.message : whyUnreadable(error)
}

const load = (path: string): Effect.Effect<ReadonlyArray<object>, Stopped> =>
  Effect.gen(function* () {
    const module: unknown = yield* Effect.tryPromise({
      try: () => import(pathToFileURL(resolve(path)).href),
      catch: (error) => refused(path, whyUnloadable(error))
    })
    const found = isObject(module) ? namespacesOf(module) : []
    if (found.length > 0) return found
    return yield* refused(path, "no export of it is an object of functions; see code-runtime run --help")
  })

/** The namespaces of all modules together. */
export const loadAll = (paths: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<BindingNamespace>, Stopped> =>
  Effect.gen(function* () {
    const found = (yield* Effect.forEach(paths, load)).flat()
    if (areNamespaces(found)) return found.map(namespaceOf)
    const misuse = checkRequest({ program: "", bindings: found })
    return yield* refused(paths.join(", "), misuse?.message ?? "its namespaces have the wrong shape")
  })
