/** The compiler as a service: real threads, hostile texts (P7), the cache. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import * as CompilerThreads from "../../src/backends/typescript-compiler/CompilerThreads.ts"
import * as TypeScriptCompiler from "../../src/backends/typescript-compiler/TypeScriptCompiler.ts"
import { ProgramCompiler, type ProgramRejected } from "../../src/services/ProgramCompiler.ts"
import { call } from "./evaluate.ts"

const compile = (program: string) => ProgramCompiler.use((_) => _.compile(program))

const valueOf = Effect.fnUntraced(function* (program: string) {
  const { code, columnOffset } = yield* compile(program)
  return yield* Effect.promise(() => call(code, columnOffset))
})

const rejectionOf = (program: string): Effect.Effect<ProgramRejected, unknown, ProgramCompiler> =>
  Effect.flip(compile(program))

/** Takes the compiler longer than anybody waits: TypeScript tries each arrow function in two ways. */
const endless = (name: string): string => `async(${name}=`.repeat(60) + "1" + ")".repeat(60)

const entry = new URL("../../src/backends/typescript-compiler/compiler-thread.ts", import.meta.url)

const options: CompilerThreads.Options = {
  entry,
  timeLimitMs: 10_000,
  patienceMs: 50,
  idleMs: 100,
  maxThreads: 2,
  maxMemoryMb: 512,
  stackSizeMb: 64
}

const threadsOf = (given: Partial<CompilerThreads.Options>) =>
  Effect.acquireRelease(
    Effect.sync(() => CompilerThreads.make({ ...options, ...given })),
    (threads) => Effect.promise(() => threads.close())
  )

const outcomeOf = (threads: CompilerThreads.CompilerThreads, program: string): Effect.Effect<CompilerThreads.Outcome> =>
  Effect.callback((resume) => {
    const abandon = threads.compile(program, (outcome) => resume(Effect.succeed(outcome)))
    return Effect.sync(abandon)
  })

layer(TypeScriptCompiler.layer, { excludeTestServices: true })("the compiler service", (live) => {
  live.effect("compiles, and says where places are", () =>
    Effect.gen(function* () {
      const compiled = yield* compile("enum E { A }\nconst a: number = 1\nreturn a + E.A")
      assert.strictEqual(yield* Effect.promise(() => call(compiled.code, compiled.columnOffset)), 1)
      const blanked = yield* compile("const a: number = 1\nreturn a")
      assert.deepStrictEqual(blanked.locate(2, 8), { line: 2, column: 8 })
      assert.isUndefined(blanked.locate(1, 0))
      assert.isUndefined(blanked.locate(3, 1))
      assert.isUndefined(blanked.locate(0, 1))
    })
  )

  live.effect("rejects with a place", () =>
    Effect.gen(function* () {
      const error = yield* rejectionOf("const a = 1;\nconst b = ;")
      assert.deepStrictEqual([error.message, error.line, error.column], ["SyntaxError: Expression expected", 2, 11])
    })
  )

  live.effect("answers the same program from its cache, rejections too", () =>
    Effect.gen(function* () {
      const [first, second] = yield* Effect.all([compile("return 'cached'"), compile("return 'cached'")], {
        concurrency: 2
      })
      assert.strictEqual(first, second)
      assert.strictEqual(yield* compile("return 'cached'"), first)
      assert.strictEqual(yield* rejectionOf("return ("), yield* rejectionOf("return ("))
    })
  )

  live.effect("strings pass unharmed, lone surrogates too", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* valueOf("return '\ud800\u2028\0'"), "\ud800\u2028\0")
    })
  )

  const deep: ReadonlyArray<readonly [name: string, program: string]> = [
    ["parentheses", "(".repeat(1_000_000)],
    ["templates", "`${".repeat(300_000)],
    ["arrows", "a=>".repeat(300_000)],
    ["parameters", "(a,".repeat(300_000)],
    ["types", `type A=${"(".repeat(500_000)}`],
    ["sums", `return 1${"+1".repeat(400_000)}`],
    ["assertions", `enum E{A};a${" as b".repeat(200_000)}`]
  ]
  const mild = "const f = (a: number) => (b: number) => a + b\nenum E { A = 1 }\nreturn f(E.A)(2)"
  for (const [name, program] of deep) {
    live.effect(
      `nesting without end: ${name}`,
      () =>
        Effect.gen(function* () {
          const { message } = yield* rejectionOf(program)
          assert.match(message, /^SyntaxError: /u)
          assert.isBelow(message.length, 200)
          assert.strictEqual(yield* valueOf(mild), 3)
          assert.strictEqual(yield* valueOf(`// after ${name}\n${mild}`), 3)
        }),
      20_000
    )
  }

  live.effect(
    "long texts that are legal",
    () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* valueOf(`${";".repeat(500_000)}return 1`), 1)
        assert.strictEqual(yield* valueOf(`return 1${"+1".repeat(5_000)}`), 5_001)
        assert.deepStrictEqual(
          yield* valueOf(`enum E{A}\nreturn ${"[".repeat(200)}1${"]".repeat(200)}.flat(Infinity)`),
          [1]
        )
        assert.strictEqual(yield* valueOf(`// ${"x".repeat(1_000_000)}\nreturn 1`), 1)
        assert.strictEqual(yield* valueOf(`${"\n".repeat(1_000_000)}return 1`), 1)
      }),
    30_000
  )

  live.effect("a text that leaves memos of itself in the parser does not change how the next one is read", () =>
    Effect.gen(function* () {
      // Each `(` is tried as the start of an arrow function; that it is none is remembered by its offset.
      const { message } = yield* rejectionOf("(a,".repeat(200_000))
      assert.match(message, /nested too deeply/u)
      assert.strictEqual(yield* valueOf("(a, b) => 7"), 7)
      assert.strictEqual(yield* valueOf("/**/  (a, b) => 8"), 8)
    })
  )
})

describe("threads", () => {
  it.live(
    "others do not wait for a slow program; the further thread ends when it has no work",
    () =>
      Effect.gen(function* () {
        const threads = yield* threadsOf({ timeLimitMs: 600_000 })
        yield* outcomeOf(threads, "return 0")
        const slow = yield* Effect.forkChild(outcomeOf(threads, endless("a")), { startImmediately: true })
        assert.strictEqual((yield* outcomeOf(threads, "return 1"))._tag, "Compiled")
        assert.isUndefined(slow.pollUnsafe())
        assert.strictEqual(threads.size(), 2)
        yield* Fiber.interrupt(slow)
        yield* Effect.repeat(Effect.sleep(20), { until: () => threads.size() === 1 })
      }),
    20_000
  )

  it.live(
    "a program that takes too long is rejected",
    () =>
      Effect.gen(function* () {
        const threads = yield* threadsOf({ timeLimitMs: 1_000 })
        assert.deepStrictEqual(yield* outcomeOf(threads, endless("a")), {
          _tag: "Rejected",
          rejected: { rejected: "SyntaxError: the program takes too long to compile (more than 1000 ms)" },
          cacheable: false
        })
        assert.strictEqual((yield* outcomeOf(threads, "return 2"))._tag, "Compiled")
      }),
    20_000
  )

  it.live(
    "when all threads are slow, others are served once the limit ends them",
    () =>
      Effect.gen(function* () {
        const threads = yield* threadsOf({ timeLimitMs: 700 })
        const programs = [endless("a"), endless("b"), endless("c"), "return 1"]
        const outcomes = yield* Effect.forEach(programs, (program) => outcomeOf(threads, program), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          outcomes.map(({ _tag }) => _tag),
          ["Rejected", "Rejected", "Rejected", "Compiled"]
        )
        assert.isAtMost(threads.size(), 2)
      }),
    20_000
  )

  // At the limit of a thread's heap V8 ended the whole process, one time in some twenty.
  const tooMuch = "SyntaxError: the program takes too much memory to compile (more than 64 MB)"
  const greedy: ReadonlyArray<readonly [name: string, program: string, rejected: string | undefined]> = [
    ["nodes", "enum E{A}\n" + "a;".repeat(120_000), tooMuch],
    ["nodes that are made while it is printed", "@a class b{};".repeat(20_000), tooMuch],
    ["nodes without end", "async(a=".repeat(60) + "1" + ")".repeat(60), undefined],
    ["symbols", `enum E{A}\n${"namespace a{export let b=1};".repeat(9_000)}`, tooMuch],
    ["complaints", ")".repeat(250_000), "SyntaxError: Declaration or statement expected"],
    ["lines", `enum E{A}/*${"\n".repeat(250_000)}*/`, undefined]
  ]
  for (const [name, program, rejected] of greedy) {
    it.live(
      `a program that takes a lot of memory ends neither the process nor another program: ${name}`,
      () =>
        Effect.gen(function* () {
          const threads = yield* threadsOf({ maxMemoryMb: 64, timeLimitMs: 5_000 })
          const [big, small] = yield* Effect.all([outcomeOf(threads, program), outcomeOf(threads, "return 1")], {
            concurrency: 2
          })
          assert.strictEqual(small?._tag, "Compiled")
          // What V8 itself ended at its limit would not be cacheable: nothing may get that far.
          if (rejected !== undefined) {
            assert.deepInclude(big, { _tag: "Rejected", cacheable: true })
            assert.strictEqual(big?._tag === "Rejected" ? big.rejected.rejected : "", rejected)
          }
          assert.strictEqual((yield* outcomeOf(threads, "return 2"))._tag, "Compiled")
        }),
      20_000
    )
  }

  it.live("a text that is too long for the memory there is, is rejected before it is read", () =>
    Effect.gen(function* () {
      const threads = yield* threadsOf({ maxMemoryMb: 64 })
      const outcome = yield* outcomeOf(threads, `const a: number = 1${" ".repeat(262_144)}`)
      assert.deepStrictEqual(outcome, {
        _tag: "Rejected",
        rejected: { rejected: "SyntaxError: the program is too long to compile (more than 262144 characters)" },
        cacheable: true
      })
    })
  )

  it.live(
    "what a big program leaves behind counts against no other",
    () =>
      Effect.gen(function* () {
        const threads = yield* threadsOf({ maxMemoryMb: 128, maxThreads: 1 })
        for (let round = 0; round < 6; round += 1) {
          const { _tag } = yield* outcomeOf(threads, `enum E{A}\n${"1;".repeat(70_000)}return ${round}`)
          assert.strictEqual(_tag, "Compiled")
        }
      }),
    60_000
  )

  it.live(
    "what is abandoned frees its thread",
    () =>
      Effect.gen(function* () {
        const threads = yield* threadsOf({ maxThreads: 1 })
        yield* outcomeOf(threads, "return 0")
        const slow = yield* Effect.forkChild(outcomeOf(threads, endless("a")), { startImmediately: true })
        const next = yield* Effect.forkChild(outcomeOf(threads, "return 1"), { startImmediately: true })
        const never = yield* Effect.forkChild(outcomeOf(threads, "return 2"), { startImmediately: true })
        yield* Fiber.interrupt(never)
        yield* Fiber.interrupt(slow)
        assert.strictEqual((yield* Fiber.join(next))._tag, "Compiled")
      }),
    20_000
  )

  it.live("a thread that cannot start is a failure, and is tried again", () =>
    Effect.gen(function* () {
      const threads = yield* threadsOf({ entry: new URL("./not-there.ts", import.meta.url) })
      assert.strictEqual((yield* outcomeOf(threads, "return 1"))._tag, "Failure")
      assert.strictEqual((yield* outcomeOf(threads, "return 1"))._tag, "Failure")
    })
  )

  it.live("closing ends what is open, and what comes later", () =>
    Effect.gen(function* () {
      const threads = CompilerThreads.make(options)
      yield* outcomeOf(threads, "return 0")
      const slow = yield* Effect.forkChild(outcomeOf(threads, endless("a")), { startImmediately: true })
      yield* Effect.promise(() => threads.close())
      assert.strictEqual((yield* Fiber.join(slow))._tag, "Closed")
      assert.strictEqual((yield* outcomeOf(threads, "return 1"))._tag, "Closed")
      assert.strictEqual(threads.size(), 0)
    })
  )
})

describe("the layer", () => {
  it.live("closing its scope interrupts compilations that are open", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<ProgramCompiler["Service"]>()
      const owner = yield* Effect.forkChild(
        Effect.scoped(
          Effect.gen(function* () {
            const context = yield* Layer.build(TypeScriptCompiler.layer)
            yield* Deferred.succeed(started, yield* Effect.provide(ProgramCompiler, context))
            return yield* Effect.never
          })
        )
      )
      const compiler = yield* Deferred.await(started)
      const open = yield* Effect.forkChild(Effect.exit(compiler.compile(endless("a"))), { startImmediately: true })
      yield* Fiber.interrupt(owner)
      const exit = yield* Fiber.join(open)
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
    })
  )

  it.live("interrupting one of two that wait leaves the other", () =>
    Effect.gen(function* () {
      const program = `${";".repeat(200_000)}return 1`
      const first = yield* Effect.forkChild(compile(program), { startImmediately: true })
      const second = yield* Effect.forkChild(compile(program), { startImmediately: true })
      yield* Fiber.interrupt(first)
      assert.include((yield* Fiber.join(second)).code, "return 1")
    }).pipe(Effect.provide(TypeScriptCompiler.layer))
  )
})
