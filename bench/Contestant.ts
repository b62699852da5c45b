/**
 * Who takes part: ours, the peers, and the floors that nobody can be below.
 */
import { type Dialect, type Task, workOf } from "./Task.ts"

export interface Contestant {
  readonly name: string
  readonly role: "ours" | "peer" | "floor"
  readonly dialect: Dialect
  /** Its file in `contestants`. */
  readonly file: string
  readonly options: { readonly [key: string]: unknown }
  /** Whether only the start of its process is timed: a way to load what takes part already. */
  readonly startOnly?: boolean
  /** What one must know to read its figures. */
  readonly note: string
}

const ours = (name: string, dialect: Dialect, options: Contestant["options"], note: string): Contestant => ({
  name,
  role: "ours",
  dialect,
  file: "ours.js",
  options,
  note
})

export const contestants: ReadonlyArray<Contestant> = [
  ours("worker", "typescript", { backend: "worker" }, "`WorkerThread.layer()`"),
  ours("worker, standby 0", "typescript", { backend: "worker", standby: 0 }, "`WorkerThread.layer({ standby: 0 })`"),
  ours("node process", "typescript", { backend: "process" }, "`NodeProcess.layer()`"),
  ours("sandbox", "typescript", { backend: "sandbox" }, '`Sandbox.layer({ language: "typescript" })`'),
  ours("python", "python", { backend: "python" }, "`PythonProcess.layer()`"),
  ours("python sandbox", "python", { backend: "sandbox-python" }, '`Sandbox.layer({ language: "python" })`'),
  {
    ...ours(
      "cordis plugin",
      "typescript",
      {},
      "`effect-code-runtime/cordis/worker-thread` through cordis: the same backend, loaded as the harness's is"
    ),
    file: "cordis.js",
    startOnly: true
  },
  {
    name: "harness",
    role: "peer",
    dialect: "typescript",
    file: "harness.js",
    options: {},
    note: "`@deepseek-ai/dsh-code-runtime-worker-thread` through cordis: a worker thread a run"
  },
  {
    name: "isolated-vm",
    role: "peer",
    dialect: "javascript",
    file: "isolated-vm.js",
    options: {},
    note: "an isolate a run in the host's process: no Node inside, no types, no rules of values"
  },
  {
    name: "quickjs",
    role: "peer",
    dialect: "javascript",
    file: "quickjs.js",
    options: {},
    note: "`quickjs-emscripten`: a context a run, an interpreter in the host's thread that blocks it"
  },
  { name: "deno", role: "peer", dialect: "javascript", file: "deno.js", options: {}, note: "a process a run" },
  {
    name: "monty",
    role: "peer",
    dialect: "monty",
    file: "monty.js",
    options: {},
    note: "`@pydantic/monty`: a subset of Python, an interpreter in the host's thread that blocks it; one call at a time"
  },
  {
    name: "bare worker",
    role: "floor",
    dialect: "javascript",
    file: "bare-worker.js",
    options: {},
    note: "a `Worker` a run, evaluated and posted, no rules"
  },
  {
    name: "bare worker, ready",
    role: "floor",
    dialect: "javascript",
    file: "bare-worker.js",
    options: { standby: true },
    note: "the same, with the next one booted as soon as a run is over"
  },
  {
    name: "bare python",
    role: "floor",
    dialect: "plain-python",
    file: "bare-python.js",
    options: {},
    note: "a CPython `-I -S` a run, `exec` and lines of JSON, no rules; one call at a time"
  },
  {
    name: "postMessage",
    role: "floor",
    dialect: "none",
    file: "floors.js",
    options: { floor: "port" },
    note: "a warm `Worker` that echoes; rows cross twice where a run has them cross three times"
  },
  {
    name: "native JSON",
    role: "floor",
    dialect: "none",
    file: "floors.js",
    options: { floor: "json" },
    note: "`JSON.stringify` and `JSON.parse` in one thread, for each crossing of a run"
  }
]

/** A contestant at work in this process. */
export interface Player {
  /** Does a task, checks what came of it, and gives its time in milliseconds: between its marks, else of all of it. */
  readonly perform: (task: Task) => Promise<number>
  /** Runs a program that calls `tools.hold` and waits for the returned release. */
  readonly hold: (release: Promise<void>) => { readonly held: Promise<void>; readonly ended: Promise<void> }
  readonly dispose: () => Promise<unknown>
}

interface Outcome {
  readonly value?: unknown
  readonly logs: ReadonlyArray<string>
  readonly error?: unknown
}

interface Opened {
  readonly run?: (request: {
    readonly program: string
    readonly bindings: ReadonlyArray<{
      readonly global: string
      readonly functions: { readonly [name: string]: unknown }
    }>
  }) => Promise<Outcome>
  readonly perform?: (task: Task) => Promise<unknown>
  readonly dispose: () => Promise<unknown>
}

/** Why a contestant has no figure for a task. */
export class Inapplicable extends Error {}

const sizeOf = (value: unknown): unknown => (Array.isArray(value) || typeof value === "string" ? value.length : value)

export const open = async (contestant: Contestant, options: Contestant["options"] = {}): Promise<Player> => {
  const module: { readonly open: (options: Contestant["options"]) => Promise<Opened> } = await import(
    new URL(`./contestants/${contestant.file}`, import.meta.url).href
  )
  const opened = await module.open({ ...contestant.options, ...options })
  const { perform, run } = opened
  const request = (program: string, functions: { readonly [name: string]: unknown }) => {
    if (run === undefined) throw new Inapplicable("it runs no program")
    const global = "tools"
    return run({ program, bindings: Object.keys(functions).length === 0 ? [] : [{ global, functions }] })
  }
  return {
    perform: async (task) => {
      const from = performance.now()
      if (perform !== undefined) {
        const size = await perform(task)
        if (size === undefined) throw new Inapplicable("")
        if (size !== task.size) throw new Error(`${task.kind}: got ${String(size)}`)
        return performance.now() - from
      }
      const work = workOf(task, contestant.dialect)
      if (work === undefined) throw new Inapplicable("it cannot say that")
      const { error, logs, value } = await request(work.program, work.functions)
      const ms = performance.now() - from
      if (error !== undefined) throw new Error(`${task.kind}: ${JSON.stringify(error)}`)
      if (sizeOf(value) !== work.value || logs.length !== work.logs) {
        throw new Error(`${task.kind}: got ${String(sizeOf(value))} and ${logs.length} logs`)
      }
      const [first, last] = work.marks
      return first === undefined || last === undefined ? ms : last - first
    },
    hold: (release) => {
      const entered = Promise.withResolvers<void>()
      const hold = async (): Promise<number> => {
        entered.resolve()
        await release
        return 1
      }
      const program = contestant.dialect === "monty" ? "hold({})" : "return await tools.hold({})"
      const ended = request(program, { hold }).then(() => undefined)
      return { held: entered.promise, ended }
    },
    dispose: opened.dispose
  }
}
