/** N: names of namespaces, error classes, their properties and bindings. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { BindingNamespace, CodeRunRequest } from "../../domain/CodeRun.ts"
import { type Bench, ensure, equal, type Rule, Unmet } from "../Case.ts"
import type { Host } from "../Host.ts"

const empty = (global: string): BindingNamespace => ({ global, functions: {} })
const withClass = (global: string, name: string, memberNameProperty = "tool"): BindingNamespace => ({
  global,
  functions: {},
  errorClass: { name, memberNameProperty }
})

/** A request that no type lets through. */
const loose = (request: unknown): CodeRunRequest => (isRequest(request) ? request : { program: "" })
const isRequest = (_request: unknown): _request is CodeRunRequest => true

/** Each request is misuse that names its offender; nothing runs. */
const refuses = (
  t: Bench,
  reason: "InvalidBinding" | "InvalidRequest",
  requests: ReadonlyArray<readonly [offender: string, request: unknown]>
) =>
  Effect.forEach(
    requests,
    ([offender, request]) =>
      Effect.gen(function* () {
        const misuse = yield* Effect.flip(t.runtime.run(loose(request))).pipe(
          Effect.mapError(() => new Unmet(`expected misuse for ${JSON.stringify(offender)}; the run succeeded`))
        )
        ensure(misuse._tag === "CodeRuntimeMisuse", `misuse for ${JSON.stringify(offender)}`, misuse.message)
        ensure(misuse.reason._tag === reason, `${reason} for ${JSON.stringify(offender)}`, misuse.reason._tag)
        if (misuse.reason._tag === "InvalidBinding") equal(misuse.reason.name, offender, "the offender")
        ensure(misuse.message.includes(offender), `a message with ${offender}`, misuse.message)
        equal(t.host.called(), 0, "calls")
      }),
    { discard: true }
  )

const withBindings = (bindings: unknown) => ({ program: "return 1", bindings })

const notIdentifiers = [
  "$tools",
  "1st",
  "my-tools",
  "my tools",
  "caf\u00e9",
  "a.b",
  "",
  " tools",
  "tools ",
  "a\n",
  "\u{1D4D0}",
  "a\u200d",
  "tools\u0000",
  "#a"
]
const ecmascript =
  "await break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof new null return super switch this throw true try typeof var void while with yield let static implements interface package private protected public arguments eval".split(
    " "
  )
const python =
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield match case type _".split(
    " "
  )
const free = [
  "print",
  "tool",
  "_tool",
  "__tool",
  "A9",
  "a_b",
  "process",
  "require",
  "Promise",
  "Object",
  "Array",
  "Map",
  "Symbol",
  "JSON",
  "Error",
  "Exception",
  "asyncio",
  "json",
  "sys",
  "len",
  "str",
  "dict",
  "isinstance",
  "fetch",
  "setTimeout",
  "globalThis",
  "self",
  "of",
  "get",
  "then",
  "constructor",
  "toString",
  "Reflect",
  "Buffer",
  "queueMicrotask"
]

const odd = [
  "",
  " ",
  "read file",
  "a-b",
  "0",
  "-1",
  "1.5",
  "class",
  "def",
  "None",
  "a.b",
  'a"b',
  "a'b",
  "a\\b",
  "a\nb",
  "\u{1F600}",
  "\ud83d",
  "\u0000",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "constructor",
  "__proto__",
  "__defineGetter__",
  "then",
  "prototype",
  "name",
  "length",
  "call",
  "__class__",
  "__dict__",
  "__getattr__",
  "__getitem__",
  "__init__",
  "keys",
  "items",
  "get",
  "x".repeat(2000)
]

const oddNamespace = (host: Host): ReadonlyArray<BindingNamespace> => {
  const functions: BindingNamespace["functions"] = Object.create(null)
  for (const name of odd) {
    Object.defineProperty(functions, name, {
      enumerable: true,
      value: host.record(name, () => Effect.succeed(name))
    })
  }
  return [
    { global: "tools", functions },
    { global: "listed", functions: { all: host.record("all", () => Effect.succeed([...odd])) } }
  ]
}

export const names: ReadonlyArray<Rule> = [
  {
    id: "N1",
    text: "A namespace's global and an error class's name: an identifier of both languages, not reserved, not owned by a backend, unique in the request.",
    cases: [
      {
        id: "N1.identifiers",
        claim: "both match [A-Za-z_][A-Za-z0-9_]*",
        steps: (t) =>
          refuses(
            t,
            "InvalidBinding",
            [
              ...notIdentifiers.map((name) => [name, withBindings([empty(name)])] as const),
              ...notIdentifiers.map((name) => [name, withBindings([withClass("good", name)])] as const)
            ].filter(([name]) => !name.includes("\n") && !name.includes("\u0000"))
          )
      },
      {
        id: "N1.reserved",
        claim: "no reserved word of ECMAScript or Python, soft keywords included",
        steps: (t) =>
          refuses(
            t,
            "InvalidBinding",
            [...new Set([...ecmascript, ...python])].flatMap((name) => [
              [name, withBindings([empty(name)])] as const,
              [name, withBindings([withClass("good", name)])] as const
            ])
          )
      },
      {
        id: "N1.owned",
        claim: "no global that a backend owns: console, the guests' own slots",
        steps: (t) =>
          refuses(
            t,
            "InvalidBinding",
            ["console", "__code_runtime__", "__builtins__", "__name__"].flatMap((name) => [
              [name, withBindings([empty(name)])] as const,
              [name, withBindings([withClass("good", name)])] as const
            ])
          )
      },
      {
        id: "N1.unique",
        claim: "each name once in a request, of namespaces and error classes together",
        steps: (t) =>
          refuses(t, "InvalidBinding", [
            ["twice", withBindings([empty("twice"), empty("other"), empty("twice")])],
            ["same", withBindings([withClass("same", "same")])],
            ["Oops", withBindings([withClass("a", "Oops"), empty("Oops")])],
            ["Oops", withBindings([empty("Oops"), withClass("a", "Oops")])],
            ["Oops", withBindings([withClass("a", "Oops"), withClass("b", "Oops")])]
          ])
      },
      {
        id: "N1.free",
        claim: "every other name works, print and the languages' own globals included",
        programs: {
          typescript: {
            use: "return await NAME.echo(1)",
            failing: "try { await tools.fail() } catch (e) { return [e instanceof NAME, e.name] }"
          },
          python: {
            use: "return await NAME.echo(1)",
            failing: "try:\n    await tools.fail()\nexcept NAME as e:\n    return [True, type(e).__name__]"
          }
        },
        timeoutMs: 120_000,
        steps: (t) =>
          Effect.gen(function* () {
            for (const name of free) {
              const used = yield* t.run({
                program: t.program("use").replace("NAME", name),
                bindings: [{ global: name, functions: t.host.functions }]
              })
              ensure(used.value === 1, `a namespace called ${name}`, used)
            }
            for (const name of ["Error", "Exception", "TypeError", "ToolError", "_E", "Promise"]) {
              const failed = yield* t.run({
                program: t.program("failing").replace("NAME", name),
                bindings: [{ ...t.host.tools(), errorClass: { name, memberNameProperty: "tool" } }]
              })
              equal(failed.value, [true, name], `an error class called ${name}`)
            }
          })
      },
      {
        id: "N1.several",
        claim: "several namespaces side by side, an empty one among them",
        bindings: (host) => [
          { global: "one", functions: { get: host.record("one.get", () => Effect.succeed(1)) } },
          {
            global: "_two",
            functions: {
              get: host.record("two.get", () => Effect.succeed(2)),
              fail: host.functions.fail ?? (() => Effect.succeed(null))
            },
            errorClass: { name: "Bad", memberNameProperty: "who" }
          },
          { global: "none", functions: {} }
        ],
        programs: {
          typescript: [
            [
              "return [await one.get(), await _two.get(), Object.keys(none).length, await _two.fail().catch((e: any) => [e instanceof Bad, e.who])]",
              { value: [1, 2, 0, [true, "fail"]] }
            ]
          ],
          python: [
            [
              "try:\n    await _two.fail()\nexcept Bad as e:\n    who = e.who\nreturn [await one.get(), await _two.get(), 0 if none is not None else 1, [True, who]]",
              { value: [1, 2, 0, [true, "fail"]] }
            ]
          ]
        }
      }
    ]
  },
  {
    id: "N2",
    text: "An error class's member property is none that an error has in either language, and not empty.",
    cases: [
      {
        id: "N2.refused",
        claim: "not empty, not name, message, stack, args, with_traceback, add_note, not __x__",
        steps: (t) =>
          refuses(
            t,
            "InvalidBinding",
            [
              "",
              "name",
              "message",
              "stack",
              "args",
              "with_traceback",
              "add_note",
              "__cause__",
              "__proto__",
              "__x__",
              "__a b__",
              "_____"
            ].map((member) => [member, withBindings([withClass("tools", "ToolError", member)])] as const)
          )
      },
      {
        id: "N2.accepted",
        claim: "anything else",
        programs: {
          typescript: {
            read: "try { await tools.fail({ message: 'm' }) } catch (e) { return [(e as any)[MEMBER], e.message, e.name, Object.keys(e)] }"
          },
          python: {
            read: "try:\n    await tools.fail({'message': 'm'})\nexcept ToolError as e:\n    return [getattr(e, MEMBER), str(e), type(e).__name__, [k for k in vars(e) if k == MEMBER]]"
          }
        },
        steps: (t) =>
          Effect.forEach(
            [
              "tool",
              "the tool",
              "0",
              "toString",
              "constructor",
              "cause",
              "code",
              "Name",
              "__x",
              "x__",
              "_",
              "class",
              "caf\u00e9",
              "hasOwnProperty",
              "errno",
              "filename",
              "print_file_and_line",
              "errors"
            ],
            (member) =>
              Effect.gen(function* () {
                const outcome = yield* t.run({
                  program: t.program("read").replaceAll("MEMBER", JSON.stringify(member)),
                  bindings: [{ ...t.host.tools(), errorClass: { name: "ToolError", memberNameProperty: member } }]
                })
                equal(outcome.value ?? outcome.message, ["fail", "m", "ToolError", [member]], `the member ${member}`)
              }),
            { discard: true }
          )
      }
    ]
  },
  {
    id: "N3",
    text: "Binding names are any strings: own properties of a null-prototype object; by index in both languages, in Python by attribute too where it is one.",
    cases: [
      {
        id: "N3.any-string",
        claim: "any string, reached by index",
        bindings: oddNamespace,
        programs: {
          typescript: [
            [
              "const wrong = []\nfor (const name of await listed.all()) { if (typeof tools[name] !== 'function' || await tools[name]({}) !== name) wrong.push(name) }\nreturn wrong",
              { value: [] }
            ],
            [
              "return [Object.getPrototypeOf(tools), Object.keys(tools).length, Object.keys(tools).includes('__proto__'), 'isPrototypeOf' in tools]",
              { value: [null, odd.length, true, false] }
            ]
          ],
          python: [
            [
              "wrong = []\nfor name in await listed.all():\n    if await tools[name]() != name:\n        wrong.append(name)\nreturn wrong",
              { value: [] }
            ],
            [
              "return [await tools.toString(), await tools.keys(), await tools.items(), await tools.get(), await tools.name(), await tools.call()]",
              { value: ["toString", "keys", "items", "get", "name", "call"] }
            ],
            [
              "return [await getattr(tools, 'then')(), await getattr(tools, 'constructor')(), await getattr(tools, 'valueOf')()]",
              { value: ["then", "constructor", "valueOf"] }
            ]
          ]
        }
      },
      {
        id: "N3.own",
        claim: "own properties of the host's object alone, and of the program's",
        bindings: (host) => {
          const functions: BindingNamespace["functions"] = Object.create({ inherited: host.functions.count })
          return [{ global: "tools", functions: Object.assign(functions, { own: host.functions.echo }) }]
        },
        programs: {
          typescript: [
            [
              "return [Object.keys(tools), (tools as any).inherited === undefined, (tools as any).toString === undefined]",
              { value: [["own"], true, true] }
            ],
            [
              "const { own } = tools\nreturn [await own(1), await own.call(null, 2), await Reflect.apply(own, 5, [3])]",
              { value: [1, 2, 3] }
            ],
            ["await (tools as any).inherited()", { kind: "exception", message: /^TypeError: .*inherited/ }]
          ],
          python: [
            [
              "return [hasattr(tools, 'own'), hasattr(tools, 'inherited'), hasattr(tools, 'nothing')]",
              { value: [true, false, false] }
            ],
            ["own = tools.own\nreturn [await own(1), await tools['own'](2)]", { value: [1, 2] }],
            ["await tools['inherited']()", { kind: "exception", message: /inherited/ }]
          ]
        }
      }
    ]
  },
  {
    id: "N4",
    text: "A broken name is misuse: found before any guest starts, and the error names the offender and the rule.",
    cases: [
      {
        id: "N4.rule-named",
        claim: "the message names the offender and the rule",
        steps: (t) =>
          Effect.forEach(
            [
              [withBindings([empty("no good")]), /"no good".*A-Za-z_/],
              [withBindings([empty("lambda")]), /"lambda".*reserved/],
              [withBindings([empty("console")]), /"console".*owns/],
              [withBindings([empty("a"), empty("a")]), /"a".*(?:twice|unique)/],
              [withBindings([withClass("a", "B", "stack")]), /"stack"/],
              [withBindings([{ global: "a", functions: { f: 5 } }]), /"f".*function/]
            ] as const,
            ([request, said]) =>
              Effect.gen(function* () {
                const misuse = yield* Effect.flip(t.runtime.run(loose(request)))
                ensure(said.test(misuse.message), `a message with ${said}`, misuse.message)
              }),
            { discard: true }
          )
      },
      {
        id: "N4.shapes",
        claim: "a request of another shape is misuse",
        steps: (t) =>
          refuses(t, "InvalidRequest", [
            ["program", { program: 42 }],
            ["program", {}],
            ["request", null],
            ["request", "return 1"],
            ["bindings", withBindings("none")],
            ["bindings", withBindings({ global: "tools", functions: {} })],
            ["bindings", withBindings(null)],
            ["bindings[0]", withBindings([null])],
            ["bindings[0]", withBindings(["tools"])],
            ["global", withBindings([{ functions: {} }])],
            ["functions", withBindings([{ global: "tools" }])],
            ["functions", withBindings([{ global: "tools", functions: null }])],
            ["errorClass", withBindings([{ global: "tools", functions: {}, errorClass: "ToolError" }])],
            ["errorClass", withBindings([{ global: "tools", functions: {}, errorClass: { name: "ToolError" } }])],
            ["programm", { programm: "return 1" }],
            ["bindings", { program: "return 1", binding: [] }],
            ["function", withBindings([{ global: "tools", function: {} }])],
            ["errorClass", withBindings([{ global: "tools", functions: {}, errorclass: {} }])],
            ["signal", { program: "return 1", signal: {} }],
            ["signal", { program: "return 1", signal: null }]
          ])
      },
      {
        id: "N4.first",
        claim: "before any guest starts, and before the signal is asked",
        programs: { typescript: { call: "await good.count()" }, python: { call: "await good.count()" } },
        steps: (t) =>
          Effect.gen(function* () {
            const request = loose({
              program: t.program("call"),
              bindings: [{ global: "good", functions: t.host.functions }, empty("not good")],
              signal: AbortSignal.abort()
            })
            const misuse = yield* Effect.flip(t.runtime.run(request))
            equal(misuse._tag, "CodeRuntimeMisuse", "the failure")
            const seen: Array<string> = []
            const ended = yield* Effect.flip(
              Stream.runForEach(t.runtime.stream(request), (event) => Effect.sync(() => void seen.push(event._tag)))
            )
            equal([ended._tag, seen], ["CodeRuntimeMisuse", []], "the stream")
            const promises = yield* t.promises()
            const rejected = yield* Effect.flip(
              Effect.tryPromise({
                try: () => promises.run({ program: "return 1", bindings: [{ global: "not good", functions: {} }] }),
                catch: (error) => new Unmet(error instanceof Error ? error.message : String(error))
              })
            )
            ensure(/not good/.test(rejected.message), "a rejection that names it", String(rejected))
            equal(t.host.called(), 0, "calls")
          })
      }
    ]
  }
]
