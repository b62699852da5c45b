import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CodeRuntime, Names } from "effect-code-runtime"
import { checkRequest } from "../../src/domain/Request.ts"

// The rule once more, in other words than those of `Names`.
const ecmascript =
  "arguments|await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|eval|export|extends|false|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|package|private|protected|public|return|static|super|switch|this|throw|true|try|typeof|var|void|while|with|yield"
const python =
  "False|None|True|_|and|as|assert|async|await|break|case|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|match|nonlocal|not|or|pass|raise|return|try|type|while|with|yield"
const owned =
  "console|undefined|NaN|Infinity|__builtins__|__name__|__debug__|__loader__|__annotations__|__dsh_main__|__code_runtime__"
const taken = new Set([ecmascript, python, owned].flatMap((list) => list.split("|")))

const letters = (code: number) => (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95
const isAllowedGlobal = (name: string): boolean => {
  if (name.length === 0 || taken.has(name)) return false
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i)
    if (!letters(unit) && !(i > 0 && unit >= 48 && unit <= 57)) return false
  }
  return true
}

const errorsOwn = ["", "name", "message", "stack", "args", "with_traceback", "add_note"]
const isAllowedMember = (member: string): boolean =>
  !errorsOwn.includes(member) && !(member.length > 4 && member.startsWith("__") && member.endsWith("__"))

const words = [...taken]
const near = [
  "A",
  "z",
  "_",
  "__",
  "___",
  "____",
  "_____",
  "0",
  "9",
  "$",
  "-",
  " ",
  "\n",
  "\u00e9",
  "\u0130",
  "\ud835",
  "__x__",
  "__x",
  "x__"
]

/** Names near the borders of the rule: its words, their neighbours, and any text. */
const Name = Schema.Union([
  Schema.String,
  Schema.Literals(words),
  Schema.Literals([...near, ...errorsOwn]),
  Schema.Literals(words.flatMap((word) => [`${word}_`, `_${word}`, word.toUpperCase(), `${word}1`, `${word} `]))
])
const Parts = Schema.Array(Schema.Union([Schema.Literals(near), Schema.Literals(words)]))

const none = { arbitrary: { runs: 1500 } }
const isMisuse = (request: unknown): boolean => checkRequest(request) !== undefined

describe("names", () => {
  it.prop(
    "globals and error classes are taken exactly as the rule says",
    { name: Arbitrary.schema(Name), parts: Arbitrary.schema(Parts) },
    ({ name, parts }) => {
      for (const each of [name, parts.join("")]) {
        assert.strictEqual(Names.offenceOfGlobal(each) === undefined, isAllowedGlobal(each), JSON.stringify(each))
        assert.strictEqual(Schema.is(Names.GlobalName)(each), isAllowedGlobal(each))
        assert.strictEqual(
          isMisuse({ program: "", bindings: [{ global: each, functions: {} }] }),
          !isAllowedGlobal(each)
        )
        const errorClass = { name: each, memberNameProperty: "tool" }
        const bindings = [{ global: "ns", functions: {}, errorClass }]
        assert.strictEqual(isMisuse({ program: "", bindings }), !(isAllowedGlobal(each) && each !== "ns"))
      }
    },
    none
  )

  it.prop(
    "member properties are taken exactly as the rule says",
    { name: Arbitrary.schema(Name), parts: Arbitrary.schema(Parts) },
    ({ name, parts }) => {
      for (const each of [name, parts.join(""), `__${name}__`]) {
        assert.strictEqual(Names.offenceOfErrorMember(each) === undefined, isAllowedMember(each), JSON.stringify(each))
        const errorClass = { name: "ToolError", memberNameProperty: each }
        assert.strictEqual(
          isMisuse({ program: "", bindings: [{ global: "ns", functions: {}, errorClass }] }),
          !isAllowedMember(each)
        )
      }
    },
    none
  )

  it.prop(
    "a request's globals are unique",
    { names: Schema.Array(Schema.Literals(["a", "b", "c", "d", "e"])) },
    ({ names }) => {
      const bindings = names.map((global) => ({ global, functions: {} }))
      assert.strictEqual(isMisuse({ program: "", bindings }), new Set(names).size < names.length)
    },
    { arbitrary: { runs: 300 } }
  )

  it.prop(
    "a misuse names the offender",
    { name: Arbitrary.schema(Name) },
    ({ name }) => {
      const misuse = checkRequest({ program: "", bindings: [{ global: name, functions: {} }] })
      if (misuse === undefined) return
      assert.instanceOf(misuse, CodeRuntime.CodeRuntimeMisuse)
      assert.isTrue(misuse.reason._tag === "InvalidBinding" && misuse.reason.name === name)
      assert.include(misuse.message, JSON.stringify(name))
    },
    { arbitrary: { runs: 300 } }
  )

  it("binding instead of bindings was ignored, and the program knew none of its functions", () => {
    const namespace = { global: "tools", functions: {} }
    const slips: ReadonlyArray<readonly [request: object, told: string]> = [
      [{ programm: "" }, 'the request has no key "programm"; did you mean program?'],
      [{ program: "", binding: [namespace] }, 'the request has no key "binding"; did you mean bindings?'],
      [{ program: "", Signal: AbortSignal.abort() }, 'the request has no key "Signal"; did you mean signal?'],
      [
        { program: "", bindings: [{ ...namespace, errorclass: {} }] },
        'request.bindings[0] has no key "errorclass"; did you mean errorClass?'
      ],
      [
        { program: "", bindings: [{ ...namespace, errorClass: { name: "E", memberNameProprety: "tool" } }] },
        'request.bindings[0].errorClass has no key "memberNameProprety"; did you mean memberNameProperty?'
      ]
    ]
    for (const [request, told] of slips) assert.strictEqual(checkRequest(request)?.message, told)
  })

  it("an object that holds more than is asked of it is no misuse", () => {
    const described = { global: "tools", functions: {}, description: "for the model", names: ["a"] }
    assert.isUndefined(checkRequest({ program: "", bindings: [described], language: "typescript", id: 7 }))
    assert.isUndefined(checkRequest({ program: "", programs: [], binding: undefined }))
  })

  it.effect.prop(
    "no request of any shape makes the check throw",
    { request: Schema.Json },
    ({ request }) => Effect.sync(() => void checkRequest(request)),
    { arbitrary: { runs: 300 } }
  )
})
