import { assert, describe, it } from "@effect/vitest"
import { Data, Deferred, Effect, Exit, Fiber, Layer, Stream } from "effect"
import {
  CodeRuntime,
  GuestLauncher,
  NodeProcess,
  ProgramCompiler,
  PromiseAdapter,
  PythonProcess,
  RuntimeLayer,
  WorkerThread
} from "effect-code-runtime"
import { readdirSync, readFileSync } from "node:fs"
import { Worker } from "node:worker_threads"

/** A thread that fails as it boots, says so, and then answers nothing. */
class BrokenGuest implements GuestLauncher.Guest {
  static booted = 0
  static spoken = Promise.resolve()
  readonly #worker = new Worker(
    `const { parentPort } = require("node:worker_threads")
parentPort.postMessage('{"type":"threw","message":"Error: broken at boot","frames":[],"unsent":[]}\\n')
parentPort.on("message", () => {})`,
    { eval: true }
  )
  #listener: GuestLauncher.GuestListener | undefined
  #early = ""
  readonly end = Effect.promise(() => this.#worker.terminate())

  constructor() {
    BrokenGuest.booted++
    BrokenGuest.spoken = new Promise((resolve) =>
      this.#worker.once("message", (text: string) => {
        if (this.#listener === undefined) this.#early = text
        else this.#listener.onText(text)
        resolve()
      })
    )
  }

  listen(listener: GuestLauncher.GuestListener): void {
    this.#listener = listener
    if (this.#early !== "") listener.onText(this.#early)
    this.#early = ""
  }

  send(text: string): void {
    this.#worker.postMessage(text)
  }

  busyMs(): number {
    return 0
  }

  peakMemoryMb(): undefined {
    return undefined
  }
}

/** Processes that live and have a parent. */
const childrenOf = (parent: number): ReadonlyArray<string> =>
  readdirSync("/proc").filter((name) => {
    try {
      const [state, ppid] = readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
      return Number(ppid) === parent && state !== "Z"
    } catch {
      return false
    }
  })

class NoMessage extends Data.TaggedError("NoMessage")<{ readonly id: number }> {}

const trap = () => {
  throw new Error("trapped")
}
const trapping = () => Effect.succeed(new Proxy({}, { ownKeys: trap }))

/** What a caller without types may bind. */
const untyped = (functions: { readonly [name: string]: unknown }): CodeRuntime.CodeRunRequest["bindings"] =>
  JSON.parse('[{"global":"tools"}]').map((namespace: object) => ({ ...namespace, functions }))

const said = (bindings: CodeRuntime.CodeRunRequest["bindings"]) =>
  Effect.gen(function* () {
    const runtime = yield* CodeRuntime.CodeRuntime
    const program = "try { await tools.go() } catch (error) { return error.message }"
    return (yield* runtime.run({ program, ...(bindings === undefined ? {} : { bindings }) })).value
  }).pipe(Effect.provide(WorkerThread.layer({ standby: 0 })))

/** Runs a program whose host function aborts the run and then waits; whether it was ended before the run was over. */
const endsItself = (use: (request: CodeRuntime.CodeRunRequest) => Effect.Effect<unknown, unknown>) => {
  const controller = new AbortController()
  let finalized = false
  const stop = () =>
    Effect.suspend(() => {
      controller.abort("enough")
      return Effect.never
    }).pipe(Effect.ensuring(Effect.sync(() => void (finalized = true))))
  const bindings = [{ global: "tools", functions: { stop } }]
  return Effect.map(
    Effect.exit(use({ program: "await tools.stop()", bindings, signal: controller.signal })),
    () => finalized
  )
}

describe("incidents", () => {
  for (const [what, go] of [
    ["a value", () => 5],
    ["nothing", () => undefined],
    ["a Promise", async () => 5],
    ["a generator", function* () {}]
  ] as const) {
    it.live(`a binding that returned ${what} in place of an Effect hung its run until maxWallMs`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* said(untyped({ go })), "internal error")
      })
    )
  }

  it.live("a result whose judgement threw left its call open until maxWallMs", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* said(untyped({ go: trapping })), "internal error")
    })
  )

  it.live("a tagged error without a message reached the program as an empty text", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* said(untyped({ go: () => Effect.fail(new NoMessage({ id: 1 })) })), "NoMessage")
      assert.strictEqual(yield* said(untyped({ go: () => Effect.fail({ reason: "x" }) })), "the call failed")
    })
  )

  it.live("a host function that ended its own run as it began was left running after it", () =>
    Effect.gen(function* () {
      const runtime = yield* CodeRuntime.CodeRuntime
      assert.isTrue(yield* endsItself((request) => runtime.run(request)))
      assert.isTrue(yield* endsItself((request) => Stream.runDrain(runtime.stream(request))))
    }).pipe(Effect.provide(WorkerThread.layer({ standby: 0 })))
  )

  it("an abort by an object read [object Object]", async () => {
    await using runtime = await PromiseAdapter.make(WorkerThread.layer({ standby: 0 }))
    const result = await runtime.run({ program: "return 1", signal: AbortSignal.abort({ why: 1 }) })
    assert.deepStrictEqual(result.error, { kind: "abort", message: "the run was aborted" })
  })

  it("prose around a fence was a syntax error without a word of the fence", async () => {
    await using runtime = await PromiseAdapter.make(WorkerThread.layer({ standby: 0 }))
    const { error } = await runtime.run({ program: "Here it is:\n```ts\nreturn 1\n```" })
    assert.match(error?.message ?? "", /^SyntaxError: .*\nA Markdown fence is taken off only when the whole text/u)
  })

  describe("on every substrate of JavaScript", () => {
    const layers = { "a worker thread": WorkerThread.layer, "a process": NodeProcess.layer }
    const programs = [
      [
        "a timer that was let go of was taken for nothing left",
        "return await new Promise((r) => AbortSignal.timeout(20).addEventListener('abort', () => r('fired')))",
        { value: "fired", logs: [] }
      ],
      [
        "an unreferenced timer was taken for nothing left",
        "return await new Promise((r) => setTimeout(() => r('fired'), 20).unref())",
        { value: "fired", logs: [] }
      ],
      [
        "a wait for a shared cell was taken for nothing left",
        "return await Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20).value",
        { value: "timed-out", logs: [] }
      ],
      [
        "a main that was called without await failed in silence",
        "async function main() { throw new Error('lost') }\nmain()",
        /^Error: lost\n/u
      ],
      [
        "a rejection that stood when the program returned was lost",
        "Promise.reject(new Error('floating')); return 1",
        /^Error: floating/u
      ],
      [
        "the two errors of a SuppressedError were told by neither",
        "throw new SuppressedError(new Error('disposing'), new Error('body'), 'suppressed')",
        /^SuppressedError: suppressed\n- Error: disposing\n- Error: body\n/u
      ],
      [
        "require was lost by its first use once the global object was closed",
        "Object.preventExtensions(globalThis); return [typeof require('fs').readFileSync, typeof require('path').join, typeof require]",
        { value: ["function", "function", "function"], logs: [] }
      ],
      [
        "require was lost by its first use where objects inherit a getter called get",
        `Object.prototype.get = () => 42
try { require } catch {}
delete Object.prototype.get
return typeof require('path').join`,
        { value: "function", logs: [] }
      ],
      [
        "an object that inherits from the global one could not have a require of its own",
        `const own = Object.create(globalThis)
own.require = 3
const first = [own.require, typeof require]
require = 4
return [...first, require]`,
        { value: [3, "function", 4], logs: [] }
      ]
    ] as const
    for (const [substrate, layer] of Object.entries(layers)) {
      for (const [incident, program, expected] of programs) {
        it(`${incident}, in ${substrate}`, async () => {
          await using runtime = await PromiseAdapter.make(layer({ standby: 0 }))
          const result = await runtime.run({ program })
          if (expected instanceof RegExp) assert.match(result.error?.message ?? JSON.stringify(result), expected)
          else assert.deepStrictEqual(result, expected)
        })
      }
    }
  })

  it.live("a call of Python that had begun was never sent when the program did not yield again", () =>
    Effect.gen(function* () {
      const called = yield* Deferred.make<void>()
      const runtime = yield* CodeRuntime.CodeRuntime
      const running = yield* Effect.forkChild(
        runtime.run({
          program:
            "import asyncio\ntask = asyncio.create_task(tools.go())\nawait asyncio.sleep(0)\nwhile True:\n    pass",
          bindings: [
            {
              global: "tools",
              functions: { go: () => Effect.andThen(Deferred.succeed(called, undefined), Effect.never) }
            }
          ]
        })
      )
      yield* Deferred.await(called)
      yield* Fiber.interrupt(running)
    }).pipe(Effect.provide(PythonProcess.layer({ standby: 0 })))
  )

  it("a standby that had failed before its program hung the run that got it", async () => {
    const launcher: GuestLauncher.GuestLauncher["Service"] = {
      language: "typescript",
      isolation: "broken-thread",
      launch: Effect.acquireRelease(
        Effect.sync(() => new BrokenGuest()),
        (guest) => guest.end
      )
    }
    const booted = BrokenGuest.booted
    await using runtime = await PromiseAdapter.make(
      RuntimeLayer.make({ standby: 1 }, () => launcher, ProgramCompiler.layerIdentity)
    )
    for (let run = 0; run < 3; run++) {
      // The standby has spoken, if it was there.
      await BrokenGuest.spoken
      const { error } = await runtime.run({ program: "return 1" })
      assert.strictEqual(error?.kind, "exception")
      assert.include(error?.message ?? "", "broken at boot")
    }
    // One standby at the start, and a run's own guest and a standby with each run: none boots again and again.
    assert.isAtMost(BrokenGuest.booted - booted, 7)
  })

  it.live("a guest that could not be started was told only when its program was compiled", () =>
    Effect.gen(function* () {
      const endless = Layer.succeed(
        ProgramCompiler.ProgramCompiler,
        ProgramCompiler.ProgramCompiler.of({ compile: () => Effect.never })
      )
      for (const [launch, told] of [
        [Effect.fail(new GuestLauncher.LaunchFailure({ message: "no threads left" })), "no threads left"],
        [Effect.die("broken launcher"), "broken launcher"]
      ] as const) {
        const launcher = { language: "typescript", isolation: "worker-thread", launch }
        const exit = yield* CodeRuntime.CodeRuntime.use((runtime) => runtime.run({ program: "return 1" })).pipe(
          Effect.provide(RuntimeLayer.make({ standby: 0 }, () => launcher, endless)),
          Effect.exit
        )
        assert.isTrue(Exit.isFailure(exit))
        assert.include(String(exit), told)
      }
    })
  )

  it("a standby that its run ended before it had spoken was taken for a dead one, and another was booted", async () => {
    const controller = new AbortController()
    let launched = 0
    let killed = 0
    const makeGuest = (): GuestLauncher.Guest => {
      let listener: GuestLauncher.GuestListener | undefined
      return {
        listen: (given) => void (listener = given),
        send: () => controller.abort("enough"),
        kill: () => {
          killed++
          listener?.onExit({ signal: "SIGKILL", outOfMemory: false })
        },
        busyMs: () => 0,
        peakMemoryMb: () => undefined
      }
    }
    const launcher: GuestLauncher.GuestLauncher["Service"] = {
      language: "typescript",
      isolation: "silent",
      launch: Effect.sync(() => {
        launched++
        return makeGuest()
      })
    }
    const runtime = await PromiseAdapter.make(
      RuntimeLayer.make({ standby: 1 }, () => launcher, ProgramCompiler.layerIdentity)
    )
    await new Promise(setImmediate)
    const { error } = await runtime.run({ program: "return 1", signal: controller.signal })
    assert.deepStrictEqual(error, { kind: "abort", message: "enough" })
    await runtime.dispose()
    assert.strictEqual(killed, 1)
    assert.strictEqual(launched, 1)
  })

  it("a child that a thread started amid a flood outlived its run", async () => {
    const runtime = await PromiseAdapter.make(WorkerThread.layer({ maxOutputBytes: 10_000_000 }))
    const before = childrenOf(process.pid)
    const program = `const { spawn } = require("node:child_process")
for (let i = 0; ; i++) { console.log("flood", i); if (i % 200 === 0 && i < 1000) spawn("sleep", ["67"]) }`
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () => runtime.run({ program, signal: AbortSignal.timeout(400) }))
    )
    for (const { error } of outcomes) assert.strictEqual(error?.kind, "abort")
    await runtime.dispose()
    assert.deepStrictEqual(
      childrenOf(process.pid).filter((pid) => !before.includes(pid)),
      []
    )
  })

  it.live("a defect of a backend's compiler hung the run for ever", () =>
    Effect.gen(function* () {
      const dying = Layer.succeed(
        ProgramCompiler.ProgramCompiler,
        ProgramCompiler.ProgramCompiler.of({ compile: () => Effect.die("broken compiler") })
      )
      const launcher: GuestLauncher.GuestLauncher["Service"] = {
        language: "typescript",
        isolation: "worker-thread",
        launch: Effect.never
      }
      const exit = yield* CodeRuntime.CodeRuntime.use((runtime) => runtime.run({ program: "return 1" })).pipe(
        Effect.provide(RuntimeLayer.make({ standby: 0 }, () => launcher, dying)),
        Effect.exit
      )
      assert.isTrue(Exit.isFailure(exit))
      assert.include(String(exit), "broken compiler")
    })
  )
})
