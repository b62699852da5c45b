/** P: what a program is, and how its text is read. */
import * as Effect from "effect/Effect"
import { atPy, atTs, type Attempt, code, ensure, equal, hostTrace, type Rule } from "../Case.ts"

const hostileTypescript = (size: number): ReadonlyArray<string> => [
  "(".repeat(size),
  "[".repeat(size),
  "{".repeat(size),
  "a=>".repeat(size / 4),
  `return ${"!".repeat(size)}1`,
  `return ${"-+".repeat(size / 3)}1`,
  "`${".repeat(size / 4),
  "if(1)".repeat(size / 6),
  `return ${"1+".repeat(size / 3)}1`,
  `type T = ${"A<".repeat(size / 4)}`,
  "class A{x=".repeat(size / 16),
  "async()=>{await ".repeat(size / 20),
  `return ${"a?b:".repeat(size / 6)}1`,
  `x${".y".repeat(size / 4)}`,
  `return /${"(".repeat(size / 2)}/`,
  "enum E{A=".repeat(size / 16),
  "namespace N{".repeat(size / 16),
  "@d ".repeat(size / 6),
  `${"<T>".repeat(size / 6)}1`,
  `return ${"new ".repeat(size / 8)}X`
]

const hostilePython = (size: number): ReadonlyArray<string> => [
  "(".repeat(size),
  "[".repeat(size),
  `return ${"-".repeat(size)}1`,
  `return ${"not ".repeat(size / 6)}1`,
  `return ${"1+".repeat(size / 3)}1`,
  `return ${"lambda:".repeat(size / 10)}1`,
  `x${".y".repeat(size / 4)}`,
  `x${"[0]".repeat(size / 6)}`,
  `return ${"a if b else ".repeat(size / 20)}1`,
  Array.from({ length: 300 }, (_, i) => `${" ".repeat(i)}if 1:`).join("\n"),
  `f"${"{f'".repeat(size / 8)}`,
  `return ${"await ".repeat(size / 10)}x`,
  `return ${"9".repeat(size / 2)}`,
  "\u0000".repeat(100),
  "match x:\n case " + "[".repeat(size / 4)
]

const ways: { readonly [language: string]: { readonly [name: string]: string } } = {
  typescript: {
    static: 'import * as m from "MODULE"\nreturn typeof m',
    dynamic: 'return typeof (await import("MODULE"))',
    require: 'const r = require("MODULE"); return typeof r === "function" ? "object" : typeof r',
    builtin:
      'const m = process.getBuiltinModule("MODULE"); if (m === undefined) throw new Error("no"); return typeof m === "function" ? "object" : typeof m'
  },
  python: {
    static: 'import MODULE\nreturn "object"',
    dynamic: '__import__("MODULE")\nreturn "object"',
    require: 'import importlib\nimportlib.import_module("MODULE")\nreturn "object"',
    builtin: 'def inside():\n    import MODULE\n    return "object"\nreturn inside()'
  }
}
const modules: { readonly [language: string]: ReadonlyArray<string> } = {
  typescript: [
    "node:path",
    "node:fs",
    "node:child_process",
    "node:worker_threads",
    "node:net",
    "node:vm",
    "node:inspector"
  ],
  python: ["json", "os", "subprocess", "socket", "ctypes", "multiprocessing", "gc"]
}

const fenced = (inside: string, info: string): ReadonlyArray<string> => [
  "```" + info + "\n" + inside + "\n```",
  "~~~" + info + "\n" + inside + "\n~~~",
  "````" + info + "\n" + inside + "\n````",
  "\n\n  \n```" + info + "\n" + inside + "\n```\n\n",
  "```" + info + "\r\n" + inside.replaceAll("\n", "\r\n") + "\r\n```\r\n",
  "```\n" + inside + "\n```   ",
  "\uFEFF```" + info + "\n" + inside + "\n```"
]

export const program: ReadonlyArray<Rule> = [
  {
    id: "P1",
    text: "The program runs as the body of an async function: top-level await and return; strict mode in TypeScript.",
    cases: [
      {
        id: "P1.await-and-return",
        claim: "await and return stand at the top and in every block",
        expect: { value: 3 },
        programs: {
          typescript: [
            "return await tools.add({ a: 1, b: 2 })",
            "try { return await tools.add({ a: 1, b: 2 }) } finally { await null }",
            "for (const n of [1, 2, 3]) { if (await tools.echo(n) === 3) return n }",
            "for await (const n of [Promise.resolve(3)]) return n",
            "label: { if (await tools.echo(true)) break label; return 1 }\nreturn 3",
            "return tools.add({ a: 1, b: 2 })",
            "return { then(done: (value: number) => void) { done(3) } }",
            "switch (await tools.echo(1)) { case 1: return 3 }"
          ],
          python: [
            "return await tools.add(a=1, b=2)",
            "try:\n    return await tools.add(a=1, b=2)\nfinally:\n    await tools.echo(1)",
            "for n in [1, 2, 3]:\n    if await tools.echo(n) == 3:\n        return n",
            code`
              async def numbers():
                  yield 1
                  yield 3
              async for n in numbers():
                  if n == 3:
                      return n
            `,
            code`
              import contextlib
              @contextlib.asynccontextmanager
              async def three():
                  yield 3
              async with three() as n:
                  return n
            `,
            "while True:\n    with open('/dev/null') if False else __import__('contextlib').nullcontext(3) as n:\n        return n",
            "return [n async for n in (await tools.echo(x) for x in [1, 2, 3])][2]",
            "match await tools.echo(1):\n    case 1:\n        return 3"
          ]
        }
      },
      {
        id: "P1.no-value",
        claim: "an expression at the end is no value",
        expect: { noValue: true },
        programs: {
          typescript: [
            "1 + 1",
            "",
            "   \n\n",
            "// nothing",
            "/* nothing */",
            "await tools.echo(1)",
            "({ a: 1 })",
            "if (1) 2",
            "'use strict'"
          ],
          python: [
            "1 + 1",
            "",
            "   \n\n",
            "# nothing",
            '"""nothing"""',
            "await tools.echo(1)",
            "{'a': 1}",
            "if 1:\n    2",
            "pass"
          ]
        }
      },
      {
        id: "P1.strict",
        claim: "TypeScript is strict",
        expect: { kind: "exception" },
        programs: {
          typescript: [
            ["sloppy = 1", { message: /^ReferenceError: / }],
            ["Object.freeze([]).push(1)", { message: /^TypeError: / }],
            ["const o: any = { get a() { return 1 } }; o.a = 2", { message: /^TypeError: / }],
            ["return 010", { message: /^SyntaxError: / }],
            ["with ({}) {}", { message: /^SyntaxError: / }],
            ["const n = 1; delete n", { message: /^SyntaxError: / }],
            ["delete (Object as any).prototype", { message: /^TypeError: / }],
            ["(function (this: any) { this.a = 1 })()", { message: /^TypeError: / }],
            ["return this.a", { message: /^TypeError: / }],
            ["const f = function () { return (arguments as any).callee }; f()", { message: /^TypeError: / }]
          ]
        }
      }
    ]
  },
  {
    id: "P2",
    text: "TypeScript means all of it; and the edges of a text do no harm.",
    cases: [
      {
        id: "P2.erased",
        claim: "types of every sort disappear",
        programs: {
          typescript: [
            [
              code`
                type Id = string & { readonly __brand: unique symbol }
                interface Tree<T> { value: T; children?: readonly Tree<T>[] }
                type Keys = { [K in keyof Tree<number> as ${"`"}get_$\{K}${"`"}]-?: Tree<number>[K] }
                declare global { interface Window { x: 1 } }
                declare function missing(a: number): string
                declare module "nowhere" { const a: 1 }
                function over(a: string): string
                function over(a: number): number
                function over(a: any) { return a }
                function isText(this: void, a: unknown): a is string { return typeof a === "string" }
                function must(a: unknown): asserts a {}
                const tree = { value: 1, children: [{ value: 2 }] } as const satisfies Tree<number>
                const big = tree!.children![0]!.value as unknown as bigint as any
                const pick = <T,>(list: T[], at = 0): T | undefined => list[at]
                const same = <const T extends readonly unknown[]>(list: T): T => list
                const wide = <T>(x: T) => x
                abstract class Base<T = {}> { declare ghost: T; abstract go(): void; protected readonly kept: number = 4; static #n = 1; static n(): number { return Base.#n } [key: string]: any }
                class Child extends Base<string> implements Tree<number> { override go(): void {} accessor value: number = 7; late!: number; opt?: string }
                let tuple: [a: number, ...rest: string[]] = [1, "b"]
                const chosen = (tree.value < 2) ? <any>"yes" : "no"
                must(tree)
                return [over(1), isText("a"), big, pick([5]), same([6])[0], wide<number>(8), new Child().value, new Child().kept, Base.n(), tuple.length, chosen, "ghost" in new Child()]
              `,
              { value: [1, true, 2, 5, 6, 8, 7, 4, 1, 2, "yes", false] }
            ],
            [
              "import type { A } from './nowhere'\nimport { type B, join } from 'node:path'\nreturn join('a', 'b')",
              { value: "a/b" }
            ],
            [
              "const type = 1, as = 2, of = 3, namespace = 4, declare = 5, abstract = 6\nreturn type + as + of + namespace + declare + abstract",
              { value: 21 }
            ],
            ["var v = 1 as number\nvar w = v! + 1\n;(v as any) = 5\nreturn [v, w]", { value: [5, 2] }],
            ["return (async <T>(x: T): Promise<T> => x)(1)", { value: 1 }],
            [
              "const f = (a?: number, b: number = 2, ...c: number[]): number => (a ?? 1) + b + c.length\nreturn f()",
              { value: 3 }
            ]
          ]
        }
      },
      {
        id: "P2.not-erasable",
        claim: "enum, namespace, parameter properties and decorators run",
        programs: {
          typescript: [
            [
              code`
                enum Level { Low = 1, Mid, High = Mid * 4, Named = "n".length }
                const enum Flag { A = 1 << 0, B = 1 << 2, Both = A | B }
                enum Text { One = "one" }
                declare enum Ghost { A }
                return [Level.High, Level[2], Level.Named, Flag.Both, Text.One, Object.keys(Level).length]
              `,
              { value: [8, "Mid", 1, 5, "one", 7] }
            ],
            [
              code`
                namespace Outer.Inner { export let count = 1; export const add = () => ++count; export namespace Deep { export enum E { X = 9 } } }
                function merged() { return merged.extra }
                namespace merged { export const extra = 3 }
                class Holder {}
                namespace Holder { export const size = 2 }
                namespace OnlyTypes { export type A = 1 }
                Outer.Inner.add()
                return [Outer.Inner.count, merged(), (Holder as any).size, Outer.Inner.Deep.E.X]
              `,
              { value: [2, 3, 2, 9] }
            ],
            [
              code`
                class Point { constructor(public x: number, protected y = 2, private readonly z?: number) { this.x++ } all() { return [this.x, this.y, this.z ?? null] } }
                class Far extends Point { constructor(readonly name: string) { super(10); } }
                return [new Point(1).all(), Object.keys(new Far("f")).sort()]
              `,
              {
                value: [
                  [2, 2, null],
                  ["name", "x", "y", "z"]
                ]
              }
            ],
            [
              code`
                const seen: string[] = []
                const twice = (method: (...a: number[]) => number, context: ClassMethodDecoratorContext) => { seen.push(String(context.name)); return function (this: any, ...a: number[]) { return 2 * method.apply(this, a) } }
                const start = (_: undefined, context: ClassFieldDecoratorContext) => (value: number) => value + 100
                const named = (name: string) => (target: any) => { target.tag = name }
                @named("box")
                class Box { @start n = 1; @twice add(a: number) { return this.n + a } @twice static one() { return 1 } }
                return [new Box().add(1), Box.one(), (Box as any).tag, seen.sort()]
              `,
              { value: [204, 2, "box", ["add", "one"]] }
            ]
          ]
        }
      },
      {
        id: "P2.using",
        claim: "using and await using dispose, in order, at the end of the body too",
        programs: {
          typescript: [
            [
              code`
                const steps: string[] = []
                {
                  using a = { [Symbol.dispose]() { steps.push("a") } }
                  using nothing = null
                  await using b = { async [Symbol.asyncDispose]() { await null; steps.push("b") } }
                  steps.push("body")
                }
                for (using c of [{ [Symbol.dispose]() { steps.push("c") } }]) steps.push("loop")
                return steps
              `,
              { value: ["body", "b", "a", "loop", "c"] }
            ],
            [
              "using a = { [Symbol.dispose]() { console.log('closed') } }\nconsole.log('open')\nreturn 1",
              { value: 1, logs: ["open", "closed"] }
            ],
            [
              "await using a = { async [Symbol.asyncDispose]() { console.log('closed') } }\nthrow new Error('inside')",
              { kind: "exception", message: /^Error: inside/, logs: ["closed"] }
            ]
          ]
        }
      },
      {
        id: "P2.edges",
        claim: "#!, a byte-order mark, CRLF and a comment as the last line are fine",
        expect: { value: 1 },
        programs: {
          typescript: [
            "#!/usr/bin/env -S npx tsx\nreturn 1",
            "\uFEFFreturn 1",
            "\uFEFF#!/usr/bin/env node\nreturn 1",
            "#!/usr/bin/env node\r\nreturn 1\r\n",
            "return 1 // end",
            "return 1\n// end",
            "return 1\n/* end */ // really",
            "return 1\n//",
            "const text = `a\r\nb`\r\nreturn text === 'a\\nb' ? 1 : text.length\r\n",
            "return 1;;;\n\n\n",
            "return 1 <!-- old comment".replace(" <!-- old comment", ""),
            "return 1\n//# sourceMappingURL=nowhere.js.map",
            '/// <reference types="node" />\nreturn 1',
            "// @ts-nocheck\nreturn 1"
          ],
          python: [
            "#!/usr/bin/python3\nreturn 1",
            "\uFEFFreturn 1",
            "\uFEFF#!/usr/bin/python3\nreturn 1",
            "#!/usr/bin/python3\r\nreturn 1\r\n",
            "return 1 # end",
            "return 1\n# end",
            "return 1\n#",
            "if True:\r\n    x = 1\r\nreturn x\r\n",
            "return 1\n\n\n",
            "# -*- coding: utf-8 -*-\nreturn 1",
            "# -*- coding: latin-1 -*-\nreturn 1 if '\u00e9' == chr(233) else 2",
            "return 1;",
            "x = 1; return x",
            "text = '''a\r\nb'''\r\nreturn 1 if text == 'a\\nb' else text"
          ]
        }
      }
    ]
  },
  {
    id: "P3",
    text: "Static import at the top works, hoisted in TypeScript; one policy for every way to import.",
    cases: [
      {
        id: "P3.forms",
        claim: "every form of a static import",
        programs: {
          typescript: [
            ["import path from 'node:path'\nreturn path.posix.join('a', 'b')", { value: "a/b" }],
            ["import path, { posix } from 'node:path'\nreturn path.posix === posix", { value: true }],
            ["import path, * as all from 'node:path'\nreturn all.default === path", { value: true }],
            [
              "import { basename as base, 'join' as glue } from 'node:path'\nreturn base(glue('a', 'b'))",
              { value: "b" }
            ],
            [
              "import { default as path } from \"path\";import'node:url';\nreturn typeof path.join",
              { value: "function" }
            ],
            [
              "/* first */ 'use strict'\n// then\nimport {\n  sep, // one\n  delimiter\n} from 'node:path'\nreturn sep + delimiter",
              { value: "/:" }
            ],
            ["const early = join('a', 'b')\nimport { join } from 'node:path'\nreturn early", { value: "a/b" }],
            [
              "return early()\nfunction early() { return join('a', 'b') }\nimport { join } from 'node:path'",
              { value: "a/b" }
            ],
            ["import path = require('node:path')\nreturn path.posix.sep", { value: "/" }],
            [
              "import { setTimeout } from 'node:timers/promises'\nreturn await setTimeout(1, 'waited')",
              { value: "waited" }
            ],
            ["const text = `\nimport x from 'nowhere'\n`\nreturn text.length > 0", { value: true }],
            [
              "import { readFileSync } from 'fs'; import * as ns from 'node:os'\nreturn [typeof readFileSync, typeof ns.cpus]",
              { value: ["function", "function"] }
            ],
            ["const { join } = await import('node:path')\nreturn join('a', 'b')", { value: "a/b" }]
          ],
          python: [
            [
              "from __future__ import annotations\ndef f(x: Nowhere): pass\nreturn f.__annotations__['x']",
              { value: "Nowhere" }
            ],
            [
              '"""note"""\n# first\nfrom __future__ import annotations, generator_stop\nimport json\nreturn json.dumps([1])',
              { value: "[1]" }
            ],
            ["from math import *\nreturn floor(pi)", { value: 3 }],
            ["from math import *\ndef inner():\n    return floor(2.5)\nreturn inner()", { value: 2 }],
            ["import os.path as p, json as j\nreturn [p.basename('/a/b'), j.loads('1')]", { value: ["b", 1] }],
            ["import collections.abc\nreturn collections.abc.Mapping.__name__", { value: "Mapping" }],
            ["from collections import (\n    OrderedDict, # one\n    deque as d,\n)\nreturn len(d([1]))", { value: 1 }],
            ["from math import *\nfrom json import *\nreturn [dumps([1]), floor(1.5)]", { value: ["[1]", 1] }],
            [
              "if True:\n    import math\ntry:\n    import nowhere_at_all\nexcept ImportError:\n    nowhere_at_all = None\nreturn [math.floor(1.5), nowhere_at_all]",
              { value: [1, null] }
            ]
          ]
        }
      },
      {
        id: "P3.missing",
        claim: "a module that is not there is an exception that names it",
        expect: { kind: "exception", messageNot: hostTrace },
        programs: {
          typescript: [
            ["import x from 'not-there-at-all'\nreturn x", { message: [/not-there-at-all/] }],
            ["await import('not-there-at-all')", { message: [/not-there-at-all/] }],
            ["require('not-there-at-all')", { message: [/not-there-at-all/, atTs(1)] }],
            [
              "import { nothingOfThisName } from 'node:path'\nreturn nothingOfThisName()",
              { message: /nothingOfThisName/ }
            ],
            ["import './missing.ts'", { message: /missing/ }]
          ],
          python: [
            ["import not_there_at_all", { message: [/^ModuleNotFoundError: /, /not_there_at_all/, atPy(1)] }],
            ["from json import nothing_of_this_name", { message: [/^ImportError: /, /nothing_of_this_name/] }],
            ["from not_there_at_all import *", { message: /not_there_at_all/ }],
            ["from . import sibling", { message: /^ImportError: / }]
          ]
        }
      },
      {
        id: "P3.one-policy",
        claim: "what one way may import every way may",
        programs: ways,
        timeoutMs: 120_000,
        steps: (t) =>
          Effect.forEach(
            modules[t.language] ?? [],
            (module) =>
              Effect.gen(function* () {
                const answers = new Map<string, string>()
                for (const way of Object.keys(ways[t.language] ?? {})) {
                  const outcome = yield* t.run(t.program(way).replaceAll("MODULE", module))
                  ensure(
                    outcome.kind === undefined || outcome.kind === "exception",
                    `${way} import of ${module} to work or to be an exception`,
                    outcome.message
                  )
                  answers.set(way, outcome.kind === undefined ? "may" : "may not")
                }
                ensure(new Set(answers.values()).size === 1, `one policy for ${module}`, [...answers])
              }),
            { discard: true }
          )
      }
    ]
  },
  {
    id: "P4",
    text: "Python is compiled from its syntax tree; top-level names are locals of the body.",
    only: ["python"],
    cases: [
      {
        id: "P4.text-intact",
        claim: "multi-line strings and positions stay as they are",
        programs: {
          python: [
            [
              'a = """one\n  two\n\tthree\n"""\ndef f():\n    b = """\nzero\n    four"""\n    return b\nreturn [a, f()]',
              { value: ["one\n  two\n\tthree\n", "\nzero\n    four"] }
            ],
            ['if True:\n    s = """\nx"""\nreturn s', { value: "\nx" }],
            ["return 'a\\\nb'", { value: "ab" }],
            ["x = (1 +\n2)\nif x:\n\treturn x", { value: 3 }],
            ["import sys\nreturn sys._getframe().f_lineno", { value: 2 }],
            ["x = 1\n\n\nx.missing", { kind: "exception", message: [/^AttributeError: /, atPy(4)] }],
            [
              "def f():\n    return 1 / 0\n\nf()",
              { kind: "exception", message: [/^ZeroDivisionError: /, atPy(2), atPy(4)] }
            ],
            ["s = '''\n\n'''\nraise ValueError(s)", { kind: "exception", message: [/^ValueError: /, atPy(4)] }]
          ]
        }
      },
      {
        id: "P4.scopes",
        claim: "nonlocal works in inner functions; a name declared global inside is global at the top too",
        programs: {
          python: [
            ["n = 0\ndef up():\n    nonlocal n\n    n += 1\nup()\nup()\nreturn n", { value: 2 }],
            ["n = 0\ndef up():\n    global n\n    n += 1\nup()\nup()\nreturn n", { value: 2 }],
            ["def set():\n    global fresh\n    fresh = 5\nset()\nreturn fresh", { value: 5 }],
            [
              "n = 1\nclass A:\n    def up(self):\n        global n\n        n = n + 1\nA().up()\nn += 10\nreturn n",
              { value: 12 }
            ],
            ["global n\nn = 1\ndef f():\n    return n\nreturn f()", { value: 1 }],
            ["x = 1\ndef f():\n    return g()\ndef g():\n    return x\nreturn f()", { value: 1 }],
            ["fs = [lambda i=i: i for i in range(3)]\nreturn [f() for f in fs]", { value: [0, 1, 2] }],
            ["def fact(n):\n    return 1 if n < 2 else n * fact(n - 1)\nreturn fact(5)", { value: 120 }],
            ["for i in range(3):\n    pass\nreturn i", { value: 2 }],
            [
              "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    said = str(e)\nreturn said",
              { value: "division by zero" }
            ],
            ["x = 1\ndel x\ntry:\n    x\nexcept NameError:\n    return 'gone'", { value: "gone" }],
            ["if (n := 5) > 3:\n    return n", { value: 5 }],
            ["[last := i for i in range(4)]\nreturn last", { value: 3 }],
            ["a, *b = [1, 2, 3]\na += 1\nb[0] -= 1\nreturn [a, b]", { value: [2, [1, 3]] }],
            ["count: int = 0\ndef up():\n    global count\n    count += 1\nup()\nreturn count", { value: 1 }],
            ["def f():\n    global math\n    import math\nf()\nreturn math.floor(1.5)", { value: 1 }],
            ["def f():\n    global g\n    def g():\n        return 4\nf()\nreturn g()", { value: 4 }]
          ]
        }
      },
      {
        id: "P4.statements",
        claim: "decorators, classes, data classes, enums, generators, contexts and matches run",
        programs: {
          python: [
            [
              "from dataclasses import dataclass, field, asdict\n@dataclass\nclass A:\n    x: int\n    y: list = field(default_factory=list)\nreturn asdict(A(1, [2]))",
              { value: { x: 1, y: [2] } }
            ],
            [
              "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 3\nreturn A().x",
              { value: 3 }
            ],
            [
              "from enum import Enum\nclass C(Enum):\n    RED = 1\nreturn [C.RED.name, C(1).value]",
              { value: ["RED", 1] }
            ],
            ["from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\nreturn list(P(4))", { value: [4] }],
            ["def gen():\n    got = yield 1\n    yield got\ng = gen()\nreturn [next(g), g.send(2)]", { value: [1, 2] }],
            [
              "match {'k': [1, 2]}:\n    case {'k': [a, *rest]} if rest:\n        return [a, rest]",
              { value: [1, [2]] }
            ],
            [
              "import functools\n@functools.lru_cache\ndef f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\nreturn f(30)",
              { value: 832040 }
            ],
            [
              "class A:\n    def __init__(self):\n        super().__init__()\n        self.n = __class__.__name__\nreturn A().n",
              { value: "A" }
            ],
            [
              "try:\n    raise ExceptionGroup('g', [ValueError(1), TypeError(2)])\nexcept* ValueError:\n    a = 1\nexcept* TypeError:\n    a += 1\nreturn a",
              { value: 2 }
            ],
            ["return eval('1 + 1') + len(f\"{'x'!r:>5}\")", { value: 7 }],
            ["ns = {}\nexec('y = 5', ns)\nreturn ns['y']", { value: 5 }],
            ["assert True\nassert [], 'empty'", { kind: "exception", message: /^AssertionError: empty/ }],
            ["import typing\nclass A:\n    x: 'int'\nreturn typing.get_type_hints(A)['x'].__name__", { value: "int" }],
            ["import pickle\nclass A:\n    pass\nreturn type(A()).__module__", { value: "__main__" }]
          ]
        }
      },
      {
        id: "P4.main",
        claim: '__name__ is "__main__"',
        programs: {
          python: [
            ["return __name__", { value: "__main__" }],
            ["def main():\n    print('ran')\nif __name__ == '__main__':\n    main()", { noValue: true, logs: ["ran"] }],
            ["async def main():\n    return 5\nif __name__ == '__main__':\n    return await main()", { value: 5 }],
            ["import sys\nreturn sys.modules['__main__'].__name__", { value: "__main__" }]
          ]
        }
      },
      {
        id: "P4.asyncio-run",
        claim: "asyncio.run(main()) at the top works, or fails with one line that says to write await main()",
        programs: {
          python: {
            plain: "import asyncio\nasync def main():\n    return await tools.echo(5)\nreturn asyncio.run(main())",
            guarded:
              "import asyncio\nasync def main():\n    print(await tools.echo(5))\nif __name__ == '__main__':\n    asyncio.run(main())",
            named:
              "from asyncio import run\nasync def main():\n    return await tools.echo(5)\nresult = run(main())\nreturn result"
          }
        },
        steps: (t) =>
          Effect.forEach(
            ["plain", "guarded", "named"],
            (name) =>
              Effect.gen(function* () {
                const outcome = yield* t.run(t.program(name))
                if (outcome.kind === undefined) {
                  ensure(outcome.value === 5 || outcome.logs.includes("5"), "main to have run", outcome)
                } else {
                  yield* t.expect(outcome, { kind: "exception", message: /^[^\n]*await main\(\)[^\n]*\n/ })
                }
              }),
            { discard: true }
          )
      }
    ]
  },
  {
    id: "P5",
    text: "A program that read literally could only fail or do nothing is read as it was meant, and no other.",
    cases: [
      {
        id: "P5.fence",
        claim: "the whole text inside one outermost Markdown fence",
        expect: { value: 42 },
        programs: {
          typescript: [
            ...fenced("const x: number = 42\nreturn x", "ts"),
            ...fenced("return 42", 'typescript title="x.ts"'),
            "```js\nreturn `\\`\\`\\``.length === 3 ? 42 : 0\n```",
            "````\nconst t = `\n\\`\\`\\`\n`\nreturn 42\n````"
          ],
          python: [
            ...fenced("x = 42\nreturn x", "python"),
            ...fenced("if True:\n    return 42", "py title=x.py"),
            '````\nt = """\n```\n"""\nreturn 42\n````'
          ]
        }
      },
      {
        id: "P5.inside-a-fence",
        claim: "inside a fence the other readings apply",
        expect: { value: 42 },
        programs: {
          typescript: [
            "```ts\nasync () => 42\n```",
            "```ts\nasync function main() { return 42 }\n```",
            "```ts\n#!/usr/bin/env node\nimport { join } from 'node:path'\nconst main = async () => join('a', 'b').length + 39\n```"
          ],
          python: [
            "```python\nlambda: 42\n```",
            "```python\nasync def main():\n    return 42\n```",
            "```\n#!/usr/bin/python3\nimport math\ndef main():\n    return math.floor(42.5)\n```"
          ]
        }
      },
      {
        id: "P5.function",
        claim: "a single function expression and nothing else is called",
        expect: { value: 42 },
        programs: {
          typescript: [
            "() => 42",
            "async () => { return await tools.echo(42) }",
            "(() => 42)",
            "((async () => 42));",
            "(function () { return 42 })",
            "async function () { return 42 }",
            "function () { return 42 }",
            "(async function named(): Promise<number> { return 42 })",
            "// it says\nasync () => 42 // the end",
            "(async (): Promise<number> => {\n  const x: number = 42\n  return x\n});\n",
            "<T,>(): T => 42 as T"
          ],
          python: ["lambda: 42", "(lambda: 42)", "((lambda: 42))\n# end", "# it says\nlambda: 42"]
        }
      },
      {
        id: "P5.main",
        claim: "only declarations, constants beside them included, with an uncalled main",
        expect: { value: 42 },
        programs: {
          typescript: [
            "function main() { return 42 }",
            "const main = async () => 42",
            "const main = async function () { return await tools.echo(42) };",
            "import { join } from 'node:path'\nconst base = 40, more: number[] = [1, 1]\ntype N = number\ninterface I { n: N }\nenum E { A = 2 }\nclass C { static n = 40 }\nfunction help(): N { return base + E.A }\nasync function main(): Promise<N> { return help() }",
            "async function main() {\n  const main = 42\n  return main\n}",
            "function main() { return help() }\nconst help = () => 42\nconst text = `a`, neg = -1, list = { a: [1] }",
            "async function main(): Promise<number> { return other() }\nasync function other() { return 42 }"
          ],
          python: [
            "def main():\n    return 42",
            "async def main():\n    return await tools.echo(42)",
            '"""Note."""\nimport math\nfrom json import dumps\nBASE = 40\nMORE: int = 2\nclass C:\n    n = 1\ndef help():\n    return BASE + MORE\nasync def main() -> int:\n    return help()',
            "main = lambda: 42",
            "def main():\n    main = 42\n    return main"
          ]
        }
      },
      {
        id: "P5.no-other",
        claim: "every other program is read literally",
        programs: {
          typescript: [
            ["async function main() { return await tools.count() }\nreturn await main()", { value: 1 }],
            ["async function main() { console.log('ran') }\nmain()", { noValue: true, logs: ["ran"] }],
            [
              "async function main() { console.log('ran') }\nvoid main().catch(console.error)",
              { noValue: true, logs: ["ran"] }
            ],
            ["function main() { console.log('ran') }\nconst result = main()", { noValue: true, logs: ["ran"] }],
            ["function main() { return 1 }\nconsole.log('only this')", { noValue: true, logs: ["only this"] }],
            ["function main() { return 1 }\nreturn 2", { value: 2 }],
            ["function other() { return 1 }", { noValue: true }],
            ["{ function main() { return 1 } }", { noValue: true }],
            ["const main = 5", { noValue: true }],
            ["(() => 1)()", { noValue: true }],
            ["() => 1\n2", { noValue: true }],
            ["const f = () => 1", { noValue: true }],
            ["[() => 1]", { noValue: true }],
            ["Here is code:\n```ts\nreturn 1\n```", { kind: "exception", message: /^SyntaxError: / }],
            ["```ts\nreturn 1\n```\nThat was it.", { kind: "exception", message: /^SyntaxError: / }],
            ["```ts\nreturn 1\n```\n```ts\nreturn 2\n```", { kind: "exception", message: /^(?:Syntax|Type)Error: / }],
            ["```ts\nreturn 1", { kind: "exception", message: /^SyntaxError: / }],
            ["const s = `\n\\`\\`\\`ts\nreturn 1\n\\`\\`\\``\nreturn s.includes('return')", { value: true }],
            ["`return 1`", { noValue: true }]
          ],
          python: [
            ["async def main():\n    return await tools.count()\nreturn await main()", { value: 1 }],
            ["def main():\n    print('ran')\nmain()", { noValue: true, logs: ["ran"] }],
            ["def main():\n    print('ran')\nif __name__ == '__main__':\n    main()", { noValue: true, logs: ["ran"] }],
            ["def main():\n    print('ran')\nresult = main()", { noValue: true, logs: ["ran"] }],
            ["def main():\n    return 1\nprint('only this')", { noValue: true, logs: ["only this"] }],
            ["def main():\n    return 1\nreturn 2", { value: 2 }],
            ["def other():\n    return 1", { noValue: true }],
            ["if True:\n    def main():\n        return 1", { noValue: true }],
            ["main = 5", { noValue: true }],
            ["(lambda: 1)()", { noValue: true }],
            ["f = lambda: 1", { noValue: true }],
            ["[lambda: 1]", { noValue: true }],
            ["Here is code:\n```python\nreturn 1\n```", { kind: "exception", message: /^SyntaxError: / }],
            ["```python\nreturn 1\n```\nThat was it.", { kind: "exception", message: /^SyntaxError: / }],
            ["```python\nreturn 1", { kind: "exception", message: /^SyntaxError: / }],
            ["s = '''\n```python\nreturn 1\n```'''\nreturn 'return' in s", { value: true }]
          ]
        }
      },
      {
        id: "P5.fails-where-it-stands",
        claim: "what fails inside a reading fails at its own line",
        expect: { kind: "exception" },
        programs: {
          typescript: [
            ["```ts\nconst a = 1\nthrow new Error('in a fence')\n```", { message: [/^Error: in a fence/, atTs(3, 7)] }],
            ["async function main() {\n  throw new Error('in main')\n}", { message: [/^Error: in main/, atTs(2, 9)] }],
            ["async () => {\n  throw new Error('in it')\n}", { message: [/^Error: in it/, atTs(2, 9)] }]
          ],
          python: [
            [
              "```python\na = 1\nraise ValueError('in a fence')\n```",
              { message: [/^ValueError: in a fence/, atPy(3)] }
            ],
            ["async def main():\n    raise ValueError('in main')", { message: [/^ValueError: in main/, atPy(2)] }],
            ["lambda: 1 / 0", { message: [/^ZeroDivisionError: /, atPy(1)] }]
          ]
        }
      }
    ]
  },
  {
    id: "P6",
    text: "The program may shadow an injected name.",
    cases: [
      {
        id: "P6.shadows",
        claim: "by every sort of declaration",
        programs: {
          typescript: [
            ["const tools = 1\nreturn tools", { value: 1 }],
            ["let tools\ntools = 2\nreturn tools", { value: 2 }],
            ["var tools = 3\nreturn tools", { value: 3 }],
            ["function tools() { return 4 }\nreturn tools()", { value: 4 }],
            ["class tools { static n = 5 }\nreturn tools.n", { value: 5 }],
            ["enum tools { A = 6 }\nreturn tools.A", { value: 6 }],
            ["namespace tools { export const n = 7 }\nreturn tools.n", { value: 7 }],
            ["import { posix as tools } from 'node:path'\nreturn tools.sep", { value: "/" }],
            ["const { tools, ToolError = 8 } = { tools: 1 } as any\nreturn ToolError", { value: 8 }],
            ["const console = { log: (x: number) => x }\nreturn console.log(9)", { value: 9 }],
            ["const require = 10, process = 1, module = 2, exports = 3, globalThis = 4\nreturn require", { value: 10 }],
            ["try { throw 11 } catch (tools) { return tools }", { value: 11 }],
            ["(globalThis as any).tools = 12\nreturn tools", { value: 12 }],
            ["const print = 13, undefined_ = 1, async = 2\nreturn print", { value: 13 }],
            ["const Promise = 14, Object = 1, Error = 2, JSON = 3, Array = 4\nreturn Promise", { value: 14 }]
          ],
          python: [
            ["tools = 1\nreturn tools", { value: 1 }],
            ["def tools():\n    return 4\nreturn tools()", { value: 4 }],
            ["class tools:\n    n = 5\nreturn tools.n", { value: 5 }],
            ["import math as tools\nreturn tools.floor(6.5)", { value: 6 }],
            ["for tools in [7]:\n    pass\nreturn tools", { value: 7 }],
            ["(tools, ToolError) = (1, 8)\nreturn ToolError", { value: 8 }],
            ["def print(x):\n    return x\nreturn print(9)", { value: 9 }],
            ["try:\n    raise ValueError('x')\nexcept ValueError as tools:\n    return str(tools)", { value: "x" }],
            ["def f():\n    global tools\n    tools = 12\nf()\nreturn tools", { value: 12 }],
            ["str = list = dict = len = isinstance = Exception = BaseException = 13\nreturn str", { value: 13 }],
            [
              "import builtins\nbuiltins.tools = 5\nasync def f(tools):\n    return tools\nreturn await f(14)",
              { value: 14 }
            ]
          ]
        }
      },
      {
        id: "P6.in-part",
        claim: "a name shadowed inside is the injected one outside",
        expect: { value: [2, 3] },
        programs: {
          typescript: [
            "const inner = (tools: number) => tools + 1\nreturn [inner(1), await tools.add({ a: 1, b: 2 })]",
            "let seen = 0\n{ const tools = 2; seen = tools }\nreturn [seen, await tools.add({ a: 1, b: 2 })]"
          ],
          python: [
            "def inner(tools):\n    return tools + 1\nreturn [inner(1), await tools.add(a=1, b=2)]",
            "seen = [tools for tools in [2]]\nreturn [seen[0], await tools.add(a=1, b=2)]",
            "def inner():\n    tools = 2\n    return tools\nreturn [inner(), await tools.add(a=1, b=2)]"
          ]
        }
      }
    ]
  },
  {
    id: "P7",
    text: "Compiling hostile text ends in an exception, and harms neither the host nor a later run.",
    cases: [
      {
        id: "P7.hostile-text",
        claim: "megabytes of brackets and endless nesting of every sort",
        programs: { typescript: { next: "return 7" }, python: { next: "return 7" } },
        limits: { computeMs: 20_000, maxWallMs: 30_000 },
        timeoutMs: 120_000,
        steps: (t) =>
          Effect.gen(function* () {
            const texts = t.language === "python" ? hostilePython(40_000) : hostileTypescript(40_000)
            let ticks = 0
            let longest = 0
            let last = performance.now()
            const beat = setInterval(() => {
              ticks++
              longest = Math.max(longest, performance.now() - last)
              last = performance.now()
            }, 10)
            yield* Effect.addFinalizer(() => Effect.sync(() => clearInterval(beat)))
            for (const text of texts) {
              const outcome = yield* t.run(text)
              ensure(
                outcome.kind === undefined || outcome.kind === "exception",
                `an exception or a value for ${text.slice(0, 20)}`,
                `${outcome.kind}: ${outcome.message.slice(0, 200)}`
              )
              ensure(!hostTrace.test(outcome.message), "no trace of the host", outcome.message.slice(0, 500))
              equal((yield* t.run(t.program("next"))).value, 7, `the next run after ${text.slice(0, 20)}`)
            }
            ensure(
              ticks > 0 && longest < 3000,
              "a host that goes on",
              `${ticks} ticks, one after ${Math.round(longest)} ms`
            )
          })
      },
      {
        id: "P7.megabyte",
        claim: "a megabyte of opening brackets, the longest program there may be",
        timeoutMs: 120_000,
        programs: {
          typescript: { text: "(".repeat(1_048_576), next: "return 7" },
          python: { text: "(".repeat(1_048_576), next: "return 7" }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const all = yield* Effect.all(
              [t.run(t.program("text")), t.run(t.program("text")), t.run(t.program("next"))],
              {
                concurrency: 3
              }
            )
            equal(all[2].value, 7, "a run beside them")
            yield* t.expect(all[0], { kind: "exception", message: /^\w+Error: / })
            yield* t.expect(all[1], { kind: "exception", message: /^\w+Error: / })
          })
      },
      {
        id: "P7.syntax",
        claim: "whatever does not parse is an exception, a SyntaxError where it can say so",
        expect: { kind: "exception", message: /^(?:Syntax|Indentation|Tab)Error: /, messageNot: hostTrace },
        programs: {
          typescript: [
            "const = 1",
            "return }",
            "}",
            "})",
            "});(async () => {",
            "*/",
            "`",
            "'",
            "/* ",
            "return (",
            "a b",
            "function",
            "class {",
            "await = 1; let let = 2",
            "break",
            "continue",
            "yield 1",

            "super()",
            "import.meta.x = import.meta",
            "let a; let a",
            "const a",
            "\u0000",
            "return 1 }; {",
            "\\u{110000}",
            // V8 reads a long expression with such flags in the guest alone.
            `console.log('begun'); return /(?<a>${"x".repeat(300)}/u`,
            `console.log('begun'); const a: RegExp = /[${"x".repeat(300)}/v`,
            "\ud800"
          ],
          python: [
            "x = = 1",
            "return )",
            "def f(:",
            "if True:\nreturn 1",
            "  x = 1\n y = 2",
            "'",
            '"""',
            "f(",
            "a b",
            "class",
            "break",
            "continue",
            "nonlocal x",
            "x = 1\nglobal x",
            "1 = x",
            "def f(a, a): pass",
            "*a",
            "return *",
            "from x import",
            "\tx = 1\n        y = 2",
            "await",
            "x\u0000y"
          ]
        }
      }
    ]
  },
  {
    id: "P8",
    text: "A program longer than maxProgramBytes fails as an exception that says so.",
    cases: [
      {
        id: "P8.border",
        claim: "bytes of UTF-8: the cap itself runs, one more does not",
        limits: { maxProgramBytes: 32 },
        programs: {
          typescript: [
            [`return 1 // ${"x".repeat(20)}`, { value: 1 }],
            [`return 1 // ${"x".repeat(21)}`, { kind: "exception", message: [/maxProgramBytes/, /\b32\b/, /\b33\b/] }],
            [`return 1 // ${"\u00e9".repeat(10)}`, { value: 1 }],
            [`return 1 // ${"\u00e9".repeat(10)}x`, { kind: "exception", message: /maxProgramBytes/ }],
            [`return 1 // ${"\u{1F600}".repeat(5)}`, { value: 1 }],
            [`return 1 // ${"\u{1F600}".repeat(5)}x`, { kind: "exception", message: /maxProgramBytes/ }]
          ] satisfies ReadonlyArray<Attempt>,
          python: [
            [`return 1 ## ${"x".repeat(20)}`, { value: 1 }],
            [`return 1 ## ${"x".repeat(21)}`, { kind: "exception", message: [/maxProgramBytes/, /\b32\b/, /\b33\b/] }],
            [`return 1 ## ${"\u00e9".repeat(10)}`, { value: 1 }],
            [`return 1 ## ${"\u00e9".repeat(10)}x`, { kind: "exception", message: /maxProgramBytes/ }],
            [`return 1 ## ${"\u{1F600}".repeat(5)}`, { value: 1 }],
            [`return 1 ## ${"\u{1F600}".repeat(5)}x`, { kind: "exception", message: /maxProgramBytes/ }]
          ] satisfies ReadonlyArray<Attempt>
        }
      },
      {
        id: "P8.default",
        claim: "one mebibyte by default; nothing of a longer program runs",
        programs: {
          typescript: [
            [`return 1 // ${"x".repeat(1_048_576 - 12)}`, { value: 1 }],
            [
              `await tools.count(); // ${"x".repeat(1_048_576)}`,
              { kind: "exception", message: /maxProgramBytes \(1048576\)/ }
            ]
          ],
          python: [
            [`return 1 ## ${"x".repeat(1_048_576 - 12)}`, { value: 1 }],
            [
              `await tools.count() ## ${"x".repeat(1_048_576)}`,
              { kind: "exception", message: /maxProgramBytes \(1048576\)/ }
            ]
          ]
        },
        check: (_outcome, host) => equal(host.called("count"), 0, "calls")
      }
    ]
  }
]
