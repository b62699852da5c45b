import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CodeRuntime, type Json, WorkerThread } from "effect-code-runtime"
import { isJson } from "../../src/domain/Json.ts"

// -0 is what JSON loses; the rule is shown elsewhere.
const lossless = (value: unknown): value is Json.Json => isJson(value)

describe("JSON through a real guest", () => {
  layer(WorkerThread.layer({ standby: 2 }), { excludeTestServices: true })((it) => {
    it.effect.prop(
      "comes back as it went: as a result, an argument, a log and a completion",
      { values: Schema.Array(Schema.Json) },
      ({ values }) =>
        Effect.gen(function* () {
          const given = values.filter(lossless)
          const seen: Array<Json.Json> = []
          const runtime = yield* CodeRuntime.CodeRuntime
          const success = yield* runtime.run({
            program:
              "const values = await data.give()\nfor (const value of values) await data.take(value)\nconsole.log(JSON.stringify(values))\nreturn values",
            bindings: [
              {
                global: "data",
                functions: {
                  give: () => Effect.succeed(given),
                  take: (value) => Effect.sync(() => (seen.push(value), null))
                }
              }
            ]
          })
          assert.deepStrictEqual(success.value, given)
          assert.deepStrictEqual(seen, given)
          assert.deepStrictEqual(success.logs, [JSON.stringify(given)])
          assert.strictEqual(
            success.usage.outputBytes,
            new TextEncoder().encode(JSON.stringify(success.logs) + JSON.stringify(given)).length
          )
        }),
      { arbitrary: { runs: 40 }, timeout: 60_000 }
    )

    it.effect.prop(
      "a thrown text is that text, whatever it says",
      { text: Schema.String },
      ({ text }) =>
        Effect.gen(function* () {
          const runtime = yield* CodeRuntime.CodeRuntime
          const failure = yield* Effect.flip(
            runtime.run({ program: `console.log(${JSON.stringify(text)}); throw ${JSON.stringify(text)}` })
          )
          assert.strictEqual(failure._tag, "CodeRunFailed")
          assert.strictEqual(failure.message, text)
        }),
      { arbitrary: { runs: 20 }, timeout: 60_000 }
    )
  })
})
