import { assert, describe, it } from "@effect/vitest"
import { NodeProcess, PromiseAdapter, PythonProcess } from "effect-code-runtime"
import { readdirSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"

const runs = 1000
const atOnce = 4

const parentOf = (pid: string): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
  } catch {
    return 0
  }
}

/** Children of this process, those that nobody has reaped included. */
const children = (): ReadonlyArray<string> =>
  readdirSync("/proc").filter((entry) => /^\d+$/u.test(entry) && parentOf(entry) === process.pid)

const backends = {
  NodeProcess: { layer: NodeProcess.layer, program: (n: number) => `console.log(${n}); return await tools.next(${n})` },
  PythonProcess: { layer: PythonProcess.layer, program: (n: number) => `print(${n})\nreturn await tools.next(${n})` }
}

describe.runIf(process.platform === "linux")("a thousand runs", () => {
  for (const [name, { layer, program }] of Object.entries(backends)) {
    it(`leave nothing, on ${name}`, { timeout: 400_000 }, async () => {
      const before = children().length
      const runtime = await PromiseAdapter.make(layer())
      const bindings = [{ global: "tools", functions: { next: (n: unknown) => Number(n) + 1 } }]
      let next = 0
      const wrong: Array<unknown> = []
      const work = async () => {
        for (let n = next++; n < runs; n = next++) {
          const result = await runtime.run({ program: program(n), bindings })
          if (result.value !== n + 1 || result.logs[0] !== String(n)) wrong.push([n, result])
        }
      }
      await Promise.all(Array.from({ length: atOnce }, work))
      await runtime.dispose()
      assert.deepStrictEqual(wrong, [])
      assert.strictEqual(children().length, before)
      const folders = readdirSync(tmpdir()).filter((entry) => entry.startsWith(`effect-code-runtime-${process.pid}-`))
      assert.deepStrictEqual(folders, [])
    })
  }
})
