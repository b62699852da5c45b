import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { inspect as show } from "node:util"
import { inspect, stringify } from "../../src/domain/LosslessJson.ts"
import { isDense } from "../../src/layers/DenseArrays.ts"

const { defaultOptions } = show

/** Makes a value lossy somewhere: given a lossless one, the smallest thing that holds it and an offence beside it. */
const spoils: { readonly [name: string]: (value: unknown) => unknown } = {
  "minus zero": (value) => [value, -0],
  "not a number": (value) => ({ value, at: Number.NaN }),
  infinity: (value) => [value, Infinity],
  undefined: (value) => ({ value, at: undefined }),
  bigint: (value) => [value, 1n],
  function: (value) => ({ value, at: () => 1 }),
  symbol: (value) => [value, Symbol("at")],
  date: (value) => [value, new Date(0)],
  map: (value) => ({ value, at: new Map() }),
  instance: (value) => ({ value, at: new Error("no JSON") }),
  "subclass of an array": (value) => [value, new (class Rows extends Array {})()],
  hole: (value) => {
    const list = [value, 1, 2]
    delete list[1]
    return list
  },
  "extra property of an array": (value) => Object.assign([value], { at: 1 }),
  "hidden extra property of an array": (value) => Object.defineProperty([value], "raw", { value: 1 }),
  "symbol as a key of an array": (value) => Object.assign([value], { [Symbol("at")]: 1 }),
  "a hole and an extra property": (value) => {
    const list = Object.assign([value, 1], { at: 1 })
    delete list[1]
    return list
  },
  "symbol as a key": (value) => ({ value, [Symbol("at")]: 1 }),
  "hidden symbol as a key": (value) => Object.defineProperty({ value }, Symbol("at"), { value: 1 }),
  "hidden property": (value) => Object.defineProperty({ value }, "at", { value: 1 }),
  getter: (value) => ({
    value,
    get at() {
      return 1
    }
  }),
  setter: (value) => ({ value, set at(_: number) {} }),
  "getter of an element": (value) => Object.defineProperty([value, 1], 1, { get: () => 1, enumerable: true }),
  "hidden element": (value) => Object.defineProperty([value, 1], 1, { value: 1, enumerable: false }),
  cycle: (value) => {
    const object: { [key: string]: unknown } = { value }
    object["self"] = object
    return object
  }
}

const many = (): Array<unknown> => Array.from({ length: 1500 }, (_, i) => ({ i }))

describe("inspect", () => {
  for (const [name, spoil] of Object.entries(spoils)) {
    it.prop(
      `finds a ${name} beside and inside of any value, whatever the cap`,
      { value: Schema.Json, depth: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 80 })) },
      ({ depth, value }) => {
        if (inspect(value, "value", Infinity) !== "lossless") return
        let spoilt = spoil(value)
        for (let i = 0; i < depth; i++) spoilt = i % 2 === 0 ? [spoilt] : { a: spoilt }
        for (const cap of [Infinity, 1e9]) assert.isObject(inspect(spoilt, "value", cap))
      },
      { arbitrary: { runs: 40 } }
    )
  }

  const spoiltMany: { readonly [name: string]: (list: Array<unknown>, at: number) => unknown } = {
    "extra property": (list) => Object.assign(list, { at: 1 }),
    "extra property without a name": (list) => Object.assign(list, { "": 1 }),
    "extra property that looks like an index": (list) => Object.assign(list, { "4294967295": 1 }),
    "hidden extra property": (list) => Object.defineProperty(list, "raw", { value: 1 }),
    "symbol as a key": (list) => Object.assign(list, { [Symbol("at")]: 1 }),
    "hidden symbol as a key": (list) => Object.defineProperty(list, Symbol("at"), { value: 1 }),
    tag: (list) => Object.assign(list, { [Symbol.toStringTag]: "Array" }),
    "getter of an element": (list, at) => Object.defineProperty(list, at, { get: () => 1, enumerable: true }),
    "setter of an element": (list, at) => Object.defineProperty(list, at, { set: () => {}, enumerable: true }),
    "hidden element": (list, at) => Object.defineProperty(list, at, { value: 1, enumerable: false }),
    "foreign prototype": (list) => Object.setPrototypeOf(list, null),
    hole: (list, at) => {
      delete list[at]
      return list
    },
    "key that only a proxy tells": (list) =>
      new Proxy(list, {
        ownKeys: (target) => [...Reflect.ownKeys(target), "at"],
        getOwnPropertyDescriptor: (target, key) =>
          key === "at"
            ? { configurable: true, enumerable: true, value: 1 }
            : Reflect.getOwnPropertyDescriptor(target, key)
      })
  }
  for (const [name, spoil] of Object.entries(spoiltMany)) {
    it.prop(
      `finds a ${name} in an array of many elements`,
      { at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1499 })) },
      ({ at }) => {
        // By the list of its keys, and by Node's proof.
        for (const proof of [undefined, isDense]) {
          assert.strictEqual(inspect(many(), "value", Infinity, proof), "lossless")
          assert.isObject(inspect(spoil(many(), at), "value", Infinity, proof))
          assert.isObject(inspect({ rows: spoil(many(), at) }, "value", Infinity, proof))
        }
      },
      { arbitrary: { runs: 10 } }
    )
  }

  it("Node's proof runs nothing of a program's: an array that could make it do so is asked for its keys", () => {
    let ran = 0
    const get = () => {
      ran++
      return "Array"
    }
    const own = Object.defineProperty(many(), Symbol.toStringTag, { configurable: true, get })
    assert.isObject(inspect(own, "value", Infinity, isDense))
    const named = Object.defineProperty(many(), "constructor", {
      value: Object.defineProperty(() => 1, "name", { get })
    })
    assert.isObject(inspect(named, "value", Infinity, isDense))
    const everyObject: object = Object.getPrototypeOf({})
    Object.defineProperty(everyObject, Symbol.toStringTag, { configurable: true, get })
    try {
      assert.isFalse(isDense(many()))
      assert.strictEqual(inspect(many(), "value", Infinity, isDense), "lossless")
    } finally {
      Reflect.deleteProperty(everyObject, Symbol.toStringTag)
    }
    assert.isTrue(isDense(many()))
    assert.strictEqual(ran, 0)
  })

  it("Node's proof holds for a dense array, whatever Node shows by default", () => {
    assert.isTrue(isDense(many()))
    assert.isTrue(isDense(Object.freeze(many())))
    assert.isTrue(isDense(Array.from({ length: 100_000 }, (_, i) => i)))
    const before = { ...defaultOptions }
    try {
      Object.assign(defaultOptions, { colors: true, numericSeparator: true, compact: false, sorted: true })
      assert.isTrue(isDense(many()))
    } finally {
      Object.assign(defaultOptions, before)
    }
    assert.isFalse(isDense([1, 2]))
  })

  it.prop(
    "finds nothing in what JSON.parse gives, and agrees with itself about caps",
    { value: Schema.Json },
    ({ value }) => {
      const text = JSON.stringify(value)
      // A minus zero of a text is one of the value.
      if (/-0|e\+?\d{3}/u.test(text)) return
      const parsed: unknown = JSON.parse(text)
      assert.strictEqual(inspect(parsed, "value", Infinity), "lossless")
      assert.strictEqual(inspect(parsed, "value", Buffer.byteLength(text)), "lossless")
    },
    { arbitrary: { runs: 500 } }
  )

  it("stops at a value that is shared without end once it passes the cap", () => {
    let value: unknown = "x"
    for (let i = 0; i < 60; i++) value = [value, value]
    assert.strictEqual(inspect(value, "value", 10_000), "oversize")
  })

  it("counts a shared value as often as it is written", () => {
    const row = { name: "x".repeat(100) }
    assert.strictEqual(inspect([row, row], "value", 150), "oversize")
    assert.strictEqual(inspect([row, row], "value", stringify([row, row]).length), "lossless")
  })

  it("knows values deeper than any stack", () => {
    let value: unknown = 1
    for (let i = 0; i < 100_000; i++) value = [value]
    assert.strictEqual(inspect(value, "value", Infinity), "lossless")
  })
})
