/** Short texts that made the compiler's thread, or the host itself, work for minutes or fill the machine's memory. */
import { assert, describe, it } from "@effect/vitest"
import { NodeProcess, PromiseAdapter, WorkerThread } from "effect-code-runtime"
import { compile } from "../../src/backends/typescript-compiler/compile.ts"
import { plain } from "../../src/backends/typescript-compiler/plain.ts"
import { harmless } from "../../src/backends/typescript-compiler/regularExpressions.ts"
import { compiledOf, isRejected } from "./evaluate.ts"

const classes = (count: number, flags: string): string => `/[${"\\w".repeat(count)}]/${flags}`

/** Constants of which each is twice the one before. */
const doubling = (first: string, times: number): string =>
  [`x0 = '${first}'`, ...Array.from({ length: times }, (_, i) => `x${i + 1} = x${i} + x${i}`)].join(", ")

describe("regular expressions that V8 reads for seconds, and that nothing ends meanwhile", () => {
  it.each(["iv", "u", "giu", "v", "dgimsuy"])("are not judged in the host: flags %s", (flags) => {
    assert.isUndefined(plain(`return 1;x=${classes(8_000, flags)}`))
  })

  it.each([
    "const s = 'a'; return /\\w+/g.test(s)",
    "return 'https://example.org/users/v1'",
    "return 6 / 2",
    "// either/or\nreturn 1",
    "const u = 1, v = 2\nreturn 4 / u1 / v1"
  ])("leave others to be judged there: %s", (program) => {
    assert.isDefined(plain(program))
  })

  it.each([
    ["blanked", `const a: RegExp = ${classes(500_000, "iv")}\nreturn 1`],
    ["printed", `enum E { A }\nconst a = ${classes(20_000, "iu")}\nreturn 1`],
    ["many", `const a: number = 1;\n${`${classes(20, "iv")};`.repeat(5_000)}`],
    ["nested", `const a: RegExp = /${"[".repeat(400_000)}\\w\\w\\w${"]".repeat(400_000)}/v`],
    ["inside of a template", `const a: string = \`\${${classes(20_000, "iv")}}\``]
  ])("are not read by the compiler either: %s", (_, program) => {
    assert.isTrue(compiledOf(program).code.includes("\\w\\w\\w"))
  })

  it("are replaced by as many characters, and nothing else is", () => {
    const literal = classes(200, "iv")
    const code = `const a = "/x/u", b = 1 / 2 // ${literal}\nconst c = [${literal}, /\\w/u, \`\${${literal}}\`]`
    const made = harmless(code)
    assert.strictEqual(made.length, code.length)
    const replaced = `/${"x".repeat(literal.length - 4)}/iv`
    assert.strictEqual(
      made,
      `const a = "/x/u", b = 1 / 2 // ${literal}\nconst c = [${replaced}, /xx/u, \`\${${replaced}}\`]`
    )
  })

  it("short ones are judged before the program runs", () => {
    const result = compile("const a: RegExp = /(?<a>x/u")
    assert.isTrue(isRejected(result) && result.rejected.startsWith("SyntaxError: Invalid regular expression"))
  })

  it("what is wrong in a long one is told as the program begins", async () => {
    await using runtime = await PromiseAdapter.make(WorkerThread.layer())
    const { error, logs } = await runtime.run({
      program: `console.log("begun")\nconst a: RegExp = /(?<a>${"x".repeat(300)}/u\nreturn 1`,
      bindings: []
    })
    assert.deepStrictEqual(logs, [])
    assert.strictEqual(error?.kind, "exception")
    assert.match(error?.message ?? "", /^SyntaxError: Invalid regular expression/u)
  })

  it.runIf(process.platform === "linux")("end with their guest", async () => {
    await using runtime = await PromiseAdapter.make(NodeProcess.layer({ computeMs: 1_000, standby: 0 }))
    const { error } = await runtime.run({ program: `x = ${classes(25_000, "iv")}`, bindings: [] })
    assert.include(["timeout", "worker-exit"], error?.kind)
    assert.deepStrictEqual(await runtime.run({ program: "return 1", bindings: [] }), { value: 1, logs: [] })
  })
})

describe("texts that grow as they are printed", () => {
  const tooLong = "SyntaxError: the program is too long once it is compiled (more than 33554432 characters)"

  it.each([
    ["constants of an enum", `declare enum A { ${doubling("x".repeat(16), 22)} }\nenum B { b = A.x22 }`],
    ["constants that are escaped", `enum A { ${doubling("\\n".repeat(16), 20)} }`],
    [
      "constants outside of enums",
      `const x0 = '${"x".repeat(16_384)}'${Array.from({ length: 12 }, (_, i) => `, x${i + 1} = x${i} + x${i}`).join("")}\nenum A { a = x12 }`
    ],
    [
      "one constant many times",
      `declare enum A { ${doubling("x".repeat(16), 14)} }\nenum B { ${Array.from({ length: 500 }, (_, i) => `b${i} = A.x14`).join()} }`
    ],
    ["indentation", `enum E {}\n${"{".repeat(300)}${"a\n".repeat(60_000)}${"}".repeat(300)}`],
    ["indentation of a comment", `enum E {}\n${"{".repeat(300)}/*${"\n".repeat(60_000)}*/a${"}".repeat(300)}`],
    ["the name of a namespace", `namespace ${"a".repeat(20_000)} { export let b = 1; ${"b;".repeat(20_000)} }`]
  ])("are rejected: %s", (_, program) => {
    const result = compile(program)
    assert.strictEqual(isRejected(result) ? result.rejected : `${result.code.length} characters`, tooLong)
  })

  it("and others are not", () => {
    const cases = Array.from({ length: 300 }, (_, i) => `else if (a === ${i}) { f(${i}) }`).join("\n")
    const program = `enum E { A = "a", B = A + "b", C = \`\${B}c\` }\nlet a = 0\nif (a) {}\n${cases}\n${"a = E.A ? 1 : 2\n".repeat(3_000)}`
    assert.isFalse(isRejected(compile(program)))
  })
})
