/** The surface of section 3 and the limits of section 6. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { keys, type LimitsInput } from "../../domain/Limits.ts"
import { RunEvent } from "../../domain/RunEvent.ts"
import { type Bench, code, ensure, equal, type Rule } from "../Case.ts"

const eventsOf = (t: Bench, name: string) =>
  Effect.map(
    Stream.runCollect(t.runtime.stream({ program: t.program(name), bindings: [t.host.tools()] })),
    (events): ReadonlyArray<RunEvent> => [...events]
  )

const bad: ReadonlyArray<readonly [keyof LimitsInput, number]> = [
  ["computeMs", 0],
  ["computeMs", -1],
  ["computeMs", Number.POSITIVE_INFINITY],
  ["computeMs", Number.NaN],
  ["maxWallMs", 0],
  ["maxWallMs", 2_147_483_648],
  ["maxWallMs", Number.NaN],
  ["maxOutputBytes", 3],
  ["maxOutputBytes", 4.5],
  ["maxOutputBytes", 2 ** 53],
  ["maxBindingBytes", 1],
  ["maxBindingBytes", 2.5],
  ["maxProgramBytes", 0],
  ["maxProgramBytes", 1.5],
  ["maxMemoryMb", 0],
  ["maxMemoryMb", Number.POSITIVE_INFINITY],
  ["maxConcurrentCalls", 0],
  ["maxConcurrentCalls", 1.5],
  ["maxConcurrentRuns", 0],
  ["maxConcurrentRuns", 0.5],
  ["standby", -1],
  ["standby", 0.5]
]
const borders: ReadonlyArray<LimitsInput> = [
  { computeMs: 0.5, maxWallMs: 2_147_483_647 },
  { computeMs: Number.MAX_VALUE },
  { maxOutputBytes: 4, maxBindingBytes: 2, maxProgramBytes: 1 },
  { maxConcurrentCalls: 1, maxConcurrentRuns: 1, standby: 0 },
  { maxOutputBytes: Number.MAX_SAFE_INTEGER, maxBindingBytes: Number.MAX_SAFE_INTEGER },
  { computeMs: undefined, standby: undefined }
]

export const surface: ReadonlyArray<Rule> = [
  {
    id: "S",
    text: "Section 3: descriptors, success and typed failure, usage, the stream of events.",
    cases: [
      {
        id: "S.descriptors",
        claim: "language and isolation name the backend, the same behind Promises",
        steps: (t) =>
          Effect.gen(function* () {
            equal([t.runtime.language, t.runtime.isolation], [t.language, t.isolation], "descriptors")
            const promises = yield* t.promises()
            equal([promises.language, promises.isolation], [t.language, t.isolation], "descriptors behind Promises")
          })
      },
      {
        id: "S.promises",
        claim: "the outcome behind Promises has value, logs and error alone, and no key without meaning",
        programs: {
          typescript: { value: "console.log('l'); return null", none: "", failed: "console.log('l'); throw 'x'" },
          python: { value: "print('l')\nreturn None", none: "", failed: "print('l')\nraise ValueError('x')" }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const promises = yield* t.promises()
            const run = (name: string) => Effect.promise(() => promises.run({ program: t.program(name) }))
            equal(yield* run("value"), { value: null, logs: ["l"] }, "the outcome")
            const none = yield* run("none")
            equal(Object.keys(none), ["logs"], "keys")
            const failed = yield* run("failed")
            equal(Object.keys(failed).toSorted(), ["error", "logs"], "keys")
            equal(Object.keys(failed.error ?? {}).toSorted(), ["kind", "message"], "keys of the error")
            equal(failed.error?.kind, "exception", "the kind")
          })
      },
      {
        id: "S.events",
        claim: "the stream: Started, logs and calls in order, exactly one end, the last; run is its fold",
        programs: {
          typescript: {
            some: "console.log('a'); const p = tools.slowly({ x: 1 }); console.error('b'); await p; await tools.fail().catch(() => {}); console.log('c'); return 5",
            bad: "console.log('a'); throw new Error('x')",
            never: "const ="
          },
          python: {
            some: "import sys, asyncio\nprint('a')\np = asyncio.ensure_future(tools.slowly(x=1))\nawait asyncio.sleep(0)\nprint('b', file=sys.stderr)\nawait p\ntry:\n    await tools.fail()\nexcept ToolError:\n    pass\nprint('c')\nreturn 5",
            bad: "print('a')\nraise ValueError('x')",
            never: "x = = 1"
          }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const events = yield* eventsOf(t, "some")
            ensure(events.every(Schema.is(RunEvent)), "events of the Schema", events)
            const tags = events.map((event) => event._tag)
            equal(
              tags.filter((tag) => tag !== "Log"),
              ["Started", "CallStarted", "CallSettled", "CallStarted", "CallSettled", "Completed"],
              "events"
            )
            equal(
              events.flatMap((event) => (event._tag === "Log" ? [[event.channel, event.text]] : [])),
              [
                ["stdout", "a"],
                ["stderr", "b"],
                ["stdout", "c"]
              ],
              "logs"
            )
            equal(
              events.flatMap((event) => (event._tag === "CallStarted" ? [[event.global, event.name, event.args]] : [])),
              [
                ["tools", "slowly", { x: 1 }],
                ["tools", "fail", {}]
              ],
              "calls"
            )
            equal(
              events.flatMap((event) => (event._tag === "CallSettled" ? [event.ok] : [])),
              [true, false],
              "answers"
            )
            const ids = events.flatMap((event) =>
              event._tag === "CallStarted" || event._tag === "CallSettled" ? [event.id] : []
            )
            equal([ids[0] === ids[1], ids[2] === ids[3], ids[0] !== ids[2]], [true, true, true], "ids")
            equal([tags[0], tags[1]], ["Started", "Log"], "the first events")
            const last = events.at(-1)
            ensure(last?._tag === "Completed", "Completed", last?._tag)
            const run = yield* t.run(t.program("some"))
            equal(
              [last.success.value, last.success.logs, last.success.usage.calls, last.success.usage.outputBytes],
              [run.value, run.logs, run.usage.calls, run.usage.outputBytes],
              "the fold"
            )
            const failed = yield* eventsOf(t, "bad")
            equal(
              failed.map((event) => event._tag),
              ["Started", "Log", "Failed"],
              "events of a failure"
            )
            const refused = yield* eventsOf(t, "never")
            equal(refused.map((event) => event._tag).at(-1), "Failed", "the end of what does not parse")
            equal(refused.filter((event) => event._tag === "Failed" || event._tag === "Completed").length, 1, "ends")
          })
      },
      {
        id: "S.slow-reader",
        claim: "a call runs once its CallStarted was read; interrupting the reader ends the run",
        programs: {
          typescript: { calls: "await tools.echo(1); await tools.echo(2); await tools.never()" },
          python: { calls: "await tools.echo(1)\nawait tools.echo(2)\nawait tools.never()" }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const seen: Array<string> = []
            const reader = yield* Effect.forkScoped(
              Stream.runForEach(
                t.runtime.stream({ program: t.program("calls"), bindings: [t.host.tools()] }),
                (event) =>
                  Effect.gen(function* () {
                    seen.push(event._tag)
                    if (event._tag === "CallStarted") {
                      // The reader has it, so its function may run; the next has not even been told.
                      yield* t.host.arrived(event.name, event.name === "echo" ? t.host.called("echo") : 1)
                    }
                  })
              )
            )
            yield* t.host.arrived("never")
            yield* Fiber.interrupt(reader)
            ensure(
              t.host.calls.every((call) => call.ended),
              "every call to have ended",
              t.host.calls
            )
            equal(t.host.calls.find((call) => call.name === "never")?.interrupted, true, "the open call interrupted")
            equal(
              seen.filter((tag) => tag === "Completed" || tag === "Failed"),
              [],
              "ends told"
            )
            const first = yield* Stream.runCollect(
              Stream.take(t.runtime.stream({ program: t.program("calls"), bindings: [t.host.tools()] }), 1)
            )
            equal(
              [...first].map((event) => event._tag),
              ["Started"],
              "the first event of another"
            )
            equal(t.host.running, 0, "calls that still run")
          })
      },
      {
        id: "S.usage",
        claim: "usage: wall and busy milliseconds, calls, the exact bytes of the output",
        programs: {
          typescript: [
            [
              "console.log('caf\\u00e9'); await tools.echo(1); await tools.fail().catch(() => {}); return { a: [1, '\\u{1F600}'] }",
              { value: { a: [1, "\u{1F600}"] } }
            ]
          ],
          python: [
            [
              "print('caf\u00e9')\nawait tools.echo(1)\ntry:\n    await tools.fail()\nexcept ToolError:\n    pass\nreturn {'a': [1, '\\U0001F600']}",
              { value: { a: [1, "\u{1F600}"] } }
            ]
          ]
        },
        check: (outcome) => {
          equal([outcome.usage.calls, outcome.usage.outputBytes], [2, 9 + 16], "calls and bytes")
          ensure(outcome.usage.wallMs > 0 && outcome.usage.cpuMs >= 0, "times", outcome.usage)
        }
      }
    ]
  },
  {
    id: "L",
    text: "Section 6: every backend takes the same limits; a bad one fails the layer with a typed error that names the key, the value and the bound.",
    cases: [
      {
        id: "L.bad",
        claim: "a limit outside its bound, and one that does not exist",
        steps: (t) =>
          Effect.gen(function* () {
            for (const [key, value] of bad) {
              const error = yield* Effect.flip(Effect.scoped(t.make({ [key]: value })))
              ensure(
                error instanceof Error && "_tag" in error && error._tag === "InvalidLimit",
                `InvalidLimit for ${key} ${value}`,
                String(error)
              )
              ensure(
                error.message.includes(key) &&
                  error.message.includes(String(value)) &&
                  "bound" in error &&
                  error.message.includes(String(error.bound)),
                "key, value and bound",
                error.message
              )
            }
            equal(keys.length, 9, "limits")
          })
      },
      {
        id: "L.borders",
        claim: "the borders themselves are taken",
        steps: (t) =>
          Effect.forEach(borders, (limits) => Effect.scoped(t.make({ standby: 0, ...limits })), { discard: true })
      },
      {
        id: "L.turns",
        claim: "maxConcurrentRuns: the others wait, in order, and waiting is on no budget",
        limits: { maxConcurrentRuns: 2, maxWallMs: 5000 },
        programs: {
          typescript: { turn: "await tools.count(NUMBER); await tools.slowly(NUMBER); return NUMBER" },
          python: { turn: "await tools.count(NUMBER)\nawait tools.slowly(NUMBER)\nreturn NUMBER" }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const all = yield* Effect.all(
              Array.from({ length: 6 }, (_, i) => t.run(t.program("turn").replaceAll("NUMBER", String(i)))),
              { concurrency: "unbounded" }
            )
            equal(
              all.map((outcome) => outcome.value ?? outcome.message),
              [0, 1, 2, 3, 4, 5],
              "values"
            )
            ensure(t.host.mostRunning <= 2, "at most two at once", t.host.mostRunning)
          })
      },
      {
        id: "L.abort-in-the-queue",
        claim: "a run that waits can be aborted or interrupted; the others do not mind",
        limits: { maxConcurrentRuns: 1 },
        programs: {
          typescript: { gate: "return await tools.gate(1)", next: "return 3" },
          python: { gate: "return await tools.gate(1)", next: "return 3" }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const controller = new AbortController()
            const first = yield* Effect.forkScoped(t.run(t.program("gate")))
            yield* t.host.arrived("gate")
            const second = yield* Effect.forkScoped(
              t.run({ program: t.program("gate"), bindings: [t.host.tools()], signal: controller.signal }),
              { startImmediately: true }
            )
            const third = yield* Effect.forkScoped(t.run(t.program("gate")), { startImmediately: true })
            const fourth = yield* Effect.forkScoped(t.run(t.program("next")), { startImmediately: true })
            controller.abort("no longer")
            yield* t.expect(yield* Fiber.join(second), { kind: "abort", message: "no longer" })
            yield* Fiber.interrupt(third)
            t.host.open()
            yield* t.expect(yield* Fiber.join(first), { value: 1 })
            yield* t.expect(yield* Fiber.join(fourth), { value: 3 })
            equal(t.host.called("gate"), 1, "calls")
          })
      },
      {
        id: "L.standby",
        claim: "any number of standbys, none included, changes no outcome",
        programs: {
          typescript: { one: "(globalThis as any).n = ((globalThis as any).n ?? 0) + 1; return (globalThis as any).n" },
          python: {
            one: code`
          import builtins
          builtins.n = getattr(builtins, "n", 0) + 1
          return builtins.n
        `
          }
        },
        steps: (t) =>
          Effect.forEach(
            [0, 1, 3],
            (standby) =>
              Effect.scoped(
                Effect.gen(function* () {
                  const runtime = yield* t.make({ standby })
                  const all = yield* Effect.all(
                    Array.from({ length: 5 }, () => t.run(t.program("one"), runtime)),
                    { concurrency: 3 }
                  )
                  equal(
                    all.map((outcome) => outcome.value ?? outcome.message),
                    [1, 1, 1, 1, 1],
                    `values with standby ${standby}`
                  )
                })
              ),
            { discard: true }
          )
      }
    ]
  }
]
