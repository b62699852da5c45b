import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { makeFolder, run, start } from "./CommandLine.ts"

const folder = makeFolder({
  "value.ts": "const n: number = 6\nenum E { A = 7 }\nreturn { product: n * E.A }",
  "plain.js": "return [1, 'two']",
  "null.ts": "return null",
  "nothing.ts": "const a = 1",
  "logs.ts": "console.log('one')\nconsole.error('two')\nprocess.stdout.write('three\\n')\nreturn 4",
  "throws.ts": "console.log('before')\nconst inner = () => {\n  throw new RangeError('too far')\n}\ninner()",
  "broken.ts": "const a = 1\nconst b = = 2",
  "spins.ts": "console.log('spinning')\nwhile (true) {}",
  "waits.ts": "await new Promise((resolve) => setTimeout(resolve, 1e6))",
  "exits.ts": "console.log('leaving')\nprocess.exit(3)",
  "date.ts": "return { rows: [{ at: new Date(0) }] }",
  "large.ts": "return 'x'.repeat(1000)",
  "deep.ts": "let deep: unknown = 1\nfor (let i = 0; i < 100_000; i++) deep = [deep]\nreturn deep",
  "megabytes.ts": "return Array.from({ length: 100_000 }, (_, i) => `line ${i}`)",
  "unpaired.ts": "return '\\ud83d'"
})

const Result = Schema.Struct({
  value: Schema.optionalKey(Schema.Json),
  logs: Schema.Array(Schema.String),
  error: Schema.optionalKey(Schema.Struct({ kind: Schema.String, message: Schema.String })),
  usage: Schema.Struct({
    wallMs: Schema.Finite,
    cpuMs: Schema.Finite,
    calls: Schema.Finite,
    outputBytes: Schema.Finite
  }),
  unsettledCalls: Schema.Array(Schema.Struct({ global: Schema.String, name: Schema.String }))
})
const parseResult = (text: string) =>
  Schema.decodeSync(Schema.fromJsonString(Result))(text, { onExcessProperty: "error" })

describe.concurrent("code-runtime run", () => {
  it("prints the value of a TypeScript program as one line of JSON", async () => {
    assert.deepStrictEqual(await run(folder, ["run", "value.ts"]), { code: 0, stdout: '{"product":42}\n', stderr: "" })
  })

  it("runs JavaScript", async () => {
    assert.deepStrictEqual(await run(folder, ["run", "plain.js"]), { code: 0, stdout: '[1,"two"]\n', stderr: "" })
  })

  it("reads a program from standard input", async () => {
    const ended = await run(folder, ["run", "-"], "const n: number = 20\nreturn n + 1")
    assert.deepStrictEqual(ended, { code: 0, stdout: "21\n", stderr: "" })
  })

  it("tells null from no value", async () => {
    assert.strictEqual((await run(folder, ["run", "null.ts"])).stdout, "null\n")
    assert.deepStrictEqual(await run(folder, ["run", "nothing.ts"]), { code: 0, stdout: "", stderr: "" })
  })

  it("prints values that JSON.stringify cannot reach or print", async () => {
    const deep = await run(folder, ["run", "deep.ts"])
    assert.strictEqual(deep.stdout, `${"[".repeat(100_000)}1${"]".repeat(100_000)}\n`)
    assert.strictEqual((await run(folder, ["run", "unpaired.ts"])).stdout, '"\\ud83d"\n')
  })

  it("shows the logs of both channels on standard error, one line an entry", async () => {
    assert.deepStrictEqual(await run(folder, ["run", "logs.ts"]), {
      code: 0,
      stdout: "4\n",
      stderr: "one\ntwo\nthree\n"
    })
    assert.deepStrictEqual(await run(folder, ["run", "logs.ts", "--no-logs"]), { code: 0, stdout: "4\n", stderr: "" })
  })

  it("shows logs while the program runs", async () => {
    const { child, ended, says } = start(folder, ["run", "spins.ts"])
    await says("spinning")
    assert.strictEqual(child.exitCode, null)
    child.kill("SIGTERM")
    await ended
  })

  it("shows an exception with its place and a code frame: 1", async () => {
    const { code, stderr, stdout } = await run(folder, ["run", "throws.ts"])
    assert.strictEqual(code, 1)
    assert.strictEqual(stdout, "")
    assert.match(stderr, /^before\nexception: RangeError: too far\n {4}at inner \(program\.ts:3:9\)/u)
    assert.match(stderr, /^> 3 \| {3}throw new RangeError\('too far'\)\n {4}\| {9}\^/mu)
  })

  it("shows where a program does not parse: 1", async () => {
    const { code, stderr } = await run(folder, ["run", "broken.ts"])
    assert.strictEqual(code, 1)
    assert.match(stderr, /^exception: SyntaxError: .*\n {4}at program\.ts:2:11\n/u)
    assert.match(stderr, /^> 2 \| const b = = 2$/mu)
  })

  it("ends a program that exceeds its busy time: 3", async () => {
    const { code, stderr } = await run(folder, ["run", "spins.ts", "--compute-ms", "100"])
    assert.strictEqual(code, 3)
    assert.match(stderr, /^spinning\ntimeout: .*computeMs.*100/u)
  })

  it("ends a program that exceeds its wall time: 3", async () => {
    const { code, stderr } = await run(folder, ["run", "waits.ts", "--max-wall-ms=100"])
    assert.strictEqual(code, 3)
    assert.match(stderr, /^timeout: .*maxWallMs.*100/u)
  })

  it("tells of a program that exits: 5", async () => {
    const { code, stderr } = await run(folder, ["run", "exits.ts"])
    assert.strictEqual(code, 5)
    assert.match(stderr, /^leaving\nworker-exit: .*code 3/u)
  })

  it("tells of a value that is not lossless JSON: 6", async () => {
    const { code, stderr, stdout } = await run(folder, ["run", "date.ts"])
    assert.strictEqual(code, 6)
    assert.strictEqual(stdout, "")
    assert.match(stderr, /^invalid-output: value\.rows\[0\]\.at is a Date/u)
  })

  it("tells of too much output: 7", async () => {
    const { code, stderr } = await run(folder, ["run", "large.ts", "--max-output-bytes", "200"])
    assert.strictEqual(code, 7)
    assert.match(stderr, /^output-limit: .*200 bytes/u)
  })

  it("--json prints the whole result, and no logs beside it", async () => {
    const { code, stderr, stdout } = await run(folder, ["run", "logs.ts", "--json"])
    assert.strictEqual(code, 0)
    assert.strictEqual(stderr, "")
    assert.match(stdout, /^[^\n]*\n$/u)
    const result = parseResult(stdout)
    assert.strictEqual(result.value, 4)
    assert.deepStrictEqual(result.logs, ["one", "two", "three\n"])
    assert.isFalse("error" in result)
  })

  it("--json tells of a failure in the result, with the same exit code", async () => {
    const { code, stderr, stdout } = await run(folder, ["run", "throws.ts", "--json"])
    assert.strictEqual(code, 1)
    assert.strictEqual(stderr, "")
    const result = parseResult(stdout)
    assert.isFalse("value" in result)
    assert.deepStrictEqual(result.logs, ["before"])
    assert.strictEqual(result.error?.kind, "exception")
    assert.match(result.error?.message ?? "", /^RangeError: too far/u)
  })

  it("--json --logs shows the logs as well", async () => {
    const { stderr, stdout } = await run(folder, ["run", "logs.ts", "--json", "--logs"])
    assert.strictEqual(stderr, "one\ntwo\nthree\n")
    assert.strictEqual(parseResult(stdout).logs.length, 3)
  })

  it("a reader that goes away is no failure", async () => {
    const { child, ended } = start(folder, ["run", "megabytes.ts"])
    child.stdout?.destroy()
    const { code, stderr } = await ended
    assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" })
  })

  it("passes limits on", async () => {
    const { code, stderr } = await run(folder, ["run", "value.ts", "--max-program-bytes", "10"])
    assert.strictEqual(code, 1)
    assert.match(stderr, /maxProgramBytes \(10\)/u)
  })
})

describe.concurrent("code-runtime check", () => {
  const cwd = makeFolder({
    "marks.ts": "import { writeFileSync } from 'node:fs'\nwriteFileSync('ran', '')\nreturn 1"
  })

  it("says nothing of a program that compiles, and runs nothing", async () => {
    assert.deepStrictEqual(await run(cwd, ["check", "marks.ts"]), { code: 0, stdout: "", stderr: "" })
    assert.isFalse(existsSync(join(cwd, "ran")))
  })

  it("shows where a program does not compile: 1", async () => {
    const { code, stderr, stdout } = await run(folder, ["check", "broken.ts"])
    assert.strictEqual(code, 1)
    assert.strictEqual(stdout, "")
    assert.match(stderr, /^exception: SyntaxError: .*\n {4}at program\.ts:2:11\n/u)
    assert.match(stderr, /^> 2 \| const b = = 2$/mu)
  })

  it("reads standard input", async () => {
    assert.strictEqual((await run(folder, ["check", "-"], "return 1")).code, 0)
    assert.strictEqual((await run(folder, ["check", "-"], "return return")).code, 1)
  })

  it("needs a file that is there: 2", async () => {
    const { code, stderr } = await run(folder, ["check", "absent.ts"])
    assert.strictEqual(code, 2)
    assert.strictEqual(stderr, "error: cannot read the program absent.ts: there is no such file\n")
  })
})
