import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { Frame } from "effect-code-runtime"
import { isJson } from "../../src/domain/Json.ts"

const decodeBySchema = Schema.decodeUnknownExit(Frame.GuestFrame)

/** What the Schema makes of a line, with the one thing that `decode` adds: a lossy `done` is an `invalid`. */
const bySchema = (line: string): unknown => {
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch {
    return undefined
  }
  const exit = decodeBySchema(parsed)
  return Exit.isSuccess(exit) ? exit.value : undefined
}

const isLossyDone = (line: string): boolean => {
  const parsed: unknown = JSON.parse(line)
  return (
    typeof parsed === "object" &&
    parsed !== null &&
    "type" in parsed &&
    parsed.type === "done" &&
    "value" in parsed &&
    !isJson(parsed.value)
  )
}

const Json = Schema.Json
const Place = Schema.Union([
  Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2 ** 31 - 1 })),
  Schema.Literals([1, 2 ** 31 - 1])
])
const Unsent = Schema.Array(
  Schema.Struct({
    global: Schema.String,
    name: Schema.String,
    line: Schema.optionalKey(Place),
    column: Schema.optionalKey(Place)
  })
)
const Stack = Schema.Array(
  Schema.Struct({
    line: Place,
    column: Schema.optionalKey(Place),
    endColumn: Schema.optionalKey(Place),
    name: Schema.optionalKey(Schema.String)
  })
)

/** Frames as honest guests send them. */
const Honest = Schema.Union([
  Schema.Struct({ type: Schema.Literal("started") }),
  Schema.Struct({ type: Schema.Literal("log"), channel: Schema.Literals(["stdout", "stderr"]), text: Schema.String }),
  Schema.Struct({
    type: Schema.Literal("call"),
    id: Place,
    global: Schema.String,
    name: Schema.String,
    line: Schema.optionalKey(Place),
    column: Schema.optionalKey(Place),
    args: Json
  }),
  Schema.Struct({ type: Schema.Literal("done"), value: Schema.optionalKey(Json), unsent: Unsent }),
  Schema.Struct({
    type: Schema.Literal("threw"),
    message: Schema.String,
    details: Schema.optionalKey(Schema.String),
    frames: Stack,
    unsent: Unsent
  }),
  Schema.Struct({ type: Schema.Literal("invalid"), message: Schema.String, unsent: Unsent }),
  Schema.Struct({ type: Schema.Literal("overflow"), unsent: Unsent })
])

/** What a forger puts in the place of a field. */
const forged: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  -1,
  1,
  1.5,
  2 ** 31,
  2 ** 53,
  "",
  "x",
  "done",
  "stdout",
  [],
  [null],
  {},
  [{}],
  [[1]],
  { length: 1 },
  [{ line: 1 }],
  [{ line: 0 }],
  [{ global: "a", name: "b" }],
  [{ global: "a", name: "b", line: "1" }],
  [{ global: "a" }],
  Array.from({ length: 33 }, () => ({ line: 1 })),
  Array.from({ length: 1001 }, () => ({ global: "a", name: "b" }))
]
const fields = [
  "type",
  "id",
  "global",
  "name",
  "line",
  "column",
  "args",
  "value",
  "unsent",
  "message",
  "details",
  "frames",
  "channel",
  "text",
  "pid",
  "extra",
  "__proto__"
]

const Mutation = Schema.Struct({
  frame: Honest,
  field: Schema.Literals(fields),
  replacement: Schema.Int.check(Schema.isBetween({ minimum: -1, maximum: forged.length - 1 }))
})

const sameOrBothJunk = (line: string): void => {
  const decoded = Frame.decode(line)
  if (decoded?.type === "invalid" && isLossyDone(line)) return
  assert.deepStrictEqual(decoded, bySchema(line))
}

describe("frames", () => {
  it.prop(
    "finds numbers that are not lossless wherever in a frame they stand, as the Schema does",
    {
      before: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 400 })),
      digits: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 330 })),
      token: Schema.Literals(["-0", "-0.0", "-0e5", "-0.5", "1e22", "1e400", "-1E+999", "1e0309", "1e-400", "9", "-1."])
    },
    ({ before, digits, token }) => {
      const number = token === "9" || token === "-1." ? token + "9".repeat(digits) : token
      for (const args of [
        `["${"7".repeat(before % 200)}${" ".repeat(before)}",${number}]`,
        `{"a":${number},"b":"2026-01-01e100"}`
      ]) {
        const line = `{"type":"call","id":1,"global":"g","name":"n","args":${args}}`
        assert.deepStrictEqual(Frame.decode(line), bySchema(line))
      }
    },
    { arbitrary: { runs: 1000 } }
  )

  it.prop(
    "an honest frame decodes to itself, as the Schema says",
    { frame: Arbitrary.schema(Honest) },
    ({ frame }) => {
      const line = JSON.stringify(frame)
      sameOrBothJunk(line)
      assert.isDefined(Frame.decode(line))
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "a forged frame decodes exactly where the Schema takes it",
    { mutation: Arbitrary.schema(Mutation) },
    ({ mutation }) => {
      const { field, frame, replacement } = mutation
      const forgedFrame: { [key: string]: unknown } = { ...frame }
      delete forgedFrame[field]
      if (replacement >= 0) {
        Object.defineProperty(forgedFrame, field, { enumerable: true, configurable: true, value: forged[replacement] })
      }
      sameOrBothJunk(JSON.stringify(forgedFrame))
    },
    { arbitrary: { runs: 2000 } }
  )

  it("a log whose text is not the last or not a text is read as the Schema reads it", () => {
    for (const end of [
      '"a"}',
      '"a" }',
      ' "a"}',
      '"a"} ',
      '"a","x":1}',
      '"a","text":"b"}',
      '"a","text":5}',
      '"a","type":"call"}',
      '"\\ud800"}',
      '""}',
      "5}",
      "null}",
      '["a"]}',
      '{"a":"b"}}'
    ]) {
      for (const channel of ["stdout", "stderr", "stdin"]) {
        sameOrBothJunk(`{"type":"log","channel":"${channel}","text":${end}`)
      }
    }
    for (const end of ['"a"', '"a}', "}", "", '"a"}}', '"a",}']) {
      assert.isUndefined(Frame.decode(`{"type":"log","channel":"stdout","text":${end}`))
    }
  })

  it.prop(
    "junk is undefined and never throws",
    { text: Schema.String, frame: Arbitrary.schema(Honest), cut: Schema.Int },
    ({ cut, frame, text }) => {
      const line = JSON.stringify(frame)
      const at = Math.abs(cut) % line.length
      for (const junk of [
        text,
        line.slice(0, at),
        line.slice(at),
        line.slice(0, at) + text + line.slice(at),
        `[${line}]`,
        `${line}${line}`
      ]) {
        let readable = true
        try {
          JSON.parse(junk)
        } catch {
          readable = false
        }
        if (readable) sameOrBothJunk(junk)
        else assert.isUndefined(Frame.decode(junk))
      }
    },
    { arbitrary: { runs: 500 } }
  )

  it("any JSON that is no frame is undefined", () => {
    for (const value of forged) assert.isUndefined(Frame.decode(JSON.stringify(value)))
  })

  it.prop(
    "lines come out whole however the text was cut",
    { lines: Schema.Array(Schema.String), cuts: Schema.Array(Schema.Int) },
    ({ cuts, lines }) => {
      const whole = lines
        .map((line) => line.replaceAll("\n", ""))
        .map((line) => `${line}\n`)
        .join("")
      const places = [...new Set(cuts.map((cut) => Math.abs(cut) % (whole.length + 1)))].toSorted((a, b) => a - b)
      const splitter = new Frame.LineSplitter(Number.POSITIVE_INFINITY)
      const got: Array<string> = []
      let from = 0
      for (const to of [...places, whole.length]) {
        got.push(...splitter.push(whole.slice(from, to)))
        from = to
      }
      assert.deepStrictEqual(
        got,
        lines.map((line) => line.replaceAll("\n", ""))
      )
    },
    { arbitrary: { runs: 300 } }
  )

  it("a line that never ends is not kept", () => {
    const splitter = new Frame.LineSplitter(10)
    assert.deepStrictEqual([...splitter.push("0123456789")], [])
    assert.isFalse(splitter.overlong)
    assert.deepStrictEqual([...splitter.push("x")], [])
    assert.isTrue(splitter.overlong)
    assert.deepStrictEqual([...splitter.push("\nnext\n")], [])
  })
})
