import { Context, Service } from "@deepseek-ai/cordis"
import { type CodeRunResult, CodeRuntime as Seam } from "@deepseek-ai/dsh-code-runtime"
import { afterEach, assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { CodeRuntime, WorkerThread } from "effect-code-runtime"
import CodeRuntimePlugin, * as Cordis from "effect-code-runtime/cordis"
import type { Worker } from "node:worker_threads"

const guestName = "effect-code-runtime guest"

/** Guests that live now; the compiler's own threads are none. */
const guests = new Set<Worker>()
process.on("worker", (worker: Worker) => {
  if (worker.threadName !== guestName) return
  guests.add(worker)
  worker.on("exit", () => guests.delete(worker))
})

const opened: Array<Context> = []
const makeContext = (): Context => {
  const ctx = new Context()
  opened.push(ctx)
  return ctx
}
afterEach(async () => {
  for (const ctx of opened.splice(0)) await ctx.fiber.dispose()
  assert.strictEqual(guests.size, 0, "guests outlived their plugin")
})

const runtimeOf = (ctx: Context): Seam => {
  const runtime = ctx.get("codeRuntime")
  assert.isDefined(runtime)
  return runtime
}

const request = (program: string) => ({ program, bindings: [] })

const failureOf = async (promise: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await promise
  } catch (error) {
    return error
  }
  return assert.fail("it did not reject")
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const misuseOf = (error: unknown): string => {
  assert.instanceOf(error, CodeRuntime.CodeRuntimeMisuse)
  return error.reason._tag
}

/** A program that is known to wait in the host: what it waits for, and what settles that. */
const waiting = (runtime: Seam, language = "typescript") => {
  const begun = Promise.withResolvers<void>()
  const running = runtime.run({
    program: `${language === "python" ? "print" : "console.log"}("waiting")\nawait host.wait({})`,
    bindings: [{ global: "host", functions: { wait: () => (begun.resolve(), new Promise(() => {})) } }]
  })
  return { begun: begun.promise, running }
}

const disposed: CodeRunResult = { logs: ["waiting"], error: { kind: "abort", message: "runtime disposed" } }

describe("the plugin", () => {
  it("gives ctx.codeRuntime, an instance of the harness's own class", async () => {
    const ctx = makeContext()
    await ctx.plugin(CodeRuntimePlugin)
    const runtime = runtimeOf(ctx)
    assert.isTrue(runtime instanceof Seam)
    assert.isTrue(runtime instanceof Service)
    assert.isTrue(runtime instanceof CodeRuntimePlugin)
    assert.strictEqual(runtime.language, "typescript")
    assert.strictEqual(runtime.isolation, "worker-thread")
    const functions = { add: async (args: unknown) => JSON.stringify(args) }
    const program = 'console.log("hi")\nreturn await host.add({ a: 1 })'
    assert.deepStrictEqual(await runtime.run({ program, bindings: [{ global: "host", functions }] }), {
      value: '{"a":1}',
      logs: ["hi"]
    })
  })

  it("serves a plugin that injects it, for as long as it lives", async () => {
    const ctx = makeContext()
    const value = Promise.withResolvers<unknown>()
    let ends = 0
    ctx.inject(["codeRuntime"], async (own) => {
      value.resolve((await own.codeRuntime.run(request("return 7"))).value)
      return () => void ends++
    })
    const fiber = await ctx.plugin(CodeRuntimePlugin)
    assert.strictEqual(await value.promise, 7)
    await fiber.dispose()
    assert.strictEqual(ends, 1)
  })

  it("resolves for every end of a program and rejects for misuse alone", async () => {
    const ctx = makeContext()
    await ctx.plugin(CodeRuntimePlugin)
    const runtime = runtimeOf(ctx)
    const failed = await runtime.run(request('throw new RangeError("too far")'))
    assert.deepStrictEqual(Object.keys(failed), ["logs", "error"])
    assert.strictEqual(failed.error?.kind, "exception")
    assert.match(failed.error?.message ?? "", /^RangeError: too far\n/u)
    assert.deepStrictEqual(await runtime.run(request("return")), { logs: [] })
    assert.deepStrictEqual(await runtime.run(request("return null")), { value: null, logs: [] })
    const aborted = await runtime.run({ ...request("return 1"), signal: AbortSignal.abort("not now") })
    assert.deepStrictEqual(aborted, { logs: [], error: { kind: "abort", message: "not now" } })

    const reserved = runtime.run({ program: "return 1", bindings: [{ global: "console", functions: {} }] })
    assert.strictEqual(misuseOf(await failureOf(reserved)), "InvalidBinding")
    const shapeless: Promise<unknown> = Reflect.apply(runtime.run, runtime, [{ program: 1 }])
    assert.strictEqual(misuseOf(await failureOf(shapeless)), "InvalidRequest")
  })

  it("gives a binding function a signal, which aborts when the call is no longer awaited", async () => {
    const ctx = makeContext()
    await ctx.plugin(CodeRuntimePlugin)
    const runtime = runtimeOf(ctx)
    assert.instanceOf(runtime, CodeRuntimePlugin)
    const signals: Array<AbortSignal> = []
    const result = await runtime.run({
      program: 'host.hang({})\nawait host.quick({})\nreturn "left"',
      bindings: [
        {
          global: "host",
          functions: {
            hang: (_args, { signal }) => {
              signals.push(signal)
              return new Promise(() => {})
            },
            quick: () => null
          }
        }
      ]
    })
    assert.strictEqual(result.value, "left")
    assert.deepStrictEqual(
      signals.map((signal) => signal.aborted),
      [true]
    )
  })
})

describe("settings", () => {
  const longestTimer = 2_147_483_647
  const offences: ReadonlyArray<readonly [key: string, value: unknown, told: string]> = [
    ["computeMs", 0, "computeMs is 0; it must be a finite number above 0"],
    ["computeMs", Number.POSITIVE_INFINITY, "computeMs is Infinity; it must be a finite number above 0"],
    ["computeMs", "60000", 'computeMs is "60000"; it must be a finite number above 0'],
    ["maxWallMs", -1, `maxWallMs is -1; it must be a number above 0 and at most ${longestTimer}`],
    ["maxWallMs", longestTimer + 1, `maxWallMs is 2147483648; it must be a number above 0 and at most ${longestTimer}`],
    ["maxOutputBytes", 3, "maxOutputBytes is 3; it must be a safe integer of at least 4"],
    ["maxOutputBytes", 4.5, "maxOutputBytes is 4.5; it must be a safe integer of at least 4"],
    ["maxOldGenerationSizeMb", 0, "maxOldGenerationSizeMb is 0; it must be a finite number above 0"],
    ["maxOldGenerationSizeMb", Number.NaN, "maxOldGenerationSizeMb is NaN; it must be a finite number above 0"],
    ["maxMemoryMb", -5, "maxMemoryMb is -5; it must be a finite number above 0"],
    ["maxBindingBytes", 1, "maxBindingBytes is 1; it must be a safe integer of at least 2"],
    ["maxProgramBytes", 0, "maxProgramBytes is 0; it must be a safe integer of at least 1"],
    ["maxConcurrentCalls", 0, "maxConcurrentCalls is 0; it must be a safe integer of at least 1"],
    ["maxConcurrentRuns", 0, "maxConcurrentRuns is 0; it must be a safe integer of at least 1"],
    ["standby", -1, "standby is -1; it must be a safe integer of at least 0"],
    [
      "computeMillis",
      5,
      "computeMillis is 5; it must be left out: there is no such option. The options are computeMs,"
    ],
    ["computems", 5, "computems is 5; it must be left out: there is no such option; did you mean computeMs?"],
    ["permission", true, "permission is true; it must be an object of allowRead and allowWrite (lists of paths)"],
    ["permission", { allowRaed: ["*"] }, "permission.allowRaed"]
  ]

  it.each(offences)("a bad %s (%j) fails the load", async (key, value, told) => {
    const ctx = makeContext()
    const config: object = { [key]: value }
    const error = await failureOf(ctx.plugin(CodeRuntimePlugin, config))
    assert.include(messageOf(error), told)
    assert.isUndefined(ctx.get("codeRuntime"))
    assert.strictEqual(guests.size, 0)
    assert.throws(() => new CodeRuntimePlugin(makeContext(), config), told)
  })

  it("tells every offence at once", async () => {
    const error = await failureOf(makeContext().plugin(CodeRuntimePlugin, { computeMs: -1, standby: 0.5 }))
    assert.include(messageOf(error), "computeMs is -1")
    assert.include(messageOf(error), "standby is 0.5")
  })

  it("refuses one limit under two names", async () => {
    const config = { maxMemoryMb: 64, maxOldGenerationSizeMb: 64 }
    const error = await failureOf(makeContext().plugin(CodeRuntimePlugin, config))
    assert.include(messageOf(error), "maxOldGenerationSizeMb is 64; it must be left out beside maxMemoryMb")
  })

  it("refuses settings that are no object", async () => {
    const ctx = makeContext()
    const fiber: PromiseLike<unknown> = Reflect.apply(ctx.plugin, ctx, [CodeRuntimePlugin, "fast"])
    assert.include(messageOf(await failureOf(fiber)), "the config is string; it must be an object")
    const list: PromiseLike<unknown> = Reflect.apply(ctx.plugin, ctx, [CodeRuntimePlugin, []])
    assert.include(messageOf(await failureOf(list)), "the config is an array; it must be an object")
  })

  it("tells what the options of processes must be, and takes a standby for ever", async () => {
    const told: ReadonlyArray<readonly [config: object, message: string]> = [
      [{ standbyMs: -1 }, "standbyMs is -1; it must be a number of at least 0; Infinity is for ever"],
      [{ cgroup: "no" }, 'cgroup is "no"; it must be true or false'],
      [{ permisson: false }, "did you mean permission?"]
    ]
    for (const [config, message] of told) {
      const error = await failureOf(makeContext().plugin(Cordis.NodeProcessCodeRuntime, config))
      assert.include(messageOf(error), message)
    }
    const ctx = makeContext()
    await ctx.plugin(Cordis.NodeProcessCodeRuntime, { standbyMs: Number.POSITIVE_INFINITY, standby: 0 })
    assert.strictEqual(runtimeOf(ctx).isolation, "process")
  })

  it("takes the harness's keys, ours, and null for a key that is left out", async () => {
    const seen: Array<unknown> = []
    const Recording = Cordis.make((limits) => {
      seen.push(limits)
      return WorkerThread.layer({ standby: 0 })
    })
    const empty: object = { maxOutputBytes: null }
    await makeContext().plugin(Recording, { computeMs: 1, maxWallMs: 2, maxOutputBytes: 4, maxOldGenerationSizeMb: 8 })
    await makeContext().plugin(Recording, { maxMemoryMb: 16, maxConcurrentRuns: 2 })
    await makeContext().plugin(Recording, empty)
    assert.deepStrictEqual(seen, [
      { computeMs: 1, maxWallMs: 2, maxOutputBytes: 4, maxMemoryMb: 8 },
      { maxMemoryMb: 16, maxConcurrentRuns: 2 },
      {}
    ])
  })

  it("hold for the runs", async () => {
    const ctx = makeContext()
    await ctx.plugin(CodeRuntimePlugin, { computeMs: 50, maxOutputBytes: 40, permission: {} })
    const runtime = runtimeOf(ctx)
    assert.strictEqual((await runtime.run(request("for (;;) {}"))).error?.kind, "timeout")
    assert.strictEqual((await runtime.run(request('return "x".repeat(100)'))).error?.kind, "output-limit")
    const reads = await runtime.run(request('return (await import("node:fs")).readFileSync("/etc/hostname", "utf8")'))
    assert.isDefined(reads.error)
  })
})

describe("a plugin over any layer", () => {
  const programs = {
    typescript: 'console.log("hi"); return await host.twice(21)',
    python: 'print("hi")\nreturn await host.twice(21)'
  }
  const readyMade = [
    ["worker-thread", Cordis.WorkerThreadCodeRuntime, "typescript", "worker-thread"],
    ["node-process", Cordis.NodeProcessCodeRuntime, "typescript", "process"],
    ["python-process", Cordis.PythonProcessCodeRuntime, "python", "process"]
  ] as const

  it.each(readyMade)("is there for %s", async (path, Plugin, language, isolation) => {
    const module: { readonly default: unknown } = await import(`effect-code-runtime/cordis/${path}`)
    assert.strictEqual(module.default, Plugin)
    const ctx = makeContext()
    const fiber = await ctx.plugin(Plugin, { maxOldGenerationSizeMb: 128, computeMs: 20_000 })
    const runtime = runtimeOf(ctx)
    assert.instanceOf(runtime, Plugin)
    assert.deepStrictEqual([runtime.language, runtime.isolation], [language, isolation])
    const functions = { twice: async (n: unknown) => Number(n) * 2 }
    const result = await runtime.run({ program: programs[language], bindings: [{ global: "host", functions }] })
    assert.deepStrictEqual(result, { value: 42, logs: ["hi"] })
    const { begun, running } = waiting(runtime, language)
    await begun
    await fiber.dispose()
    assert.deepStrictEqual(await running, disposed)
  })

  it("takes a layer that has its limits, and no settings", async () => {
    const Fixed = Cordis.make(WorkerThread.layer({ maxOutputBytes: 20 }))
    const ctx = makeContext()
    await ctx.plugin(Fixed)
    assert.strictEqual((await runtimeOf(ctx).run(request('return "x".repeat(30)'))).error?.kind, "output-limit")
    const other = makeContext()
    const error = await failureOf(Reflect.apply(other.plugin, other, [Fixed, { computeMs: 5 }]))
    assert.include(
      messageOf(error),
      "computeMs is 5; it must be left out: there is no such option. There are no options"
    )
  })

  it("takes settings of its own beside the limits", async () => {
    const Greeting = Cordis.makeWith(
      Schema.Struct({ ...Cordis.limits.fields, greeting: Schema.optional(Schema.String) }),
      ({ greeting = "hi", ...limits }) =>
        Layer.effect(
          CodeRuntime.CodeRuntime,
          Effect.map(CodeRuntime.CodeRuntime, (runtime) =>
            CodeRuntime.CodeRuntime.of({ ...runtime, language: greeting })
          )
        ).pipe(Layer.provide(WorkerThread.layer(limits)))
    )
    const ctx = makeContext()
    await ctx.plugin(Greeting, { greeting: "salut", maxOldGenerationSizeMb: 64 })
    assert.strictEqual(runtimeOf(ctx).language, "salut")
    assert.strictEqual((await runtimeOf(ctx).run(request("return 1"))).value, 1)
    const config: object = { greeting: 5 }
    assert.include(messageOf(await failureOf(makeContext().plugin(Greeting, config))), "greeting: ")
  })

  it("fails its load with the layer's own error, and leaves nothing", async () => {
    class NoInterpreter extends Schema.TaggedError<NoInterpreter>()("NoInterpreter", { message: Schema.String }) {}
    const Broken = Cordis.make(
      Layer.effect(CodeRuntime.CodeRuntime, Effect.fail(new NoInterpreter({ message: "no interpreter here" })))
    )
    const ctx = makeContext()
    const fiber = ctx.plugin(Broken)
    assert.instanceOf(await failureOf(fiber), NoInterpreter)
    assert.isUndefined(ctx.get("codeRuntime"))
    await fiber.dispose()
    await ctx.plugin(CodeRuntimePlugin)
    assert.strictEqual((await runtimeOf(ctx).run(request("return 1"))).value, 1)
  })
})

describe("disposal", () => {
  it("ends the runs in flight, awaits their guests, removes the service; later runs reject", async () => {
    const ctx = makeContext()
    const fiber = await ctx.plugin(CodeRuntimePlugin, { standby: 2 })
    const runtime = runtimeOf(ctx)
    const first = waiting(runtime)
    const second = waiting(runtime)
    await Promise.all([first.begun, second.begun])
    assert.isAtLeast(guests.size, 2)
    await fiber.dispose()
    assert.strictEqual(guests.size, 0)
    assert.deepStrictEqual(await Promise.all([first.running, second.running]), [disposed, disposed])
    assert.isUndefined(ctx.get("codeRuntime"))
    assert.isUndefined(ctx.codeRuntime)
    const late = await failureOf(runtime.run(request("return 1")))
    assert.strictEqual(misuseOf(late), "RuntimeDisposed")
    assert.strictEqual(guests.size, 0)
  })

  it("ends a program that never yields", async () => {
    const ctx = makeContext()
    const fiber = await ctx.plugin(CodeRuntimePlugin)
    const begun = Promise.withResolvers<void>()
    const running = runtimeOf(ctx).run({
      program: "await host.begin({})\nfor (;;) {}",
      bindings: [{ global: "host", functions: { begin: async () => (begun.resolve(), null) } }]
    })
    await begun.promise
    await fiber.dispose()
    assert.deepStrictEqual(await running, { logs: [], error: { kind: "abort", message: "runtime disposed" } })
  })

  it("follows the fiber that loaded the plugin", async () => {
    const ctx = makeContext()
    let runtime: Seam | undefined
    const parent = await ctx.plugin({
      name: "parent",
      apply: async (own: Context) => {
        await own.plugin(CodeRuntimePlugin)
        runtime = own.get("codeRuntime")
      }
    })
    assert.isDefined(runtime)
    const { begun, running } = waiting(runtime)
    await begun
    await parent.dispose()
    assert.strictEqual(guests.size, 0)
    assert.deepStrictEqual(await running, disposed)
    assert.strictEqual(misuseOf(await failureOf(runtime.run(request("return 1")))), "RuntimeDisposed")
  })

  it("twice is once", async () => {
    const ctx = makeContext()
    const fiber = await ctx.plugin(CodeRuntimePlugin)
    const { begun, running } = waiting(runtimeOf(ctx))
    await begun
    await Promise.all([fiber.dispose(), fiber.dispose()])
    await fiber.dispose()
    assert.deepStrictEqual(await running, disposed)
    assert.strictEqual(guests.size, 0)
  })

  it("while standbys boot leaves none of them", async () => {
    const ctx = makeContext()
    const fiber = await ctx.plugin(CodeRuntimePlugin, { standby: 3 })
    await fiber.dispose()
    assert.strictEqual(guests.size, 0)
  })

  it("while the plugin is being loaded leaves nothing, and the load ends", async () => {
    const ctx = makeContext()
    const fiber = ctx.plugin(CodeRuntimePlugin, { standby: 3 })
    await fiber.dispose()
    await fiber
    assert.strictEqual(guests.size, 0)
    assert.isUndefined(ctx.get("codeRuntime"))
  })

  it("while the layer is being built waits for it, and closes it", async () => {
    const building = Promise.withResolvers<void>()
    const open = Promise.withResolvers<void>()
    const order: Array<string> = []
    const Slow = Cordis.make(
      Layer.provideMerge(
        WorkerThread.layer(),
        Layer.effectDiscard(
          Effect.acquireRelease(
            Effect.promise(() => {
              building.resolve()
              return open.promise
            }),
            () => Effect.sync(() => order.push("closed"))
          )
        )
      )
    )
    const ctx = makeContext()
    const fiber = ctx.plugin(Slow)
    await building.promise
    assert.isUndefined(ctx.get("codeRuntime"))
    assert.throws(() => ctx.codeRuntime.language, "still being loaded")
    const disposal = fiber.dispose()
    open.resolve()
    await disposal
    assert.deepStrictEqual(order, ["closed"])
    assert.strictEqual(guests.size, 0)
  })

  it("aborts a run that was started just before it", async () => {
    const ctx = makeContext()
    const fiber = await ctx.plugin(CodeRuntimePlugin)
    const runtime = runtimeOf(ctx)
    const running = runtime.run(request("return 1"))
    const disposal = fiber.dispose()
    assert.deepStrictEqual(await running, { logs: [], error: { kind: "abort", message: "runtime disposed" } })
    await disposal
    assert.strictEqual(guests.size, 0)
  })

  it("refuses a run that was started just after it, in the same tick", async () => {
    const ctx = makeContext()
    const fiber = await ctx.plugin(CodeRuntimePlugin)
    const runtime = runtimeOf(ctx)
    const disposal = fiber.dispose()
    const running = runtime.run(request("return 1"))
    assert.strictEqual(misuseOf(await failureOf(running)), "RuntimeDisposed")
    await disposal
    assert.strictEqual(guests.size, 0)
  })
})

describe("loading", () => {
  it("twice in one scope fails the second and leaves the first alone", async () => {
    const ctx = makeContext()
    await ctx.plugin(CodeRuntimePlugin)
    const second = ctx.plugin(CodeRuntimePlugin, { computeMs: 5 })
    assert.include(messageOf(await failureOf(second)), 'service "codeRuntime" has been registered')
    await second.dispose()
    assert.strictEqual((await runtimeOf(ctx).run(request("return 1"))).value, 1)
  })

  it("in scopes of their own gives two runtimes that end apart", async () => {
    const ctx = makeContext()
    const apart = ctx.isolate("codeRuntime")
    const first = await ctx.plugin(CodeRuntimePlugin)
    await apart.plugin(CodeRuntimePlugin, { maxOutputBytes: 20 })
    const program = 'return "x".repeat(30)'
    assert.strictEqual((await runtimeOf(ctx).run(request(program))).value, "x".repeat(30))
    assert.strictEqual((await runtimeOf(apart).run(request(program))).error?.kind, "output-limit")
    await first.dispose()
    assert.strictEqual((await runtimeOf(apart).run(request("return 1"))).value, 1)
  })

  it("again after disposal works", async () => {
    const ctx = makeContext()
    const first = await ctx.plugin(CodeRuntimePlugin)
    await first.dispose()
    await ctx.plugin(CodeRuntimePlugin)
    assert.strictEqual((await runtimeOf(ctx).run(request("return 1"))).value, 1)
  })

  it("with new settings ends the old runs and takes the new; bad ones change nothing", async () => {
    const ctx = makeContext()
    const fiber = await ctx.plugin(CodeRuntimePlugin)
    const old = runtimeOf(ctx)
    assert.throws(() => fiber.update({ maxOutputBytes: 3 }), "maxOutputBytes is 3")
    const { begun, running } = waiting(old)
    await begun
    fiber.update({ maxOutputBytes: 20 })
    assert.deepStrictEqual(await running, disposed)
    await fiber.await()
    assert.strictEqual((await runtimeOf(ctx).run(request('return "x".repeat(30)'))).error?.kind, "output-limit")
    assert.strictEqual(misuseOf(await failureOf(old.run(request("return 1")))), "RuntimeDisposed")
  })
})
