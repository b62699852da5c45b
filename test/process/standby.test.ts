import { assert, describe, it } from "@effect/vitest"
import { PromiseAdapter, PythonProcess } from "effect-code-runtime"
import { readdirSync, readFileSync } from "node:fs"
import { setImmediate } from "node:timers/promises"

const read = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

/** Interpreters that this process started. */
const interpreters = (): ReadonlyArray<number> =>
  readdirSync("/proc")
    .filter((entry) => /^\d+$/u.test(entry))
    .filter((entry) => {
      const stat = read(`/proc/${entry}/stat`)
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return state !== "Z" && Number(parent) === process.pid && read(`/proc/${entry}/cmdline`).includes("python")
    })
    .map(Number)

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await setImmediate()
}

describe.runIf(process.platform === "linux")("a standby", () => {
  it("that dies while it waits is replaced, and the next run does not notice", async () => {
    await using runtime = await PromiseAdapter.make(PythonProcess.layer({ standby: 1, standbyMs: 60_000 }))
    assert.deepStrictEqual(await runtime.run({ program: "return 0" }), { value: 0, logs: [] })
    await until(() => interpreters().length === 1)
    const [first] = interpreters()
    assert.isDefined(first)
    if (first === undefined) return
    process.kill(first, "SIGKILL")
    // One look: between two the first can die, and then nobody would have replaced it.
    await until(() => {
      const [only, another] = interpreters()
      return only !== undefined && only !== first && another === undefined
    })
    assert.deepStrictEqual(await runtime.run({ program: "return 1" }), { value: 1, logs: [] })
  })

  it("that died so late that its host was not told yet is replaced under the run, and leaves nothing in it", async () => {
    await using runtime = await PromiseAdapter.make(PythonProcess.layer({ standby: 1, standbyMs: 60_000 }))
    // The check of the interpreter is a child too: what runs after a first run is the standby.
    assert.deepStrictEqual(await runtime.run({ program: "return 0" }), { value: 0, logs: [] })
    await until(() => interpreters().length === 1)
    const [standby] = interpreters()
    assert.isDefined(standby)
    if (standby === undefined) return
    process.kill(standby, "SIGKILL")
    // Without a turn of the event loop: the runtime cannot know.
    while (interpreters().includes(standby));
    const bindings = [{ global: "tools", functions: { echo: async () => ({ b: 1 }) } }]
    assert.deepStrictEqual(await runtime.run({ program: "print('a')\nreturn await tools.echo({'b': 1})", bindings }), {
      value: { b: 1 },
      logs: ["a"]
    })
    await until(() => interpreters().length === 1)
  })

  it("whose program ends it is not replaced: no program runs twice", async () => {
    await using runtime = await PromiseAdapter.make(PythonProcess.layer({ standby: 1, standbyMs: 60_000 }))
    let runs = 0
    const bindings = [{ global: "tools", functions: { count: async () => ++runs } }]
    for (let i = 0; i < 3; i++) {
      await until(() => interpreters().length === 1)
      const { error } = await runtime.run({
        program: "await tools.count()\nimport os\nos.kill(os.getpid(), 9)",
        bindings
      })
      assert.strictEqual(error?.kind, "worker-exit")
    }
    assert.strictEqual(runs, 3)
  })

  it("that nobody uses is given up in time", async () => {
    await using runtime = await PromiseAdapter.make(PythonProcess.layer({ standby: 1, standbyMs: 50 }))
    await until(() => interpreters().length === 1)
    await until(() => interpreters().length === 0)
    assert.deepStrictEqual(await runtime.run({ program: "return 1" }), { value: 1, logs: [] })
  })
})
