/** Static imports: rule P3. */
import { assert, describe, it } from "@effect/vitest"
import { evaluate } from "./evaluate.ts"

const gives: ReadonlyArray<readonly [name: string, program: string, value: unknown]> = [
  [
    "every form",
    "import path from 'node:path'\nimport { format, inspect as show } from 'node:util'\nimport * as url from 'node:url'\nimport {\n  join,\n  basename,\n} from 'node:path/posix'\nimport 'node:events'\nimport querystring, { parse } from 'node:querystring'\nimport u, * as all from 'node:util'\nreturn [path.posix.join('a', 'b'), format('%s-%d', 'x', 1), show(1), typeof url.fileURLToPath, join('c', 'd'), basename('/e/f'), querystring.parse === parse, u === all.default]",
    ["a/b", "x-1", "1", "function", "c/d", "f", true, true]
  ],
  [
    "names that are strings or default",
    "import { 'join' as j, default as p } from 'node:path/posix'\nreturn j('a', 'b') + p.sep",
    "a/b/"
  ],
  ["import = require", "import path = require('node:path/posix')\nreturn path.join('a', 'b')", "a/b"],
  ["attributes", "import data from './package.json' with { type: 'json' }\nreturn data.name", "effect-code-runtime"],
  ["hoisted from below", "const early = sep\nimport { sep } from 'node:path/posix'\nreturn early", "/"],
  [
    "hoisted around a function that is printed",
    "enum E { A }\nimport { sep } from 'node:path/posix'\nreturn sep + E.A",
    "/0"
  ],
  [
    "names of the program cannot break it",
    "import { join } from 'node:path/posix'\nconst Object = 1, SyntaxError = 2, Promise = 3, $import1 = 4, $import2 = 5\nlabel: for (;;) break label\nreturn [join('a', 'b'), SyntaxError, $import1]",
    ["a/b", 2, 4]
  ],
  [
    "escaped names cannot break it",
    "import { join } from 'node:path/posix'\nconst \\u0024import1 = 4\nreturn join('a', String($import1))",
    "a/4"
  ],
  [
    "types are no imports",
    "import type { X } from 'not-there'\nimport { type Y } from 'not-there'\nimport type Z from 'not-there'\nimport type W = require('not-there')\nlet x: X, y: Y, z: Z, w: W\nreturn 1",
    1
  ],
  [
    "what is used only as a type is no import",
    "import Z, { Q } from 'not-there'\nlet a: Z\nclass C implements Q {}\nconst f = (x: typeof Z): x is Q => true\nreturn f(1)",
    true
  ],
  [
    "a name that is something else where it is used is no use",
    "import { Row } from 'not-there'\nfunction f(Row: number) { return Row + 1 }\nconst x: Row = 1\nconst o = { Row: 2 }\nclass C { Row = 3 }\nRow: for (;;) break Row\n{ const Row = 4; void Row }\nreturn [f(1), o.Row]",
    [2, 2]
  ],
  [
    "part of an import is used only as a type",
    "import { join, type A, B } from 'node:path/posix'\nlet b: B\nreturn join('a', 'b')",
    "a/b"
  ],
  ["no names", "import {} from 'not-there'\nreturn 1", 1],
  [
    "an import between statements without semicolons",
    "const f = 1\nimport { sep } from 'node:path/posix'\n(0, sep)\nreturn f",
    1
  ]
]

describe("imports", () => {
  for (const [name, program, value] of gives) {
    it(name, async () => {
      assert.deepStrictEqual(await evaluate(program), { value })
    })
  }

  const uses = [
    "new Row()",
    "Row.x",
    "Row()",
    "({ Row })",
    "class C extends Row {}",
    "[Row] = [1]",
    "`${Row}`",
    "Row`x`",
    "({ [Row]: 1 })",
    "enum E { A = Row.x }",
    "(x = Row) => x",
    "Row!.x",
    "(Row as any)"
  ]
  for (const use of uses) {
    it(`counts as a use: ${use}`, async () => {
      const { error } = await evaluate(`import { Row } from 'not-there'\nvoid 0;${use}`)
      assert.match(error ?? "", /not-there/u)
    })
  }

  it("a missing module is an error that names it", async () => {
    assert.match(
      (await evaluate("import nothing from 'no-such-package'\nreturn nothing")).error ?? "",
      /no-such-package/u
    )
    assert.match((await evaluate("import 'no-such-package'")).error ?? "", /no-such-package/u)
  })

  it("a missing export is a SyntaxError that names it and its module", async () => {
    for (const text of ["", "enum E { A }\n"]) {
      assert.strictEqual(
        (await evaluate(`${text}import { nope } from 'node:path'\nreturn nope`)).error,
        "SyntaxError: The requested module 'node:path' does not provide an export named 'nope'"
      )
    }
    assert.match(
      (await evaluate("import x from './test/compiler/evaluate.ts'\nreturn x")).error ?? "",
      /^SyntaxError: .*'default'/u
    )
  })

  const rejected: ReadonlyArray<readonly [program: string, message: RegExp]> = [
    ["if (1) { import x from 'y'; x }", /only stand at the top level/u],
    ["function f() { import x = require('y'); return x }", /only stand at the top level/u],
    ["import data from './a.json' assert { type: 'json' }\nreturn data", /write `with` instead of `assert`/u],
    ["import defer * as x from 'y'\nreturn x", /`import defer` is not supported/u],
    ["import path from 'node:path'\nconst path = 1", /^SyntaxError: /u],
    ["import path from node", /String literal expected/u]
  ]
  for (const [program, message] of rejected) {
    it(`is rejected: ${program}`, async () => {
      // Whether a name is declared twice shows only where the import is used.
      assert.match(
        (
          await evaluate(
            `${program}\nvoid path`.replace(/\nvoid path$/u, program.includes("path") ? "\nvoid path" : "")
          )
        ).rejected ?? "",
        message
      )
    })
  }
})
