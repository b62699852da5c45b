import { assert, describe, it } from "@effect/vitest"
import * as Backends from "../../src/cli/Backends.ts"
import { makeFolder, run, start } from "./CommandLine.ts"

const folder = makeFolder({
  "tools.mjs": `
    export const tools = {
      add: ({ a, b }) => a + b,
      never: () => {
        process.stderr.write("called\\n")
        return new Promise(() => {})
      }
    }
  `,
  "sum.py": "print('adding')\nreturn await tools.add(a=1, b=2)",
  "sum.ts": "console.log('adding')\nreturn await tools.add({ a: 1, b: 2 })",
  "waits.py": "print('waiting')\nawait tools.never()",
  "waits.ts": "console.log('waiting')\nawait tools.never()",
  "throws.py": "def inner():\n    raise ValueError('too far')\n\ninner()"
})

const extensions = { typescript: "ts", python: "py" }

describe.concurrent("backends", () => {
  it("a .py file picks Python", async () => {
    const ended = await run(folder, ["run", "sum.py", "--bindings", "tools.mjs"])
    assert.deepStrictEqual(ended, { code: 0, stdout: "3\n", stderr: "adding\n" })
  })

  it("shows a Python exception with its line", async () => {
    const { code, stderr } = await run(folder, ["run", "throws.py"])
    assert.strictEqual(code, 1)
    assert.match(stderr, /^exception: ValueError: too far\n/u)
    assert.match(stderr, /^> 2 \| {5}raise ValueError\('too far'\)$/mu)
  })

  it("--backend says what standard input is", async () => {
    const ended = await run(folder, ["run", "-", "--backend", "python-process"], "return {'a': [None, True]}")
    assert.deepStrictEqual(ended, { code: 0, stdout: '{"a":[null,true]}\n', stderr: "" })
  })

  for (const [name, { language }] of Object.entries(Backends.backends)) {
    const extension = extensions[language]

    it(`${name} runs a program`, async () => {
      const ended = await run(folder, ["run", `sum.${extension}`, "--backend", name, "--bindings", "tools.mjs"])
      assert.deepStrictEqual(ended, { code: 0, stdout: "3\n", stderr: "adding\n" })
    })

    it(`${name}: Ctrl-C, which every process of the terminal's group gets, is an abort`, async () => {
      const args = ["run", `waits.${extension}`, "--backend", name, "--bindings", "tools.mjs"]
      const { child, ended, says } = start(folder, args)
      await says("called")
      assert.isDefined(child.pid)
      process.kill(-(child.pid ?? 0), "SIGINT")
      const { code, stderr } = await ended
      assert.strictEqual(code, 130, stderr)
      assert.match(stderr, /^waiting\ncalled\nabort: interrupted by SIGINT\nwarning: tools\.never, line 2,/u)
    })
  }
})
