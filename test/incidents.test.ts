import { assert, describe, it } from "@effect/vitest"
import { Data, Effect, Exit, Layer } from "effect"
import {
  CodeRuntime,
  GuestLauncher,
  ProgramCompiler,
  PromiseAdapter,
  RuntimeLayer,
  WorkerThread
} from "effect-code-runtime"

class NoMessage extends Data.TaggedError("NoMessage")<{ readonly id: number }> {}

/** What a caller without types may bind. */
const untyped = (functions: { readonly [name: string]: unknown }): CodeRuntime.CodeRunRequest["bindings"] =>
  JSON.parse('[{"global":"tools"}]').map((namespace: object) => ({ ...namespace, functions }))

const said = (bindings: CodeRuntime.CodeRunRequest["bindings"]) =>
  Effect.gen(function* () {
    const runtime = yield* CodeRuntime.CodeRuntime
    const program = "try { await tools.go() } catch (error) { return error.message }"
    return (yield* runtime.run({ program, ...(bindings === undefined ? {} : { bindings }) })).value
  }).pipe(Effect.provide(WorkerThread.layer({ standby: 0 })))

describe("incidents", () => {
  for (const [what, go] of [
    ["a value", () => 5],
    ["nothing", () => undefined],
    ["a Promise", async () => 5],
    ["a generator", function* () {}]
  ] as const) {
    it.live(`a binding that returned ${what} in place of an Effect hung its run until maxWallMs`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* said(untyped({ go })), "internal error")
      })
    )
  }

  it.live("a tagged error without a message reached the program as an empty text", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* said(untyped({ go: () => Effect.fail(new NoMessage({ id: 1 })) })), "NoMessage")
      assert.strictEqual(yield* said(untyped({ go: () => Effect.fail({ reason: "x" }) })), "the call failed")
    })
  )

  it("an abort by an object read [object Object]", async () => {
    await using runtime = await PromiseAdapter.make(WorkerThread.layer({ standby: 0 }))
    const result = await runtime.run({ program: "return 1", signal: AbortSignal.abort({ why: 1 }) })
    assert.deepStrictEqual(result.error, { kind: "abort", message: "the run was aborted" })
  })

  it("prose around a fence was a syntax error without a word of the fence", async () => {
    await using runtime = await PromiseAdapter.make(WorkerThread.layer({ standby: 0 }))
    const { error } = await runtime.run({ program: "Here it is:\n```ts\nreturn 1\n```" })
    assert.match(error?.message ?? "", /^SyntaxError: .*\nA Markdown fence is taken off only when the whole text/u)
  })

  it.live("a defect of a backend's compiler hung the run for ever", () =>
    Effect.gen(function* () {
      const dying = Layer.succeed(
        ProgramCompiler.ProgramCompiler,
        ProgramCompiler.ProgramCompiler.of({ compile: () => Effect.die("broken compiler") })
      )
      const launcher: GuestLauncher.GuestLauncher["Service"] = {
        language: "typescript",
        isolation: "worker-thread",
        launch: Effect.never
      }
      const exit = yield* CodeRuntime.CodeRuntime.use((runtime) => runtime.run({ program: "return 1" })).pipe(
        Effect.provide(RuntimeLayer.make({ standby: 0 }, () => launcher, dying)),
        Effect.exit
      )
      assert.isTrue(Exit.isFailure(exit))
      assert.include(String(exit), "broken compiler")
    })
  )
})
