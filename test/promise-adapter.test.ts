import { assert, describe, it } from "@effect/vitest"
import { runInNewContext } from "node:vm"
import { PromiseAdapter, WorkerThread } from "effect-code-runtime"

const valueOf = async (go: PromiseAdapter.PromiseBindingFunction) => {
  await using runtime = await PromiseAdapter.make(WorkerThread.layer({ standby: 0 }))
  const program = "try { return await tools.go() } catch (error) { return error.message }"
  return (await runtime.run({ program, bindings: [{ global: "tools", functions: { go } }] })).value
}

/** A Promise of another realm, as one of another library: no instance of ours. */
const elsewhere = (code: string): Promise<number> => runInNewContext(code)

const fail = (error: unknown): never => {
  throw error
}

describe("a function of Promises", () => {
  it("may answer at once, by a Promise, or by one of another library", async () => {
    assert.strictEqual(await valueOf(() => 3), 3)
    assert.strictEqual(await valueOf(async () => 3), 3)
    assert.strictEqual(await valueOf(() => elsewhere("Promise.resolve(3)")), 3)
  })

  it("may fail at once, by a Promise, or by one of another library", async () => {
    assert.strictEqual(await valueOf(() => fail(new Error("at once"))), "at once")
    assert.strictEqual(await valueOf(() => Promise.reject(new Error("later"))), "later")
    assert.strictEqual(await valueOf(() => elsewhere("Promise.reject(new Error('elsewhere'))")), "elsewhere")
  })

  it("may give an object with a then that is no function", async () => {
    const text = '{"then":1}'
    assert.strictEqual(JSON.stringify(await valueOf(() => JSON.parse(text))), text)
  })

  it("finds its signal aborted when it first asks for it after the run has ended", async () => {
    await using runtime = await PromiseAdapter.make(WorkerThread.layer({ standby: 0 }))
    const begun = Promise.withResolvers<void>()
    const over = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<boolean>()
    const ending = new AbortController()
    const go: PromiseAdapter.PromiseBindingFunction = async (_, context) => {
      begun.resolve()
      await over.promise
      const { signal } = { ...context }
      asked.resolve(signal.aborted)
      return null
    }
    const run = runtime.run({
      program: "await tools.go()",
      bindings: [{ global: "tools", functions: { go } }],
      signal: ending.signal
    })
    await begun.promise
    ending.abort()
    assert.strictEqual((await run).error?.kind, "abort")
    over.resolve()
    assert.isTrue(await asked.promise)
  })
})
