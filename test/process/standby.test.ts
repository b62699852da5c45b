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
    await until(() => interpreters().length === 1)
    const [first] = interpreters()
    assert.isDefined(first)
    if (first === undefined) return
    process.kill(first, "SIGKILL")
    await until(() => interpreters().length === 1 && !interpreters().includes(first))
    assert.deepStrictEqual(await runtime.run({ program: "return 1" }), { value: 1, logs: [] })
  })

  it("that nobody uses is given up in time", async () => {
    await using runtime = await PromiseAdapter.make(PythonProcess.layer({ standby: 1, standbyMs: 50 }))
    await until(() => interpreters().length === 1)
    await until(() => interpreters().length === 0)
    assert.deepStrictEqual(await runtime.run({ program: "return 1" }), { value: 1, logs: [] })
  })
})
