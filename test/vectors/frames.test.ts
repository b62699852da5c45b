import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { Frame, Json } from "effect-code-runtime"
import { readFileSync } from "node:fs"
import { stringify } from "../../src/domain/Json.ts"

const Noted = { note: Schema.String }
const Vectors = Schema.Struct({
  about: Schema.String,
  guest: Schema.Array(Schema.Struct({ ...Noted, line: Schema.String, frame: Schema.NullOr(Schema.Unknown) })),
  host: Schema.Array(Schema.Struct({ ...Noted, line: Schema.String, frame: Schema.Unknown })),
  cuts: Schema.Array(
    Schema.Struct({ ...Noted, texts: Schema.Array(Schema.String), lines: Schema.Array(Schema.String) })
  ),
  encode: Schema.Array(
    Schema.Struct({
      ...Noted,
      id: Schema.Int,
      line: Schema.String,
      value: Schema.optionalKey(Json.Json),
      message: Schema.optionalKey(Schema.String)
    })
  )
})

const text = readFileSync(new URL("./frames.json", import.meta.url), "utf8")
const vectors = Schema.decodeUnknownSync(Vectors)(JSON.parse(text))

const types = (frames: ReadonlyArray<unknown>) =>
  new Set(
    frames.flatMap((frame) => (typeof frame === "object" && frame !== null && "type" in frame ? [frame.type] : []))
  )

describe("golden frames", () => {
  for (const { frame, line, note } of vectors.guest) {
    it(`from a guest: ${note}`, () => assert.deepStrictEqual(Frame.decode(line) ?? null, frame))
  }
  for (const { frame, line, note } of vectors.host) {
    it(`from a host: ${note}`, () => {
      assert.deepStrictEqual(JSON.parse(line), frame)
      assert.isTrue(Schema.is(Frame.HostFrame)(frame))
    })
  }
  for (const { lines, note, texts } of vectors.cuts) {
    it(`as it arrives: ${note}`, () => {
      const splitter = new Frame.LineSplitter(100)
      assert.deepStrictEqual(
        texts.flatMap((each) => [...splitter.push(each)]),
        lines
      )
    })
  }
  for (const { id, line, message, note, value } of vectors.encode) {
    it(`as it is written: ${note}`, () => {
      const written =
        message === undefined ? Frame.encodeResult(id, stringify(value ?? null)) : Frame.encodeError(id, message)
      assert.strictEqual(written, `${line}\n`)
    })
  }
  it("covers every frame that there is", () => {
    assert.sameMembers(
      [...types(vectors.guest.map(({ frame }) => frame))],
      ["started", "log", "call", "done", "quiet", "threw", "invalid", "overflow"]
    )
    assert.sameMembers([...types(vectors.host.map(({ frame }) => frame))], ["start", "result", "error"])
  })
})
