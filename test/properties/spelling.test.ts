import { assert, describe, it } from "vitest"
import { nearest } from "../../src/domain/Spelling.ts"

describe("what was meant", () => {
  const words = ["readOnly", "language", "env", "standby", "standbyMs"]

  it.each([
    ["readonly", "readOnly"],
    ["readOnyl", "readOnly"],
    ["langauge", "language"],
    ["lang", undefined],
    ["ennv", "env"],
    ["network", undefined],
    ["standbymS", "standbyMs"],
    ["standbi", "standby"],
    ["", undefined],
    ["env".repeat(100_000), undefined]
  ])("%.20s: %s", (word, meant) => assert.strictEqual(nearest(word, words), meant))
})
