import { assert, describe, it } from "@effect/vitest"
import { compile } from "../../src/backends/typescript-compiler/compile.ts"
import { plain } from "../../src/backends/typescript-compiler/plain.ts"

/** Programs that V8 alone may judge. */
const plainPrograms = [
  "return 1",
  "",
  "  \n",
  "// a comment first\nreturn 1",
  "/* one */ // two\n\nreturn await tools.add({ a: 1, b: 2 })",
  "for (let i = 0; i < 3; i++) console.log(i)\r\nreturn `${1}` // end",
  "const double = (x) => x * 2\nreturn [1, 2].map((x) => double(x))",
  "class Box { static count = 0; #value = 1; get value() { return this.#value } }\nreturn new Box().value",
  'const fs = await import("node:fs")\nreturn typeof fs.readFileSync',
  "type\nX = 1",
  "x\nas\ny",
  "declare\nconst x = 1",
  "abstract\nclass X {}",
  "a ? (b) : c => d",
  "label: for (;;) break label",
  "const o = { async *m() {}, get x() { return 1 }, ...{} }\nreturn o.x",
  '"use strict"; return this === undefined'
]

/** Programs that mean more than V8 sees, each with what it means. */
const doubtfulPrograms = [
  ["type arguments that look like comparisons", "const f = (x) => x\nreturn f<string>('a')"],
  ["an instantiation at the end of a line", "a<b>\nc"],
  ["a lone arrow function, which is called", "x => 1"],
  ["a lone arrow function of another alphabet", "é => 1"],
  ["a lone arrow function behind a comment", "// called\nasync () => 1"],
  ["a lone function in parentheses", "(function () { return 1 })"],
  ["an uncalled main, which is called", "const main = async () => 1"],
  ["an uncalled main by an escape", "const m\\u0061in = () => 1"],
  ["a fence, which is a tagged template to V8", "```\nreturn 1\n```"],
  ["a fence of tildes", "~~~\nreturn 1\n~~~"],
  ["a byte-order mark", "\uFEFFreturn 1"],
  ["an interpreter line", "#!/usr/bin/env node\nreturn 1"],
  ["an HTML comment, which is one to V8 alone", "let x = 1\n--> gone\nreturn x"],
  ["a static import", "import fs from 'node:fs'\nreturn 1"],
  ["an export", "export const x = 1"],
  ["a declaration that is lowered for older Nodes", "using x = null\nreturn 1"],
  ["a type annotation", "const x: number = 1"],
  ["a function body that ends early", "return 1 }); evil(); (async function () {"],
  ["an early error", "const a = 1; const a = 2"],
  ["a syntax error", "const = 1"],
  ["a text that is too long to be judged in the host", `return 1 // ${"x".repeat(16_384)}`]
] as const

describe("plain JavaScript", () => {
  it.each(plainPrograms)("needs no compiler, which would give just the same: %j", (program) => {
    assert.deepStrictEqual(plain(program), compile(program))
  })

  it.each(doubtfulPrograms)("is not: %s", (_, program) => {
    assert.isUndefined(plain(program))
  })

  it("hostile texts of the longest length are judged, and harm nothing", () => {
    for (const part of ["(", "[", "{", "x=[", "(a=>", "async(", "`${", "/*", "a<", "?.a", "{a=", "function f(){"]) {
      assert.isUndefined(plain(`x;${part.repeat(Math.floor(16_000 / part.length))}`))
    }
    assert.isDefined(plain("return 7"))
  })

  it("V8 executes nothing of what it judges", () => {
    const probe = "effectCodeRuntimePlainProbe"
    assert.isDefined(plain(`globalThis.${probe} = 1; return 1`))
    assert.isFalse(probe in globalThis)
  })
})
