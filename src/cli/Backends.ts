/**
 * The backends that the command line knows. Each is loaded only when it is used.
 */
import type * as Layer from "effect/Layer"
import * as Effect from "effect/Effect"
import type { LimitsInput } from "../domain/Limits.ts"
import { nearest } from "../domain/Spelling.ts"
import type { CodeRuntime } from "../services/CodeRuntime.ts"
import type { ProgramCompiler } from "../services/ProgramCompiler.ts"
import * as ExitCode from "./ExitCode.ts"
import { type Language, languageOf } from "./Language.ts"
import { Stopped } from "./Stopped.ts"

interface Backend {
  readonly language: Language
  /** What it is, for the help. */
  readonly summary: string
  readonly load: () => Promise<{ readonly layer: (limits: LimitsInput) => Layer.Layer<CodeRuntime, Error> }>
}

const sandbox = async (language: Language): ReturnType<Backend["load"]> => {
  const { layer } = await import("../backends/sandbox/Sandbox.ts")
  // One run has no use for what serves many.
  return { layer: (limits) => layer({ language, zygote: false, ...limits }) }
}

/** By name; the first of a language is its default. */
export const backends: { readonly [name: string]: Backend } = {
  "worker-thread": {
    language: "typescript",
    summary: "TypeScript, a thread of this process: the fastest, no border against malice",
    load: () => import("../backends/worker-thread/WorkerThread.ts")
  },
  "node-process": {
    language: "typescript",
    summary: "TypeScript, a Node process for each run: its memory and its crashes are its own",
    load: () => import("../backends/node-process/NodeProcess.ts")
  },
  "python-process": {
    language: "python",
    summary: "Python, a CPython process for each run",
    load: () => import("../backends/python-process/PythonProcess.ts")
  },
  "typescript-sandbox": {
    language: "typescript",
    summary: "TypeScript in a sandbox of bubblewrap: for programs that one does not trust",
    load: () => sandbox("typescript")
  },
  "python-sandbox": {
    language: "python",
    summary: "Python in a sandbox of bubblewrap: for programs that one does not trust",
    load: () => sandbox("python")
  }
}

/** What checks a program of a language, and what the program is called in places. */
const checkers: {
  readonly [language in Language]: {
    readonly file: string
    readonly load: () => Promise<{ readonly layer: Layer.Layer<ProgramCompiler, Error> }>
  }
} = {
  typescript: { file: "program.ts", load: () => import("../backends/typescript-compiler/TypeScriptCompiler.ts") },
  python: { file: "program.py", load: () => import("../backends/python-process/PythonChecker.ts") }
}

/** The names of the backends, in the order of the help. */
export const names: ReadonlyArray<string> = Object.keys(backends)

const titles: { readonly [language in Language]: string } = { typescript: "TypeScript", python: "Python" }

const refused = (message: string) => new Stopped({ exitCode: ExitCode.usage, message })

/** The backend for a program, by its name or by the program's file name. */
const choose = (file: string, name: string | undefined): Effect.Effect<Backend, Stopped> =>
  Effect.gen(function* () {
    const language = languageOf(file)
    if (name === undefined) {
      const byDefault = Object.values(backends).find((backend) => backend.language === (language ?? "typescript"))
      return byDefault ?? (yield* refused(`no backend runs ${titles[language ?? "typescript"]}: ${file}`))
    }
    const backend = Object.hasOwn(backends, name) ? backends[name] : undefined
    if (backend === undefined) {
      const meant = nearest(name, names)
      const hint = meant === undefined ? "" : ` did you mean ${meant}?`
      return yield* refused(
        `there is no backend ${JSON.stringify(name)};${hint} --backend must be one of ${names.join(", ")}`
      )
    }
    if (language !== undefined && language !== backend.language) {
      const is = `${file} is ${titles[language]}, --backend ${name} runs ${titles[backend.language]}`
      const others = names.filter((each) => backends[each]?.language === language).join(", ")
      return yield* refused(`${is}; its backends are ${others}, or give the program as - (standard input)`)
    }
    return backend
  })

/** The runtime for a program. */
export const runtimeFor = (
  file: string,
  name: string | undefined,
  limits: LimitsInput
): Effect.Effect<Layer.Layer<CodeRuntime, Error>, Stopped> =>
  Effect.gen(function* () {
    const backend = yield* choose(file, name)
    const { layer } = yield* Effect.promise(backend.load)
    return layer(limits)
  })

/** What a program is called in places, and the compiler that checks it. */
export const checkerFor = (
  file: string
): Effect.Effect<{ readonly file: string; readonly layer: Layer.Layer<ProgramCompiler, Error> }> =>
  Effect.gen(function* () {
    const checker = checkers[languageOf(file) ?? "typescript"]
    const { layer } = yield* Effect.promise(checker.load)
    return { file: checker.file, layer }
  })
