import { assert, describe, it } from "@effect/vitest"
import { makeFolder, run } from "./CommandLine.ts"

const folder = makeFolder({
  "tools.ts": `
    interface Pair { readonly a: number; readonly b: number }
    export const tools = {
      add: ({ a, b }: Pair): number => a + b,
      fail: async () => { throw new Error("no such file") },
      never: () => new Promise<never>(() => {}),
      "read file": async () => "text"
    }
    export const version = "1.0.0"
    export const settings = { depth: 3 }
    export class Unrelated {}
  `,
  "errors.mjs": `
    export const db = {
      functions: { find: async ({ id }) => { throw new Error("no row " + id) } },
      errorClass: { name: "DbError", memberNameProperty: "operation" }
    }
  `,
  "common.cjs": `module.exports = (() => ({ common: { hello: () => "hello" } }))()`,
  "default.mjs": `export default { first: { one: () => 1 } }\nexport const second = { two: () => 2 }`,
  "signal.mjs": `
    export const tools = {
      tick: () => null,
      wait: (_, { signal }) => new Promise(() => signal.addEventListener("abort", () => process.stderr.write("aborted\\n")))
    }
  `,
  "noisy.mjs": `
    console.log("loading")
    export const tools = { save: () => { console.log("saving"); process.stdout.write("raw"); return 1 } }
  `,
  "save.ts": "return await tools.save()",
  "empty.mjs": "export const a = 1",
  "mixed.mjs": "export const tools = { add: () => 1, limit: 3 }",
  "reserved.mjs": "export const console = { log: () => null }",
  "slip.mjs": `
    export const db = {
      functions: { find: () => 1 },
      errorclass: { name: "DbError", memberNameProperty: "operation" }
    }
  `,
  "throws.mjs": "throw new Error('not today')",
  "add.ts": "return await tools.add({ a: 1, b: 2 })",
  "catch.ts": "try { await tools.fail({}) } catch (error) { return [error.name, error.message] }",
  "named.ts": "return await tools['read file']()",
  "class.ts":
    "try { await db.find({ id: 7 }) } catch (error) { return [error instanceof DbError, error.message, error.operation] }",
  "both.ts": "return [await tools.add({ a: 1, b: 2 }), await common.hello(), await first.one(), await second.two()]",
  "forgets.ts": "const a = 1\n\ntools.never()\ntools['read file'] && 0\nreturn a",
  "waits.ts": "await tools.never()",
  "leaves.ts": "tools.wait()\nawait tools.tick()\nreturn 1"
})

describe.concurrent("code-runtime run --bindings", () => {
  it("gives the exports of a TypeScript module as namespaces", async () => {
    const ended = await run(folder, ["run", "add.ts", "--bindings", "tools.ts"])
    assert.deepStrictEqual(ended, { code: 0, stdout: "3\n", stderr: "" })
  })

  it("a module that printed on standard output spoilt the value there: it comes on standard error", async () => {
    const ended = await run(folder, ["run", "save.ts", "--bindings", "noisy.mjs"])
    assert.strictEqual(ended.stdout, "1\n")
    assert.match(ended.stderr, /^loading\nsaving\nraw/u)
  })

  it("gives names that are no identifiers", async () => {
    assert.strictEqual((await run(folder, ["run", "named.ts", "--bindings", "./tools.ts"])).stdout, '"text"\n')
  })

  it("tells the program of a rejection by its message", async () => {
    const { stdout } = await run(folder, ["run", "catch.ts", "--bindings", "tools.ts"])
    assert.strictEqual(stdout, '["Error","no such file"]\n')
  })

  it("takes an error class", async () => {
    const { stdout } = await run(folder, ["run", "class.ts", "--bindings", "errors.mjs"])
    assert.strictEqual(stdout, '[true,"no row 7","find"]\n')
  })

  it("takes several modules, CommonJS and default exports", async () => {
    const modules = ["tools.ts", "common.cjs", "default.mjs"].flatMap((module) => ["--bindings", module])
    const ended = await run(folder, ["run", "both.ts", ...modules])
    assert.deepStrictEqual(ended, { code: 0, stdout: '[3,"hello",1,2]\n', stderr: "" })
  })

  it("warns of a call that was still open, and aborts it", async () => {
    const { code, stderr, stdout } = await run(folder, ["run", "forgets.ts", "--bindings", "tools.ts"])
    assert.deepStrictEqual({ code, stdout }, { code: 0, stdout: "1\n" })
    assert.strictEqual(
      stderr,
      "warning: tools.never, line 3, was still open when the program ended; did you forget `await`?\n"
    )
    assert.include((await run(folder, ["run", "leaves.ts", "--bindings", "signal.mjs"])).stderr, "aborted\n")
  })

  it("blames no forgotten await when the program was ended", async () => {
    const { code, stderr } = await run(folder, ["run", "waits.ts", "--bindings", "tools.ts", "--max-wall-ms", "100"])
    assert.strictEqual(code, 3)
    assert.include(stderr, "\nwarning: tools.never, line 1, was still open when the program ended\n")
  })

  it("--json tells of open calls in the result", async () => {
    const { stderr, stdout } = await run(folder, ["run", "forgets.ts", "--bindings", "tools.ts", "--json"])
    assert.strictEqual(stderr, "")
    assert.include(stdout, '"unsettledCalls":[{"global":"tools","name":"never","line":3}]')
  })

  const refusals: ReadonlyArray<readonly [what: string, modules: ReadonlyArray<string>, message: RegExp]> = [
    ["is not there", ["absent.mjs"], /^error: cannot use --bindings absent\.mjs: Cannot find module/u],
    ["throws", ["throws.mjs"], /^error: cannot use --bindings throws\.mjs: not today\n$/u],
    [
      "has no namespace",
      ["empty.mjs"],
      /^error: cannot use --bindings empty\.mjs: no export of it is an object of fun/u
    ],
    [
      "has a member that is no function",
      ["mixed.mjs"],
      /the binding "limit" of tools is number; it must be a function/u
    ],
    ["misspells a key", ["slip.mjs"], /bindings\[0\] has no key "errorclass"; did you mean errorClass\?/u],
    ["has a reserved name", ["reserved.mjs"], /the namespace "console" is a global that a backend owns/u],
    ["names a namespace twice", ["tools.ts", "signal.mjs"], /the namespace "tools" is used twice in one request/u]
  ]
  for (const [what, modules, message] of refusals) {
    it(`refuses a module that ${what}: 2`, async () => {
      const flags = modules.flatMap((module) => ["--bindings", module])
      const { code, stderr, stdout } = await run(folder, ["run", "add.ts", ...flags])
      assert.deepStrictEqual({ code, stdout }, { code: 2, stdout: "" })
      assert.match(stderr, message)
    })
  }
})
