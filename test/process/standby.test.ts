/**
 * What becomes of a standby that dies, or that nobody uses, on every backend whose guests are processes of the host.
 */
import { assert, describe, it } from "@effect/vitest"
import { NodeProcess, PromiseAdapter, PythonProcess, Sandbox } from "effect-code-runtime"
import { readdirSync, readFileSync } from "node:fs"
import { setImmediate } from "node:timers/promises"
import type { TestContext } from "vitest"
import { whyNotHere } from "../sandbox/Absence.ts"

const read = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

/** Children of this process whose command has a word in it. */
const children = (word: string): ReadonlyArray<number> =>
  readdirSync("/proc")
    .filter((entry) => /^\d+$/u.test(entry))
    .filter((entry) => {
      const stat = read(`/proc/${entry}/stat`)
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return state !== "Z" && Number(parent) === process.pid && read(`/proc/${entry}/cmdline`).includes(word)
    })
    .map(Number)

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await setImmediate()
}

const python = {
  seven: "print('a')\nreturn (await tools.echo({'b': 7}))['b']",
  suicide: "await tools.echo(1)\nimport os\nos.kill(os.getpid(), 9)"
}
const typescript = {
  seven: "console.log('a'); return (await tools.echo({ b: 7 })).b",
  suicide:
    "await tools.echo(1); process.kill(process.pid, 'SIGKILL'); await new Promise(() => setTimeout(() => {}, 60_000))"
}

interface Options {
  readonly standby: number
  readonly standbyMs: number
}

/** By the word its guests are recognised among this process's children. */
const backends = [
  {
    name: "PythonProcess",
    word: "python",
    make: (options: Options) => PromiseAdapter.make(PythonProcess.layer(options)),
    programs: python
  },
  {
    name: "NodeProcess",
    word: "guest-process",
    make: (options: Options) => PromiseAdapter.make(NodeProcess.layer(options)),
    programs: typescript
  },
  {
    name: "Sandbox of Python",
    word: "bwrap",
    make: (options: Options) => PromiseAdapter.make(Sandbox.layer({ ...options, language: "python", zygote: false })),
    programs: python
  },
  {
    name: "Sandbox of TypeScript",
    word: "bwrap",
    make: (options: Options) => PromiseAdapter.make(Sandbox.layer({ ...options, language: "typescript" })),
    programs: typescript
  }
]

type Make = (options: Options) => Promise<PromiseAdapter.PromiseCodeRuntime>

/** A runtime, or a skip of the test where this machine cannot have one. */
const open = async (make: Make, context: TestContext, standbyMs: number): ReturnType<Make> => {
  try {
    return await make({ standby: 1, standbyMs })
  } catch (error) {
    const why = whyNotHere(error)
    if (why === undefined) throw error
    return context.skip(why)
  }
}

/** A runtime after a first run, when what a layer tries at its start is over, and the process of its standby. */
const withStandby = async ({ make, word }: { readonly make: Make; readonly word: string }, context: TestContext) => {
  const runtime = await open(make, context, 60_000)
  assert.deepStrictEqual(await runtime.run({ program: "return 0" }), { value: 0, logs: [] })
  await until(() => children(word).length === 1)
  const [standby] = children(word)
  return standby === undefined ? assert.fail("it is gone") : { runtime, standby }
}

for (const backend of backends) {
  const { make, name, programs, word } = backend
  describe.runIf(process.platform === "linux")(`a standby of ${name}`, () => {
    const made: Array<unknown> = []
    const bindings = [
      {
        global: "tools",
        functions: {
          echo: (value: unknown) => {
            made.push(value)
            return { b: 7 }
          }
        }
      }
    ]

    it("that dies while it waits is replaced, and the next run does not notice", async (context) => {
      const { runtime, standby } = await withStandby(backend, context)
      process.kill(standby, "SIGKILL")
      // One look: between two the first can die, and then nobody would have replaced it.
      await until(() => {
        const [only, another] = children(word)
        return only !== undefined && only !== standby && another === undefined
      })
      assert.deepStrictEqual(await runtime.run({ program: "return 1" }), { value: 1, logs: [] })
      await runtime.dispose()
    })

    it("that died so late that its host was not told is replaced under the run, and leaves nothing in it", async (context) => {
      const { runtime, standby } = await withStandby(backend, context)
      process.kill(standby, "SIGKILL")
      // Without a turn of the event loop: the runtime cannot know.
      while (children(word).includes(standby));
      assert.deepStrictEqual(await runtime.run({ program: programs.seven, bindings }), { value: 7, logs: ["a"] })
      await until(() => children(word).length === 1)
      await runtime.dispose()
      assert.deepStrictEqual(children(word), [])
    })

    it("that died so is not replaced for a run that is aborted at once", async (context) => {
      const { runtime, standby } = await withStandby(backend, context)
      process.kill(standby, "SIGKILL")
      while (children(word).includes(standby));
      made.length = 0
      const controller = new AbortController()
      const running = runtime.run({ program: programs.seven, bindings, signal: controller.signal })
      await setImmediate()
      controller.abort(new Error("enough"))
      const { error } = await running
      assert.strictEqual(error?.kind, "abort")
      await runtime.dispose()
      assert.deepStrictEqual(children(word), [])
      assert.deepStrictEqual(made, [])
    })

    it("whose program ends it is not replaced: no program runs twice", async (context) => {
      const { runtime } = await withStandby(backend, context)
      made.length = 0
      for (let i = 0; i < 3; i++) {
        await until(() => children(word).length === 1)
        const { error } = await runtime.run({ program: programs.suicide, bindings })
        assert.strictEqual(error?.kind, "worker-exit")
      }
      assert.lengthOf(made, 3)
      await runtime.dispose()
    })

    it("that nobody uses is given up in time", async (context) => {
      const runtime = await open(make, context, 50)
      await until(() => children(word).length === 1)
      await until(() => children(word).length === 0)
      assert.deepStrictEqual(await runtime.run({ program: "return 1" }), { value: 1, logs: [] })
      await runtime.dispose()
    })
  })
}
