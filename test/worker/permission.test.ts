/** Worker threads under Node's permission model: what is allowed works, what is not is denied. */
import { assert, describe, it } from "@effect/vitest"
import { PromiseAdapter, WorkerThread } from "effect-code-runtime"

const child = `try { return require("node:child_process").execFileSync("/bin/echo", ["a"]).toString() } catch (error) { return error.code }`
const worker = `const { Worker } = require("node:worker_threads")
try { return await new Promise((done, fail) => new Worker("0", { eval: true }).on("error", fail).on("exit", done)) } catch (error) { return error.code }`

describe("worker threads under permissions", () => {
  const cases = [
    ["none", {}, "ERR_ACCESS_DENIED", "ERR_ACCESS_DENIED"],
    ["children, of which Node warns", { allowChildProcess: true }, "a\n", "ERR_ACCESS_DENIED"],
    ["workers, of which Node warns", { allowWorker: true }, "ERR_ACCESS_DENIED", 0],
    ["both", { allowRead: ["*"], allowChildProcess: true, allowWorker: true }, "a\n", 0]
  ] as const
  for (const standby of [0, 1]) {
    for (const [name, permission, ofChild, ofWorker] of cases) {
      it(`${name}, with standby ${standby}`, async () => {
        await using runtime = await PromiseAdapter.make(WorkerThread.layer({ standby, permission }))
        assert.deepStrictEqual(await runtime.run({ program: child }), { value: ofChild, logs: [] })
        assert.deepStrictEqual(await runtime.run({ program: worker }), { value: ofWorker, logs: [] })
      })
    }
  }
})
