import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CodeRuntime, WorkerThread } from "effect-code-runtime"
import { getEventListeners } from "node:events"
import { readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { steady } from "../../src/conformance/Processes.ts"
import { depthOf } from "../../src/conformance/Host.ts"

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

const runtimeOf = (options: WorkerThread.Options = {}) =>
  Effect.map(
    Effect.flatMap(Effect.scope, (scope) => Layer.buildWithScope(WorkerThread.layer(options), scope)),
    (context) => Context.get(context, CodeRuntime.CodeRuntime)
  )

/** Megabytes of what lives in the host's heap and beside it, after a collection. */
const memoryMb = (): number => {
  collect()
  const { arrayBuffers, external, heapUsed } = process.memoryUsage()
  return (heapUsed + external + arrayBuffers) / 2 ** 20
}

const ours = () =>
  readdirSync(tmpdir()).filter((name) => name.startsWith("effect-code-runtime") && name.includes(String(process.pid)))

describe("worker threads for a long time", () => {
  it.live(
    "2,000 tiny runs leave nothing: no handle, listener, thread, descriptor, file, and no memory",
    () =>
      Effect.gen(function* () {
        const runtime = yield* runtimeOf({ standby: 2 })
        const { signal } = new AbortController()
        const programs = [
          "return await tools.echo(1)",
          "console.log('x'); throw new Error('y')",
          "process.exit(1)",
          "return { a: [1] }"
        ]
        const some = (count: number) =>
          Effect.forEach(
            Array.from({ length: count }),
            (_, i) =>
              Effect.exit(
                runtime.run({
                  program: programs[i % programs.length] ?? "",
                  signal,
                  bindings: [{ global: "tools", functions: { echo: (args) => Effect.succeed(args) } }]
                })
              ),
            { concurrency: 3, discard: true }
          )
        yield* some(200)
        const before = yield* steady
        const handles = process.getActiveResourcesInfo().length
        const files = ours().length
        const memory = memoryMb()
        yield* some(1800)
        const after = yield* steady
        assert.isAtMost(after.threads, before.threads + 1)
        assert.isAtMost(after.descriptors, before.descriptors)
        assert.isAtMost(after.children, before.children)
        assert.isAtMost(process.getActiveResourcesInfo().length, handles + 2)
        assert.strictEqual(ours().length, files)
        assert.strictEqual(getEventListeners(signal, "abort").length, 0)
        assert.isBelow(memoryMb() - memory, 8)
      }),
    400_000
  )

  it.live("1,000 calls in flight are answered in any order", () =>
    Effect.gen(function* () {
      const runtime = yield* runtimeOf({ maxConcurrentCalls: 1000 })
      const waiting: Array<{ readonly n: number; readonly answer: (n: number) => void }> = []
      const answered: Array<number> = []
      const success = yield* runtime.run({
        program:
          "const order = []\nconst all = await Promise.all(Array.from({ length: 1000 }, async (_, n) => { const got = await tools.hold(n); order.push(got); return got }))\nreturn [all.every((got, n) => got === n), order]",
        bindings: [
          {
            global: "tools",
            functions: {
              hold: (n) =>
                Effect.callback<number>((resume) => {
                  waiting.push({ n: Number(n), answer: (value) => resume(Effect.succeed(value)) })
                  if (waiting.length < 1000) return
                  // Answered from both ends: the last first, then the first, and so on.
                  setImmediate(() => {
                    while (waiting.length > 0) {
                      const next = answered.length % 2 === 0 ? waiting.pop() : waiting.shift()
                      if (next === undefined) return
                      answered.push(next.n)
                      next.answer(next.n)
                    }
                  })
                })
            }
          }
        ]
      })
      assert.deepStrictEqual(success.value, [true, answered])
      assert.strictEqual(success.usage.calls, 1000)
      assert.deepStrictEqual(success.unsettledCalls, [])
    })
  )

  it.live(
    "64 MiB to the byte: a completion, an argument, a result",
    () =>
      Effect.gen(function* () {
        const runtime = yield* runtimeOf()
        const cap = 64 * 2 ** 20
        const run = (program: string) =>
          runtime.run({
            program,
            bindings: [
              {
                global: "tools",
                functions: {
                  length: (text) => Effect.succeed(String(text).length),
                  text: (n) => Effect.sync(() => "x".repeat(Number(n)))
                }
              }
            ]
          })
        const whole = yield* run(`return 'x'.repeat(${cap - 4})`)
        assert.isTrue(typeof whole.value === "string" && whole.value.length === cap - 4)
        assert.strictEqual(whole.usage.outputBytes, cap)
        const over = yield* Effect.flip(run(`return 'x'.repeat(${cap - 3})`))
        assert.isTrue(over._tag === "CodeRunFailed" && over.reason._tag === "OutputLimit")
        assert.strictEqual((yield* run(`return await tools.length('x'.repeat(${cap - 2}))`)).value, cap - 2)
        const longArgument = yield* Effect.flip(run(`return await tools.length('x'.repeat(${cap - 1}))`))
        assert.include(longArgument.message, "maxBindingBytes")
        assert.strictEqual((yield* run(`return (await tools.text(${cap - 2})).length`)).value, cap - 2)
        const longResult = yield* Effect.flip(run(`return (await tools.text(${cap - 1})).length`))
        assert.include(longResult.message, "maxBindingBytes")
      }),
    60_000
  )

  it.live(
    "100,000 levels in both directions, beside other runs",
    () =>
      Effect.gen(function* () {
        const runtime = yield* runtimeOf()
        const program = "let v = []\nfor (let i = 1; i < 100_000; i++) v = [v]\nreturn await tools.echo(v)"
        const all = yield* Effect.forEach(
          [1, 2, 3],
          () =>
            runtime.run({
              program,
              bindings: [{ global: "tools", functions: { echo: (args) => Effect.succeed(args) } }]
            }),
          { concurrency: 3 }
        )
        for (const success of all) assert.strictEqual(depthOf(success.value), 100_000)
      }),
    60_000
  )
})
