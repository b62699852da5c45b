import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { Limits } from "effect-code-runtime"

const whole = (least: number) => (value: number) =>
  value >= least && Math.floor(value) === value && value <= Number.MAX_SAFE_INTEGER
const positive = (value: number) => value > 0 && value < Number.POSITIVE_INFINITY

/** The bounds once more. */
const bounds: { readonly [key in Limits.LimitKey]: (value: number) => boolean } = {
  computeMs: positive,
  maxWallMs: (value) => value > 0 && value <= 2_147_483_647,
  maxOutputBytes: whole(4),
  maxBindingBytes: whole(2),
  maxProgramBytes: whole(1),
  maxMemoryMb: positive,
  maxConcurrentCalls: whole(1),
  maxConcurrentRuns: whole(1),
  standby: whole(0)
}

const borders = [
  -1,
  -0,
  0,
  0.5,
  1,
  1.5,
  2,
  3,
  3.5,
  4,
  5,
  2_147_483_646,
  2_147_483_647,
  2_147_483_648,
  2 ** 53 - 1,
  2 ** 53,
  5e-324,
  1e308,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY
]

const judged = (key: Limits.LimitKey, value: number) =>
  Effect.map(Effect.exit(Limits.make({ [key]: value })), (exit) => {
    assert.strictEqual(Exit.isSuccess(exit), bounds[key](value), `${key} ${value}`)
    if (Exit.isSuccess(exit)) assert.strictEqual(exit.value[key], value)
  })

describe("limits", () => {
  it.effect("every limit at its borders", () =>
    Effect.forEach(Limits.keys, (key) => Effect.forEach(borders, (value) => judged(key, value)), { discard: true })
  )

  it.effect.prop(
    "any number",
    { key: Schema.Literals(Limits.keys), value: Schema.Number },
    ({ key, value }) => judged(key, value),
    { arbitrary: { runs: 500 } }
  )

  it.effect.prop(
    "whatever is no number is refused by name",
    { key: Schema.Literals(Limits.keys), value: Schema.Json },
    ({ key, value }) =>
      Effect.gen(function* () {
        if (typeof value === "number") return
        const input: { [name: string]: unknown } = { [key]: value }
        const error = yield* Effect.flip(Limits.make(input as never))
        assert.strictEqual(error.key, key)
        assert.include(error.message, key)
        assert.include(error.message, Limits.boundOf(key))
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect("defaults are those of the documentation, and an unknown key is refused", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* Limits.make(), Limits.defaults)
      assert.deepStrictEqual(yield* Limits.make({ computeMs: undefined }), Limits.defaults)
      const unknown: { [name: string]: number } = { computeSeconds: 1 }
      assert.strictEqual((yield* Effect.flip(Limits.make(unknown))).key, "computeSeconds")
    })
  )

  it.effect("by Config, each under its own name", () =>
    Effect.gen(function* () {
      const provider = ConfigProvider.fromUnknown({ computeMs: "1500", standby: "0" })
      const input = yield* Limits.config.parse(provider)
      assert.deepStrictEqual(yield* Limits.make(input), { ...Limits.defaults, computeMs: 1500, standby: 0 })
      assert.deepStrictEqual(yield* Limits.config.parse(ConfigProvider.fromUnknown({})), {})
    })
  )
})
