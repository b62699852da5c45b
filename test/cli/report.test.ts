import { assert, describe, it } from "@effect/vitest"
import { harmless } from "../../src/cli/Output.ts"
import type { Json } from "../../src/domain/Json.ts"
import * as Report from "../../src/cli/Report.ts"

describe("report", () => {
  it("a terminal obeys nothing that a program prints", () => {
    const hostile = "\u001b]0;title\u0007 \u001b[2J \u009b1A \rgone \b\u007f"
    const shown = harmless(hostile)
    assert.notMatch(shown, /\p{Control}/u)
    assert.strictEqual(shown, "\\u001b]0;title\\u0007 \\u001b[2J \\u009b1A \\u000dgone \\u0008\\u007f")
    assert.strictEqual(harmless("\ttab\r\nline\n é 🎉"), "\ttab\nline\n é 🎉")
  })

  it("a spread value made harmless is the same JSON", () => {
    const value = { "\u007f": "\u009b\u001b", list: [1, null] }
    const text = Report.value(value, "spread")
    assert.include(text, '\n  "list": [\n')
    assert.deepStrictEqual(JSON.parse(harmless(text)), value)
  })

  it("a value of deep nesting stays on one line, at any depth", () => {
    for (const depth of [1_000, 100_000]) {
      let deep: Json = []
      for (let i = 1; i < depth; i++) deep = [deep]
      assert.isTrue(Report.value(deep, "spread") === "[".repeat(depth) + "]".repeat(depth))
    }
  })

  it("lists at most ten open calls and counts the rest", () => {
    const calls = Array.from({ length: 13 }, (_, index) => ({ global: "tools", name: "read file", line: index + 1 }))
    const warnings = Report.unsettled(calls, true)
    assert.strictEqual(warnings.length, 11)
    assert.include(warnings[0], 'tools["read file"], line 1, was still open when the program ended; did you forget')
    assert.strictEqual(warnings[10], "warning: 3 more calls were still open")
    assert.deepStrictEqual(Report.unsettled([{ global: "tools", name: "add" }], false), [
      "warning: tools.add was still open when the program ended"
    ])
  })
})
