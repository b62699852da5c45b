/**
 * What a run's outcome is made of before its guest is gone.
 */
import { assert, describe, it } from "vitest"
import { valueBytesOf } from "../src/layers/Outcome.ts"

describe("the bytes of a value", () => {
  it("are those of its JSON; no value has none", () => {
    assert.strictEqual(valueBytesOf({ _tag: "Done" }), 0)
    assert.strictEqual(valueBytesOf({ _tag: "Done", value: { a: "ä" } }), 10)
    assert.strictEqual(valueBytesOf({ _tag: "Overflow" }), 0)
  })

  it("never throw: what is longer than any text may be is more than every cap", () => {
    const part = "x".repeat(100_000_000)
    assert.strictEqual(valueBytesOf({ _tag: "Done", value: Array.from({ length: 6 }, () => part) }), Infinity)
  })
})
