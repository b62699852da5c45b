import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CodeRuntime, NodeProcess, WorkerThread } from "effect-code-runtime"

/** Words as programs print them, with those that Node's console treats in ways of its own. */
const Word = Schema.Union([
  Schema.Literals(["", "%", "%s and %d", "100%%", "%c", "two\nlines", "\ud83d\ude00", "\ud800", "-0", " "]),
  Schema.Literals([
    "-0 (number)",
    "NaN",
    "Infinity",
    "1e21",
    "0.1 + 0.2",
    "undefined",
    "null",
    "true",
    "1n",
    "[1, 'a']"
  ]),
  Schema.String,
  Schema.Finite
])

/** The word as the program's own text. */
const source = (word: typeof Word.Type): string => {
  if (word === "-0 (number)") return "-0"
  const isCode = ["NaN", "Infinity", "1e21", "0.1 + 0.2", "undefined", "null", "true", "1n", "[1, 'a']"].includes(
    String(word)
  )
  return isCode ? String(word) : Object.is(word, -0) ? "-0" : JSON.stringify(word)
}

for (const [name, backend] of [
  ["a thread", WorkerThread.layer({ standby: 2 })],
  ["a process", NodeProcess.layer({ standby: 2 })]
] as const) {
  describe(`the console of ${name}`, () => {
    layer(backend, { excludeTestServices: true })((it) => {
      it.effect.prop(
        "prints words as Node formats them, inside of groups and out",
        {
          lines: Schema.Array(Schema.Array(Word)),
          options: Schema.Literals(["{}", "{ colors: true }", "{ numericSeparator: true }"])
        },
        ({ lines, options }) =>
          Effect.gen(function* () {
            const runtime = yield* CodeRuntime.CodeRuntime
            const given = `[${lines.map((words) => `[${words.map(source).join(", ")}]`).join(", ")}]`
            const methods = ["log", "info", "debug", "warn", "error"]
            const { logs, value } = yield* runtime.run({
              program: `const { format, inspect } = require("node:util")
inspect.defaultOptions = ${options}
const lines = ${given}
const expected = []
for (const method of ${JSON.stringify(methods)}) for (const words of lines) {
  console[method](...words)
  expected.push(format(...words))
}
console.group("in")
expected.push("in")
for (const words of lines) {
  console.log(...words)
  expected.push(format(...words).replace(/^/gm, "  "))
}
console.groupEnd()
console.log("out")
expected.push("out")
return expected`
            })
            assert.deepStrictEqual(logs, value)
          }),
        { arbitrary: { runs: 15 }, timeout: 60_000 }
      )
    })
  })
}
