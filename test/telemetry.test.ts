import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Metric, Tracer } from "effect"
import { CodeRuntime, WorkerThread } from "effect-code-runtime"

const bindings: CodeRuntime.CodeRunRequest["bindings"] = [
  {
    global: "tools",
    functions: { add: () => Effect.succeed(3), refuse: () => Effect.fail("no"), never: () => Effect.never }
  }
]

/** A tracer that keeps its spans. */
const tracing = () => {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  return { spans, layer: Layer.succeed(Tracer.Tracer, tracer) }
}

const run = (program: string) =>
  Effect.exit(CodeRuntime.CodeRuntime.use((runtime) => runtime.run({ program, bindings })))

/** Counts by name and attributes; other tests of this process may count too, so only differences are looked at. */
const counts = Effect.map(
  Metric.snapshot,
  (snapshots) =>
    new Map(
      snapshots.flatMap(({ attributes, id, state }) =>
        "count" in state ? [[`${id} ${JSON.stringify(attributes ?? {})}`, Number(state.count)] as const] : []
      )
    )
)

describe("telemetry", () => {
  it.live("one span a run and one a call, with language, isolation, outcome and usage", () => {
    const { layer, spans } = tracing()
    return Effect.gen(function* () {
      yield* run("await tools.add({}); await tools.refuse({}).catch(() => {}); return 1")
      yield* run("throw new Error('x')")
      const runs = spans.filter(({ name }) => name === "CodeRuntime.run")
      assert.deepStrictEqual(
        runs.map(({ attributes }) => [
          attributes.get("language"),
          attributes.get("isolation"),
          attributes.get("outcome"),
          attributes.get("calls")
        ]),
        [
          ["typescript", "worker-thread", "Completed", 2],
          ["typescript", "worker-thread", "Exception", 0]
        ]
      )
      const calls = spans.filter(({ name }) => name === "CodeRuntime.call")
      assert.deepStrictEqual(
        calls.map(({ attributes }) => `${attributes.get("global")}.${attributes.get("name")}`),
        ["tools.add", "tools.refuse"]
      )
      assert.isTrue(spans.every(({ status }) => status._tag === "Ended"))
    }).pipe(Effect.provide(Layer.merge(WorkerThread.layer({ standby: 0 }), layer)))
  })

  it.live("runs by outcome, calls by their end, and durations are counted", () =>
    Effect.gen(function* () {
      const before = yield* counts
      yield* run("await tools.add({}); await tools.refuse({}).catch(() => {}); return 1")
      yield* run("throw new Error('x')")
      const after = yield* counts
      const grown = [...after].flatMap(([key, count]) => {
        const difference = count - (before.get(key) ?? 0)
        return difference > 0 && key.startsWith("code_runtime") ? [`${key}: ${difference}`] : []
      })
      for (const expected of [
        /code_runtime_runs .*"outcome":"Completed".*: 1$/u,
        /code_runtime_runs .*"outcome":"Exception".*: 1$/u,
        /code_runtime_run_ms .*: 2$/u,
        /code_runtime_calls .*"ok":"true".*: 1$/u,
        /code_runtime_calls .*"ok":"false".*: 1$/u
      ]) {
        assert.isTrue(
          grown.some((line) => expected.test(line)),
          `${expected} in ${grown.join("\n")}`
        )
      }
    }).pipe(Effect.provide(WorkerThread.layer({ standby: 0 })))
  )

  it.live("runs that wait for their turn are told", () =>
    Effect.gen(function* () {
      const waiting = Effect.map(Metric.snapshot, (snapshots) => {
        const gauge = snapshots.find(({ id }) => id === "code_runtime_waiting_runs")
        return gauge !== undefined && "value" in gauge.state ? Number(gauge.state.value) : 0
      })
      const fibers = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(run("await tools.never()")))
      while ((yield* waiting) !== 2) yield* Effect.yieldNow
      yield* Effect.forEach(fibers, Fiber.interrupt, { concurrency: 3 })
      assert.strictEqual(yield* waiting, 0)
    }).pipe(Effect.provide(WorkerThread.layer({ standby: 0, maxConcurrentRuns: 1 })))
  )
})
