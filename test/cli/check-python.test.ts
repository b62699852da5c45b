/**
 * `code-runtime check` of Python: what it says is what a run would say, and nothing of the program runs.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { assert, describe, it } from "@effect/vitest"
import { PromiseAdapter, PythonProcess } from "effect-code-runtime"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as PythonChecker from "../../src/backends/python-process/PythonChecker.ts"
import { ProgramCompiler } from "../../src/services/ProgramCompiler.ts"
import { makeFolder, run } from "./CommandLine.ts"

const folder = makeFolder({
  "marks.py":
    "from __future__ import annotations\nopen('ran', 'w').close()\nfrom os import *\nprint(1)\nreturn await tools.add()",
  "broken.py": "x = 1\nif x:\n    y = = 2"
})

describe.concurrent("code-runtime check of a .py file", () => {
  it("says nothing of a program that compiles, and runs nothing of it", async () => {
    assert.deepStrictEqual(await run(folder, ["check", "marks.py"]), { code: 0, stdout: "", stderr: "" })
    assert.isFalse(existsSync(join(folder, "ran")))
  })

  it("shows where a program does not compile: 1", async () => {
    const { code, stderr, stdout } = await run(folder, ["check", "broken.py"])
    assert.deepStrictEqual({ code, stdout }, { code: 1, stdout: "" })
    assert.strictEqual(
      stderr,
      "exception: SyntaxError: invalid syntax\n    at program.py:3:9\n\n  1 | x = 1\n  2 | if x:\n> 3 |     y = = 2\n    |         ^\n"
    )
  })
})

/** What is wrong with a program, as a check says it. */
const checked = (program: string) =>
  Effect.gen(function* () {
    const services = yield* Layer.build(PythonChecker.layer)
    const { line, message } = yield* Effect.flip(Context.get(services, ProgramCompiler).compile(program))
    return line === undefined ? message : `${message} at ${line}`
  }).pipe(Effect.scoped, Effect.runPromise)

const broken: ReadonlyArray<readonly [what: string, program: string]> = [
  ["a syntax error", "x = 1\ny = = 2"],
  ["a fence around a syntax error", "```python\ny = = 2\n```"],
  ["an unknown future", "from __future__ import nonsense"],
  ["an indentation", "if 1:\nreturn 2"],
  ["a null character", "x = 1\nreturn '\0'"],
  ["deep nesting", "(".repeat(100_000)],
  ["a very long chain", "return " + "1 + ".repeat(30_000) + "1 +"],
  ["letters beyond ASCII", "x = '\u00e9\u{1F600}' +"]
]

describe("a check of Python says what a run says", () => {
  it.each(broken)("of %s", { timeout: 120_000 }, async (_, program) => {
    await using runtime = await PromiseAdapter.make(PythonProcess.layer({ standby: 0 }))
    const { error } = await runtime.run({ program })
    const [message = ""] = error?.message.split("\n") ?? []
    const line = /^ {4}at program\.py:(\d+)/mu.exec(error?.message ?? "")?.[1]
    assert.strictEqual(await checked(program), line === undefined ? message : `${message} at ${line}`)
  })

  it("a Python that is not there is told in one sentence, without an option that the command line lacks", async () => {
    const failure = await Effect.runPromise(
      Effect.flip(Effect.scoped(Layer.build(PythonChecker.make("/nowhere/python3"))))
    )
    assert.strictEqual(
      failure.message,
      "Python programs need CPython 3.10 or newer, but /nowhere/python3 does not start (spawn /nowhere/python3 ENOENT); install one"
    )
  })
})
