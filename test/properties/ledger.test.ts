import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { cutText, Ledger, textBytes } from "../../src/domain/Ledger.ts"
import { inspect, isJson, jsonBytes, stringify } from "../../src/domain/Json.ts"

const encoder = new TextEncoder()
/** The account once more: bytes of what JSON writes. */
const bytesOf = (value: unknown): number => encoder.encode(JSON.stringify(value)).length

const Text = Schema.Union([
  Schema.String,
  Schema.Literals(["", '"\\\n', "\u00e9", "\u2028", "\u{1F600}", "\ud800", "\udc00\ud800", "\u0001", "x".repeat(50)])
])
const Cap = Schema.Int.check(Schema.isBetween({ minimum: 4, maximum: 200 }))

const isPrefix = (logs: ReadonlyArray<string>, all: ReadonlyArray<string>): boolean =>
  logs.every((entry, i) => entry === all[i] || (i === logs.length - 1 && (all[i] ?? "").startsWith(entry)))

const characterAt = (text: string, at: number) => {
  const code = text.codePointAt(at) ?? 0
  return text.slice(at, at + (code > 0xffff ? 2 : 1))
}

/** Longer by one character (a pair of surrogates counts as one), or by one entry. */
const longer = (logs: ReadonlyArray<string>, all: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  const last = logs.at(-1)
  const whole = all[logs.length - 1]
  if (last !== undefined && whole !== undefined && last !== whole)
    return [...logs.slice(0, -1), last + characterAt(whole, last.length)]
  const next = all[logs.length]
  return next === undefined ? undefined : [...logs, characterAt(next, 0)]
}

describe("the ledger", () => {
  it.prop(
    "takes entries while the JSON of the logs fits, and counts it exactly",
    { entries: Schema.Array(Text), cap: Cap },
    ({ cap, entries }) => {
      const ledger = new Ledger(cap)
      const taken: Array<string> = []
      let full = false
      for (const entry of entries) {
        const fits = !full && bytesOf([...taken, entry]) <= cap
        assert.strictEqual(ledger.log(entry), fits)
        if (fits) taken.push(entry)
        else full = true
        assert.strictEqual(ledger.full, full)
        assert.strictEqual(ledger.bytes, bytesOf(taken))
      }
      assert.deepStrictEqual([...ledger.logs], taken)
      for (const bytes of [0, 1, cap - ledger.bytes, cap - ledger.bytes + 1]) {
        assert.strictEqual(ledger.fits(bytes), !full && bytesOf(taken) + bytes <= cap)
      }
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "settles within the cap, with the longest beginning of the logs that fits",
    { entries: Schema.Array(Text), message: Text, cap: Cap },
    ({ cap, entries, message }) => {
      const ledger = new Ledger(cap)
      const seen: Array<string> = []
      for (const entry of entries) {
        seen.push(entry)
        if (!ledger.log(entry)) break
      }
      const account = ledger.settle(message)
      assert.isTrue(message.startsWith(account.message))
      assert.strictEqual(account.outputBytes, bytesOf(account.logs) + bytesOf(account.message))
      assert.isAtMost(account.outputBytes, cap)
      assert.isTrue(isPrefix(account.logs, seen))
      if (bytesOf(message) <= cap - 2) assert.strictEqual(account.message, message)
      const more = longer(account.logs, seen)
      if (more !== undefined) assert.isAbove(bytesOf(more) + bytesOf(account.message), cap)
    },
    { arbitrary: { runs: 1000 } }
  )

  it.prop(
    "cuts a text at the longest beginning that fits, never inside a pair",
    { text: Text, cap: Cap },
    ({ cap, text }) => {
      const cut = cutText(text, cap)
      assert.isTrue(text.startsWith(cut))
      assert.isAtMost(bytesOf(cut), cap)
      if (cut !== text) {
        const rest = text.slice(cut.length)
        const first = (rest.codePointAt(0) ?? 0) > 0xffff ? rest.slice(0, 2) : rest.slice(0, 1)
        assert.isAbove(bytesOf(cut + first), cap)
        assert.isFalse(
          /[\ud800-\udbff]$/u.test(cut) &&
            /^[\udc00-\udfff]/u.test(rest) &&
            (text.codePointAt(cut.length - 1) ?? 0) > 0xffff
        )
      }
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "counts the bytes that JSON.stringify writes",
    { value: Schema.Json, text: Text },
    ({ text, value }) => {
      assert.strictEqual(textBytes(text), bytesOf(text))
      if (!isJson(value)) return
      assert.strictEqual(jsonBytes(value), bytesOf(value))
      assert.strictEqual(stringify(value), JSON.stringify(value))
      // `oversize` is certain: it never refuses what fits.
      assert.strictEqual(inspect(value, "value", bytesOf(value)), "lossless")
    },
    { arbitrary: { runs: 500 } }
  )
})
