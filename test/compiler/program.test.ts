/** What a program is and how its text is read: the rules P1, P2, P5, P6 and the places of O5. */
import { assert, describe, it } from "@effect/vitest"
import { compile } from "../../src/backends/typescript-compiler/compile.ts"
import { compiledOf, evaluate, isBlanked } from "./evaluate.ts"

const gives = (name: string, programs: ReadonlyArray<readonly [program: string, value: unknown]>): void => {
  describe(name, () => {
    for (const [program, value] of programs) {
      it(JSON.stringify(program).slice(0, 110), async () => {
        assert.deepStrictEqual(await evaluate(program), { value })
      })
    }
  })
}

const rejects = (
  name: string,
  programs: ReadonlyArray<readonly [program: string, message: RegExp, place?: string]>
): void => {
  describe(name, () => {
    for (const [program, message, place] of programs) {
      it(JSON.stringify(program).slice(0, 110), async () => {
        const { place: found, rejected } = await evaluate(program)
        assert.match(rejected ?? "", message)
        assert.match(rejected ?? "", /^SyntaxError: /u)
        if (place !== undefined) assert.strictEqual(found, place)
      })
    }
  })
}

gives("the body of a strict async function", [
  ["", undefined],
  ["1 + 1", undefined],
  ["// only a comment", undefined],
  ["return await Promise.resolve(3)", 3],
  ["for await (const x of [Promise.resolve(4)]) return x", 4],
  ["return [this === undefined, arguments.length, new.target === undefined]", [true, 0, true]],
  ["if (1 > 2) return 1", undefined]
])

it("is strict", async () => {
  assert.match((await evaluate("undeclared = 1")).error ?? "", /^ReferenceError: /u)
})

gives("edges of the text", [
  ["#!/usr/bin/env node\nreturn 1", 1],
  ["\uFEFFreturn 1", 1],
  ["\uFEFF#!/usr/bin/env node\r\nreturn 1", 1],
  ["const a: number = 0;\r\nconst b =\r\n  1;\r\nreturn a + b;\r\n", 1],
  ["return 1 // the end", 1],
  ["enum E { A = 1 }\nreturn E.A // the end", 1],
  ["const s = '\u2028\u2029'; return s.length", 2],
  ["type A = 1 // \u2028 | 2\nreturn 1", 1],
  ["return '\\ud800'.length + '\ud800'.length", 2]
])

gives("types of every sort", [
  [
    "const f = <T,>(x: T) => x; const g = async <T extends object>(x: T): Promise<T> => x; return [f(1), await g([2])]",
    [1, [2]]
  ],
  ["const old = <number>(1 as unknown); return old satisfies number", 1],
  [
    "let x!: number; class C { y!: string; declare w: number }\nx = 1; return [x, 'y' in new C(), 'w' in new C()]",
    [1, true, false]
  ],
  [
    "class C { x; constructor() { this.x = 1 } }\nclass D extends C { declare x: any; y = 2 }\nreturn Object.keys(new D())",
    ["x", "y"]
  ],
  ["class C { x = 1 }\nclass D extends C { set x(v: number) { throw new Error('set') } }\nreturn new C().x", 1],
  ["function f(this: { a: number }, b: number) { return this.a + b }\nreturn f.call({ a: 1 }, 2)", 3],
  ["function f(a: string): string\nfunction f(a: number): number\nfunction f(a: any) { return a }\nreturn f(1)", 1],
  [
    "function check(x: unknown): asserts x is string {}\ndeclare const s: unique symbol\nconst v: string | number = 'a'; check(v); return v",
    "a"
  ],
  [
    "declare enum X { A }\ndeclare function z(): void\ndeclare module 'm' { export const x: number }\ndeclare global { interface Window { a: 1 } }\nreturn 1",
    1
  ],
  ["namespace T { export interface X { a: number } }\nconst x: T.X = { a: 1 }; return x.a", 1],
  [
    "export interface A { x: number }\nexport type B = A\nexport type { B as C }\nexport declare const d: number\nreturn 1",
    1
  ],
  ["try { throw 1 } catch (e: unknown) { return e as number }", 1],
  ["return 1 + 1 as number / 2", 1],
  ["const n: any = null; return n ?? 1 as number", 1],
  ["const f = (a: number):\n number =>\n a + 1; return f(1)", 2],
  ["let a = [3]; const f = a\ntype X = number\n;(1)\ninterface Y {}\n[0].map(q => q)\nreturn f[0]", 3],
  [
    "abstract class A { abstract m(): number; abstract x: number; private y = 1; static #p = 2; static get p() { return A.#p } }\nclass B extends A { override m() { return 1 } x = 3 }\nreturn [new B().m(), new B().x, A.p]",
    [1, 3, 2]
  ]
])

describe("types are blanked, never printed anew", () => {
  for (const program of [
    "interface A { b: number }\nconst a: A = { b: 1 }\nreturn a.b as number",
    "import { join } from 'node:path'\nasync function main(): Promise<string> { return join('a', 'b') }",
    "async (): Promise<number> => 1 as number"
  ]) {
    it(program.slice(0, 60), () => {
      assert.isTrue(isBlanked(program))
    })
  }
})

gives("blanking never joins what stood apart", [
  ["class P { x = 1\n private *gen() { yield 1 } }\nreturn [...(new P() as any).gen()]", [1]],
  ["class P { get: number\n x = 1 }\nreturn new P().x", 1],
  ["class P { static: number\n x = 1 }\nreturn Object.keys(new P())", ["static", "x"]],
  ["class P { x = 1\n private in = 2 }\nreturn (new P() as any).in", 2],
  [
    "abstract class P { x = 1\n abstract foo(): void\n ['k']() { return 1 } }\nclass Q extends P { foo() {} }\nreturn new Q().x",
    1
  ],
  ["class P { [k: string]: any\n *g() { yield 2 } }\nreturn [...new P().g()]", [2]],
  ["const x = 1 as unknown as number\n;[1].map(y => y)\nreturn x", 1],
  ["let n = 0; const f = () => { n += 1 }\nf()\nimport { sep } from 'node:path'\n;(sep)\nreturn n", 1]
])

gives("syntax that is more than types", [
  ["enum E { A = 1 }\nenum E { B = 2 }\nreturn [E.A, E.B, E[2]]", [1, 2, "B"]],
  ["enum E { A = 'x'.length, B = A << 2, C = B | 1 }\nreturn [E.A, E.B, E.C]", [1, 4, 5]],
  ["const enum E { A = 1, B = A + 1 }\nreturn E.B + E['A']", 3],
  [
    "namespace N { export let x = 1; export function inc() { x++ } }\nnamespace N { export const y = x + 1; export namespace D { export const z = y } }\nN.inc(); return [N.x, N.y, N.D.z]",
    [2, 2, 2]
  ],
  ["namespace A.B.C { export const v = 1 }\nreturn A.B.C.v", 1],
  ["function f() { return 1 }\nnamespace f { export const k = 2 }\nreturn f() + f.k", 3],
  ["class K { static a = 1 }\nnamespace K { export const b = 2 }\nreturn K.a + K.b", 3],
  [
    "namespace N { export namespace M { export const x = 3 } export type T = number }\nimport A = N.M\nimport U = N.T\nconst z: U = 1\nreturn A.x + z",
    4
  ],
  [
    "namespace N { export const y = 2 }\nnamespace O { export import P = N; import Q = N; export const q = Q.y }\nreturn O.P.y + O.q",
    4
  ],
  ["namespace T { export interface X { a: number } }\nimport A = T.X\nconst x: A = { a: 1 }; return x.a", 1],
  [
    "class P { constructor(public x: number, private readonly y = 2) {} sum() { return this.x + this.y } }\nreturn new P(1).sum()",
    3
  ],
  [
    "class A { accessor x = 1; static accessor y: number = 2; accessor #z = 3; get z() { return this.#z } }\nreturn [new A().x, A.y, new A().z]",
    [1, 2, 3]
  ],
  [
    "function dec(v: any, c: ClassMethodDecoratorContext) { return function (this: any, ...a: any[]) { return v.apply(this, a) + 1 } }\nclass A { @dec m() { return 1 } }\nreturn new A().m()",
    2
  ],
  [
    "function mark(t: any, c: any) { c.addInitializer(function (this: any) { this.kind = c.kind }) }\n@mark class A {}\nreturn (A as any).kind",
    "class"
  ],
  [
    "const log: string[] = [];\nusing a = { [Symbol.dispose]() { log.push('a') } };\nawait using b = { async [Symbol.asyncDispose]() { log.push('b') } };\nfunction hoisted() { return 5 }\nclass C {}\nconst k = hoisted();\nreturn [k, log, C.name]",
    [5, ["b", "a"], "C"]
  ],
  [
    "const log: number[] = []\nfor (using x of [{ [Symbol.dispose]() { log.push(1) } }]) log.push(0)\nreturn log",
    [0, 1]
  ],
  ["export interface A { x: number }\nenum Z { Q = 4 }\nexport type { A as C }\nreturn Z.Q", 4]
])

rejects("what is no TypeScript program", [
  ["const a = 1;\nconst b = ;\nreturn a", /Expression expected$/u, "2:11"],
  ["})", /Declaration or statement expected/u, "1:1"],
  ["return 1 }); (function(){", /Declaration or statement expected/u, "1:10"],
  ["return `unclosed", /Unterminated template literal/u],
  ["/* unclosed", /'\*\/' expected/u],
  ["class A { m(@dec p: number) {} }", /parameter decorators are not supported.*standard \(TC39\)/u, "1:13"],
  ["@dec function f() {}", /Decorators are not valid here/u, "1:1"],
  ["let a = 1, b = 2\nreturn a <!--b", /HTML comments are not allowed/u, "2:10"],
  ["x = 1\n--> foo", /Expression expected/u],
  ["return <div>a</div>", /SyntaxError/u]
])

gives("what only looks like an HTML comment", [
  ["return `<!-- ${1}` + '<!--'", "<!-- 1<!--"],
  ["// <!-- \nreturn /<!--/.source", "<!--"]
])

rejects("early errors that only JavaScript finds, in place", [
  ["const a = 1; const a = 2", /'a' has already been declared/u, "1:20"],
  ["enum Q { A }\nconst a = 1;\n\tconst a = 2", /'a' has already been declared/u, "3:8"],
  ["async () => { const b = 1; let b }", /'b' has already been declared/u, "1:32"],
  ["```ts\nreturn 1;\n  const a = 1, a = 2\n```", /'a' has already been declared/u, "3:16"],
  ["function f() { await 1 }", /await is only valid/u, "1:16"],
  ["return 1\nlabel: { break foo }", /Undefined label 'foo'/u, "2:16"],
  [`/* ${"x".repeat(3000)} */ let let = 1`, /SyntaxError/u]
])

const remedy = /write `return x` instead of `export`/u
rejects("exports", [
  ["export const x = 1", remedy, "1:1"],
  ["export default 1", remedy],
  ["export default async function main() { return 1 }", remedy],
  ["export async function main() { return 1 }", remedy],
  ["const a = 1\nexport {}", remedy, "2:1"],
  ["export * from 'x'", remedy],
  ["export = 5", remedy],
  ["export enum A { B }", remedy],
  ["export namespace N { export const a = 1 }", remedy],
  ["if (1) { export const a = 1 }", remedy, "1:10"],
  ["enum A { B }\nif (1) { export const a = 1 }", remedy, "2:10"]
])

gives("a fence around the whole text", [
  ["```ts\nreturn 42\n```", 42],
  ["\n\n```typescript\nreturn 42\n```\n", 42],
  ["~~~~ ts with `info`\nreturn 42\n~~~~~ \n\n", 42],
  ["   ```js\r\nreturn 42\r\n  ```\r\n", 42],
  ["````md\nconst s = '```'\nreturn s\n````", "```"],
  ["````\n```ts\nreturn 42\n```\n````", 42],
  ["```ts\n#!/usr/bin/env node\nreturn 42\n```", 42],
  ["```ts\n```", undefined],
  ["```ts\nasync () => {\n  return 42\n}\n```", 42],
  ["```ts\nimport path from 'node:path'\nenum E { A }\nasync function main() { return path.sep + E.A }\n```", "/0"],
  ["const text = `\n\\`\\`\\`ts\nreturn 1\n\\`\\`\\`\n`;\nreturn text;", "\n```ts\nreturn 1\n```\n"]
])

describe("what is no fence around the whole text is not repaired", () => {
  for (const program of [
    "Here it is:\n```ts\nreturn 1\n```",
    "```ts\nreturn 1\n```\nDone.",
    "```ts\nreturn 1\n```\n```ts\nreturn 2\n```",
    "```\nreturn 1\n```\n\n```\nreturn 2\n```",
    "```ts\nreturn 1",
    "````\nreturn 1\n```",
    "```ts\nreturn 1\n~~~",
    "    ```ts\nreturn 1\n```",
    "```a`b\nreturn 1\n```"
  ]) {
    it(JSON.stringify(program), async () => {
      const result = await evaluate(program)
      assert.isTrue(result.rejected !== undefined || result.error !== undefined)
    })
  }
})

gives("a single function is called", [
  ["async () => { return 42 }", 42],
  ["() => 42", 42],
  ["// a comment\n(async (): Promise<number> => { return 42 }); // another", 42],
  ["((((function f() { return 42 }))));;", 42],
  ["async function () {\n  return 42\n}", 42],
  ["function () { return 42 }", 42],
  ["async function <T>(x?: T): Promise<number> { return 42 }", 42],
  ["() => 42 as any", 42],
  ["() => 42 as any // comment", 42],
  ["() => ({ a: 1 })", { a: 1 }],
  ["async () => { enum E { A = 42 } return E.A }", 42],
  ["async function () { using x = { [Symbol.dispose]() {} }; return 42 }", 42]
])

gives("what is more than a single function is not called", [
  ["(() => 42)()", undefined],
  ["'use strict'; () => 42", undefined],
  ["const f = () => 42", undefined],
  ["function foo() { return 42 }", undefined],
  ["() => 42\nvoid 0", undefined],
  ["(function* () { yield 42 })", undefined]
])

rejects("nameless functions that stay illegal", [
  ["function* () { yield 1 }", /Identifier expected/u],
  ["async function () {}\nreturn 2", /Identifier expected/u, "1:16"],
  ["async function () {\n  const a = ;\n}", /Expression expected/u, "2:13"]
])

gives("an uncalled main is called", [
  ["async function main() {\n  return 42\n}", 42],
  ["const main = async () => 42", 42],
  ["const main = (async function main() { return 42 }) // comment", 42],
  ["function main(): number\nfunction main(a?: any) { return 42 }", 42],
  ["async function main() { if (1 > 2) await main(); return 42 }", 42],
  ["async function main(first: any) { return typeof first }", "undefined"],
  [
    "'use strict'\nimport { sep } from 'node:path'\ntype X = 1\nenum E { A }\nnamespace N { export const n = 1 }\nclass C {}\nlet k = 1\nvar v\nconst main = async () => sep + E.A + N.n + k",
    "/011"
  ],
  [
    "function help(main: number) { return { main: main, a: { main: 2 }.main } }\nfunction main() { return 42 }\ntype M = typeof main",
    42
  ],
  ["const later = async () => await 1\nasync function main() { return await later() }", 1]
])

gives("what is more than declarations with an uncalled main is left alone", [
  ["async function main() { return 42 }\nvoid main()", undefined],
  ["async function main() { return 42 }\nconst x = main", undefined],
  ["function main() { return 42 }\nconst o = { main }", undefined],
  ["function help() { return main() }\nfunction main() { return 42 }", undefined],
  ["const data = await Promise.resolve(1)\nasync function main() { return data }", undefined],
  ["async function main() { return 42 }\nvoid 1", undefined],
  ["function* main() { yield 42 }", undefined],
  ["async function* main() { yield 42 }", undefined],
  ["function f() { function main() { return 42 } }", undefined],
  ["declare function main(): void", undefined],
  ["const main = 42", undefined]
])

gives("injected names may be taken", [
  ["const tools = 1; return tools", 1],
  ["class ToolError {}\nfunction console() { return 2 }\nreturn console()", 2],
  ["import console from 'node:path'\nreturn console.posix.join('a', 'b')", "a/b"]
])

describe("places", () => {
  const cases: ReadonlyArray<readonly [name: string, program: string, frames: ReadonlyArray<string>]> = [
    ["the first line", "throw new Error('x')", ["1:7"]],
    [
      "blanked types",
      "interface Row { a: number }\nfunction inner(row: Row): never {\n  throw new RangeError('far');\n}\nconst rows: Row[] = [{ a: 1 }];\nvoid rows[0]!, inner(rows[0]!)",
      ["3:9", "6:16"]
    ],
    [
      "an enum and a parameter property",
      "enum Level { Low, High }\nclass Box { constructor(private readonly level: Level) {} get() { return this.level; } }\nasync function later(box: Box) {\n  await null;\n  const nothing: any = null;\n  return nothing.field + box.get();\n}\nawait later(new Box(Level.High));",
      ["6:18", "8:1"]
    ],
    ["after an import", "import { sep } from 'node:path'; throw new Error(sep)", ["1:40"]],
    ["after an import, printed", "import { sep } from 'node:path'; enum E { A }; throw new Error(sep)", ["1:54"]],
    [
      "a fence, an import, an enum and main",
      "```ts\nimport path from 'node:path'\nenum A { B }\nasync function main() {\n  throw new Error(path.sep + A.B)\n}\n```",
      ["5:9"]
    ],
    ["a fence and a function", "```ts\nasync () => {\n  (null as any).x\n}\n```", ["3:17"]],
    ["a function on the first line", "async () => { throw new Error('x') }", ["1:21"]],
    ["a function, printed", "async function () {\n  enum A { B }\n  throw new Error('x')\n}", ["3:9"]],
    ["a line separator in a type", "type A = {\u2028 a: 1 };\nthrow new Error('x')", ["3:7"]],
    ["a line separator in a string, printed", "enum A { B }; const u = '\u2028';\n throw new Error('x')", ["3:8"]],
    ["CRLF", "enum A { B }\r\n\r\n  throw new Error('x')", ["3:9"]],
    ["a missing export", "const q = 1\nimport { join,\n  nope } from 'node:path'\nreturn nope() + join", ["3:3"]],
    [
      "a missing export, printed",
      "enum A { B }\nimport { join,\n  nope } from 'node:path'\nreturn nope() + join",
      ["3:3"]
    ]
  ]
  for (const [name, program, frames] of cases) {
    it(name, async () => {
      assert.deepStrictEqual((await evaluate(program)).frames, frames)
    })
  }

  it("a printed program does not lose its blanked neighbours", () => {
    assert.isFalse(isBlanked("enum A { B }"))
    assert.strictEqual(compiledOf("return 1").code, '(async function(){"use strict";return 1\n})')
  })
})

it("compiles a program the same way after any other", () => {
  const hostile = ["a?(b):c=>".repeat(12) + "d", "((((", "class A { @x", "enum {", "`${", "<T>(", "import"]
  const program = "const f = (a: number) => (b: number): number => a + b\nreturn f(1)(2)"
  const before = compile(program)
  for (const text of hostile) compile(text)
  assert.deepStrictEqual(compile(program), before)
})
