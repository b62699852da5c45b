/** B: budgets, and how runs end. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { getEventListeners } from "node:events"
import { existsSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { CodeRuntime } from "../../services/CodeRuntime.ts"
import { atPy, atTs, type Bench, code, ensure, equal, hostTrace, type Rule, Unmet } from "../Case.ts"
import { appears, commands, mark, snapshot, steady, sweep, withCommand } from "../Processes.ts"

const disposedWith = <A, E>(
  t: Bench,
  use: (runtime: CodeRuntime["Service"]) => Effect.Effect<A, E>
): Effect.Effect<A, unknown> => Effect.scoped(Effect.flatMap(t.make(), use))

/** Temporary files of a host of this package. */
const ours = () =>
  readdirSync(tmpdir()).filter((name) => name.startsWith("effect-code-runtime") && name.includes(String(process.pid)))

/** Runs a program that starts a `sleep` that can be found, until its end; nothing of it may be left. */
const leavesNothing = (t: Bench, name: string) =>
  Effect.gen(function* () {
    const seconds = mark()
    yield* Effect.addFinalizer(() => sweep(seconds))
    const program = t.program(name).replaceAll("MARK", seconds)
    const run = yield* Effect.forkScoped(t.run(program))
    // Where programs may start no process the call comes with `false`.
    yield* t.host.arrived("echo")
    const started = t.host.calls.find((call) => call.name === "echo")?.args === true
    if (started) ensure(yield* appears(seconds), "the process that the program says it started")
    t.host.open()
    const outcome = yield* Fiber.join(run)
    equal(withCommand(seconds), [], "processes that are left")
    return outcome
  })

const spawning = (options: string, command = "sleep', ['MARK'"): string => code`
  let started = false
  try {
    const { spawn } = await import("node:child_process")
    const child = spawn('${command}], ${options})
    started = await new Promise((r) => { child.on("spawn", () => r(true)); child.on("error", () => r(false)) })
    child.unref()
  } catch {}
  await tools.echo(started)
  await tools.gate()
  return 1
`
const popen = (options: string, command = "['sleep', 'MARK']"): string => code`
  import subprocess
  try:
      p = subprocess.Popen(${command}${options})
      started = True
  except Exception:
      started = False
  await tools.echo(started)
  await tools.gate()
  return 1
`

export const ends: ReadonlyArray<Rule> = [
  {
    id: "B1",
    text: "computeMs meters busy time; maxWallMs never pauses; both end loops and regular expressions; neither counts queueing or boot.",
    cases: [
      {
        id: "B1.busy",
        claim: "computeMs ends every sort of busy program, and says which budget and how much",
        limits: { computeMs: 250, maxWallMs: 20_000 },
        expect: { kind: "timeout", message: [/computeMs/, /\b250\b/] },
        programs: {
          typescript: [
            "for (;;) {}",
            "tools.never(); for (;;) {}",
            "tools.never().catch(() => {})\nawait tools.echo(1)\nwhile (true) await null",
            "const spin = () => { queueMicrotask(spin) }; spin(); await tools.never()",
            "const spin = () => { setImmediate(spin) }; spin(); await tools.never()",
            "return /^(a+)+$/.test('a'.repeat(50) + '!')",
            "try { for (;;) {} } catch { return 1 } finally { for (;;) {} }",
            "while (true) { try { JSON.parse('[' + '1,'.repeat(1000) + '1]') } catch {} }",
            "process.on('uncaughtException', () => {}); process.on('SIGTERM', () => {}); process.on('exit', () => { for (;;) {} }); for (;;) {}",
            "let s = 'a'; while (true) { s = s.split('').reverse().join('') }",
            "return [...'x'.repeat(2 ** 20)].sort(() => { for (;;) {} })"
          ],
          python: [
            "while True:\n    pass",
            "import asyncio\nt = asyncio.ensure_future(tools.never())\nawait asyncio.sleep(0)\nwhile True:\n    pass",
            "import asyncio\nt = asyncio.ensure_future(tools.never())\nwhile True:\n    await asyncio.sleep(0)",
            "import re\nreturn bool(re.match(r'^(a+)+$', 'a' * 50 + '!'))",
            "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
            "import signal\nfor s in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGXCPU):\n    try:\n        signal.signal(s, signal.SIG_IGN)\n    except Exception:\n        pass\nwhile True:\n    pass",
            "return sum(range(10**12))",
            "return 3 ** (3 ** 30) > 1",
            "import asyncio\nloop = asyncio.get_running_loop()\ndef spin():\n    loop.call_soon(spin)\nspin()\nawait tools.never()"
          ]
        }
      },
      {
        id: "B1.waiting",
        claim: "waiting costs no compute",
        limits: { computeMs: 400, maxWallMs: 20_000 },
        expect: { value: "slept" },
        programs: {
          typescript: [
            "return await tools.slow({ ms: 900 })",
            "await new Promise((r) => setTimeout(r, 900))\nreturn 'slept'"
          ],
          python: ["return await tools.slow(ms=900)", "import asyncio\nawait asyncio.sleep(0.9)\nreturn 'slept'"]
        },
        check: (outcome) =>
          ensure(
            outcome.usage.cpuMs < 400 && outcome.usage.wallMs >= 500,
            "busy time apart from wall time",
            outcome.usage
          )
      },
      {
        id: "B1.wall",
        claim: "maxWallMs ends whatever waits, and a blocked guest",
        limits: { maxWallMs: 400 },
        expect: { kind: "timeout", message: [/maxWallMs/, /\b400\b/] },
        programs: {
          typescript: [
            "await tools.never()",
            "await new Promise((r) => setTimeout(r, 60_000))",
            "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
            "for (;;) await new Promise((r) => setTimeout(r, 10))",
            "for (;;) await tools.slowly(1)"
          ],
          python: [
            "await tools.never()",
            "import asyncio\nawait asyncio.sleep(60)",
            "import time\ntime.sleep(60)",
            "import threading\nthreading.Event().wait()",
            "import threading\nl = threading.Lock()\nl.acquire()\nl.acquire()",
            "while True:\n    await tools.slowly(1)"
          ]
        },
        check: (outcome) =>
          ensure(
            outcome.reason?._tag === "Timeout" &&
              outcome.reason.budget === "maxWallMs" &&
              outcome.reason.limitMs === 400,
            "a Timeout of maxWallMs",
            outcome.reason
          )
      },
      {
        id: "B1.measured",
        claim: "usage tells the busy time that was metered, and a budget is a whole run's",
        // However slowly the machine gives it the processor.
        limits: { computeMs: 1500, maxWallMs: 100_000 },
        programs: {
          typescript: [
            [
              "const used = () => { const { user, system } = process.cpuUsage(); return user + system }\nconst start = used()\nwhile (used() - start < 150_000) {}\nawait tools.slow({ ms: 300 })\nreturn 1",
              { value: 1 }
            ],
            [
              "for (let i = 0; ; i++) { const end = performance.now() + 100\nwhile (performance.now() < end) {}\nawait tools.echo(i) }",
              { kind: "timeout", message: /computeMs/ }
            ]
          ],
          python: [
            [
              "import time\nend = time.process_time() + 0.15\nwhile time.process_time() < end:\n    pass\nawait tools.slow(ms=300)\nreturn 1",
              { value: 1 }
            ],
            [
              "import itertools, time\nfor i in itertools.count():\n    end = time.monotonic() + 0.1\n    while time.monotonic() < end:\n        pass\n    await tools.echo(i)",
              { kind: "timeout", message: /computeMs/ }
            ]
          ]
        },
        check: (outcome) => {
          if (outcome.kind === undefined)
            ensure(outcome.usage.cpuMs >= 100 && outcome.usage.wallMs >= 400, "the time that it took", outcome.usage)
        }
      },
      {
        id: "B1.boot",
        claim: "neither queueing nor boot counts",
        limits: { computeMs: 3000, maxWallMs: 900, maxConcurrentRuns: 1, standby: 0 },
        programs: {
          typescript: { wait: "await tools.slow({ ms: 500 })\nreturn 1" },
          python: { wait: "await tools.slow(ms=500)\nreturn 1" }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const all = yield* Effect.all(
              [1, 2, 3].map(() => t.run(t.program("wait"))),
              { concurrency: 3 }
            )
            equal(
              all.map((outcome) => outcome.value ?? outcome.message),
              [1, 1, 1],
              "values"
            )
            ensure(
              all.every((outcome) => outcome.usage.wallMs < 900),
              "wall times of the programs alone",
              all.map((outcome) => outcome.usage.wallMs)
            )
          })
      }
    ]
  },
  {
    id: "B2",
    text: "An abort ends the run at once with the reason as message; a signal already aborted starts nothing.",
    cases: [
      {
        id: "B2.at-once",
        claim: "loops, blocked guests and waiting programs end, with the reason as message",
        programs: {
          typescript: {
            loop: "await tools.echo(1); for (;;) {}",
            wait: "await tools.echo(1); await tools.never()",
            blocked: "await tools.echo(1); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)"
          },
          python: {
            loop: "await tools.echo(1)\nwhile True:\n    pass",
            wait: "await tools.echo(1)\nawait tools.never()",
            blocked: "import time\nawait tools.echo(1)\ntime.sleep(60)"
          }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const reasons: ReadonlyArray<readonly [string, unknown, RegExp]> = [
              ["loop", new Error("the user pressed stop"), /^the user pressed stop$/],
              ["wait", "only words", /^only words$/],
              ["blocked", new TypeError("typed"), /^typed$/],
              ["wait", undefined, /abort/i],
              ["wait", { why: 1 }, /./],
              ["wait", 42, /^42$/],
              ["wait", Symbol("s"), /Symbol\(s\)/],
              ["wait", null, /^null$/],
              [
                "wait",
                {
                  get message(): string {
                    throw new Error("trapped")
                  }
                },
                /./
              ]
            ]
            for (const [index, [name, reason, message]] of reasons.entries()) {
              const controller = new AbortController()
              yield* Effect.forkScoped(
                Effect.andThen(
                  t.host.arrived("echo", index + 1),
                  Effect.sync(() => controller.abort(reason))
                )
              )
              const outcome = yield* t.run({
                program: t.program(name),
                bindings: [t.host.tools()],
                signal: controller.signal
              })
              yield* t.expect(outcome, { kind: "abort", message })
              equal(getEventListeners(controller.signal, "abort").length, 0, "listeners left on the signal")
            }
            equal(t.host.running, 0, "calls that still run")
          })
      },
      {
        id: "B2.already",
        claim: "a signal already aborted starts nothing",
        programs: {
          typescript: { call: "console.log('ran'); await tools.count()" },
          python: { call: "print('ran')\nawait tools.count()" }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const signal = AbortSignal.abort(new Error("never mind"))
            const outcome = yield* t.run({ program: t.program("call"), bindings: [t.host.tools()], signal })
            yield* t.expect(outcome, { kind: "abort", message: /^never mind$/, logs: [] })
            equal([outcome.usage.wallMs, outcome.usage.cpuMs, outcome.usage.calls], [0, 0, 0], "usage")
            const big = yield* t.run({ program: "x".repeat(2_000_000), signal })
            yield* t.expect(big, { kind: "abort" })
            equal(t.host.called(), 0, "calls")
            equal(getEventListeners(signal, "abort").length, 0, "listeners left on the signal")
          })
      },
      {
        id: "B2.others",
        claim: "an abort is its own run's alone, and one after the end is nothing",
        programs: {
          typescript: { gate: "return await tools.gate(5)" },
          python: { gate: "return await tools.gate(5)" }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const controller = new AbortController()
            const other = yield* Effect.forkScoped(t.run(t.program("gate")))
            const aborted = yield* Effect.forkScoped(
              t.run({ program: t.program("gate"), bindings: [t.host.tools()], signal: controller.signal })
            )
            yield* t.host.arrived("gate", 2)
            controller.abort("one")
            yield* t.expect(yield* Fiber.join(aborted), { kind: "abort", message: "one" })
            t.host.open()
            yield* t.expect(yield* Fiber.join(other), { value: 5 })
            const late = new AbortController()
            const done = yield* t.run({ program: t.program("gate"), bindings: [t.host.tools()], signal: late.signal })
            late.abort("late")
            yield* t.expect(done, { value: 5 })
          })
      },
      {
        id: "B2.promises",
        claim: "behind Promises too: it resolves, with the reason",
        programs: {
          typescript: { loop: "await tools.ready(); for (;;) {}" },
          python: { loop: "await tools.ready()\nwhile True:\n    pass" }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const promises = yield* t.promises()
            const controller = new AbortController()
            const ready = () => {
              queueMicrotask(() => controller.abort(new Error("stop")))
              return null
            }
            const result = yield* Effect.promise(() =>
              promises.run({
                program: t.program("loop"),
                bindings: [{ global: "tools", functions: { ready } }],
                signal: controller.signal
              })
            )
            equal(result, { logs: [], error: { kind: "abort", message: "stop" } }, "the outcome")
          })
      }
    ]
  },
  {
    id: "B3",
    text: "A program that waits while no call is open and nothing is scheduled fails at once as exception.",
    cases: [
      {
        id: "B3.nothing-left",
        claim: "it fails by itself, long before any budget",
        expect: { kind: "exception", message: /nothing left that could/, messageNot: hostTrace },
        programs: {
          typescript: [
            "await new Promise(() => {})",
            "console.log('x'); await tools.echo(1); await new Promise(() => {})",
            "await { then() {} }",
            "await Promise.race([])",
            "await tools.fail().catch(() => {}); await new Promise(() => {})",
            "setTimeout(() => {}, 5); await new Promise(() => {})",
            "for await (const _ of { [Symbol.asyncIterator]: () => ({ next: () => new Promise<any>(() => {}) }) }) {}",
            "const { promise } = Promise.withResolvers(); await Promise.all([1, promise])",
            "process.on('message', () => {}); process.on('SIGTERM', () => {}); await new Promise(() => {})"
          ],
          python: [
            "import asyncio\nawait asyncio.Event().wait()",
            "import asyncio\nawait tools.echo(1)\nawait asyncio.get_running_loop().create_future()",
            "import asyncio\nq = asyncio.Queue()\nawait q.get()",
            "import asyncio\nl = asyncio.Lock()\nawait l.acquire()\nawait l.acquire()",
            "import asyncio\nasync def a():\n    await asyncio.Event().wait()\nawait asyncio.gather(a(), a())",
            "import asyncio\nt = asyncio.create_task(asyncio.Event().wait())\nawait asyncio.sleep(0.01)\nawait t",
            "import asyncio\nawait asyncio.shield(asyncio.get_running_loop().create_future())"
          ]
        }
      },
      {
        id: "B3.something-left",
        claim: "a call, a timer, a file, a thread, a socket: things that could",
        programs: {
          typescript: [
            ["return await new Promise((r) => setTimeout(() => r('timer'), 100))", { value: "timer" }],
            ["return await new Promise((r) => setImmediate(() => r(1)))", { value: 1 }],
            ["return await tools.slowly('call')", { value: "call" }],
            [
              "const p = tools.slowly(1)\nawait new Promise<void>((r) => { p.then(() => r()) })\nreturn 2",
              { value: 2 }
            ],
            [
              "let done!: () => void\nconst later = new Promise<void>((r) => { done = r })\ntools.slowly(1).then(() => setTimeout(done, 20))\nawait later\nreturn 3",
              { value: 3 }
            ],
            [
              "import { readFile } from 'node:fs/promises'\nreturn await readFile('/nowhere').catch((e: any) => e.code)",
              {}
            ],
            [
              "const { MessageChannel } = await import('node:worker_threads')\nconst { port1, port2 } = new MessageChannel()\nconst got = new Promise((r) => port2.once('message', r))\nport1.postMessage(5)\nconst v = await got\nport1.close()\nreturn v",
              { value: 5 }
            ],
            [
              "import { webcrypto } from 'node:crypto'\nreturn (await webcrypto.subtle.digest('SHA-256', new Uint8Array(1))).byteLength",
              { value: 32 }
            ],
            ["return await Promise.any([new Promise(() => {}), tools.slowly(1)])", { value: 1 }],
            [
              "return await Promise.race([new Promise(() => {}), new Promise((r) => setTimeout(() => r(2), 20))])",
              { value: 2 }
            ]
          ],
          python: [
            ["import asyncio\nreturn await asyncio.sleep(0.1, 'timer')", { value: "timer" }],
            ["return await tools.slowly('call')", { value: "call" }],
            [
              "import asyncio, time\nreturn await asyncio.to_thread(lambda: (time.sleep(0.2), 'thread')[1])",
              { value: "thread" }
            ],
            [
              "import asyncio\ne = asyncio.Event()\nasyncio.get_running_loop().call_later(0.05, e.set)\nawait e.wait()\nreturn 3",
              { value: 3 }
            ],
            [
              "import asyncio, threading, time\nloop = asyncio.get_running_loop()\nf = loop.create_future()\ndef later():\n    time.sleep(0.2)\n    loop.call_soon_threadsafe(f.set_result, 4)\nthreading.Thread(target=later).start()\nreturn await f",
              { value: 4 }
            ],
            [
              "import asyncio\nt = asyncio.create_task(tools.slowly(5))\ne = asyncio.Event()\nt.add_done_callback(lambda _: e.set())\nawait e.wait()\nreturn 5",
              { value: 5 }
            ]
          ]
        }
      }
    ]
  },
  {
    id: "B4",
    text: "An uncaught error or unhandled rejection before settlement is an exception; after it, nothing.",
    cases: [
      {
        id: "B4.before",
        claim: "an uncaught error of any origin ends the run as exception, with its own place",
        expect: { kind: "exception", messageNot: hostTrace },
        programs: {
          typescript: [
            [
              "setTimeout(() => {\n  throw new Error('timer')\n}, 5)\nawait tools.never()",
              { message: [/^Error: timer\n/, atTs(2, 9)] }
            ],
            ["setImmediate(() => { throw 'words' }); await tools.never()", { message: /^words$/ }],
            [
              "queueMicrotask(() => { throw new TypeError('microtask') }); await tools.never()",
              { message: [/^TypeError: microtask\n/, atTs(1)] }
            ],
            ["process.nextTick(() => { throw new Error('tick') }); await tools.never()", { message: /^Error: tick\n/ }],
            [
              "Promise.reject(new Error('floating')); await tools.never()",
              { message: [/^Error: floating\n/, atTs(1, 16)] }
            ],
            ["Promise.reject(5); await tools.never()", { message: /^5$/ }],
            [
              "void (async () => { await null; throw new Error('async') })(); await tools.never()",
              { message: /^Error: async\n/ }
            ],
            [
              "tools.fail({ message: 'dropped' }); await tools.never()",
              { message: [/^ToolError: dropped\n/, atTs(1)] }
            ],
            [
              "new (await import('node:events')).EventEmitter().emit('error', new Error('emitted'))",
              { message: /^Error: emitted\n/ }
            ],
            [
              "const e = new (await import('node:events')).EventEmitter(); setTimeout(() => e.emit('error', new Error('later')), 5); await tools.never()",
              { message: /^Error: later\n/ }
            ],
            [
              "Promise.reject(new Error('unseen')); await new Promise((r) => setTimeout(r, 50)); return 1",
              { message: /^Error: unseen\n/ }
            ]
          ],
          python: [
            [
              "import asyncio\ndef bad():\n    raise ValueError('callback')\nasyncio.get_running_loop().call_later(0.01, bad)\nawait tools.never()",
              { message: [/^ValueError: callback\n/, atPy(3)] }
            ],
            [
              "import asyncio\nasync def bad():\n    raise ValueError('task')\nasyncio.create_task(bad())\nawait tools.never()",
              { message: [/^ValueError: task\n/, atPy(3)] }
            ],
            [
              "import asyncio\nasync def bad():\n    await tools.fail(message='dropped')\nasyncio.ensure_future(bad())\nawait tools.never()",
              { message: [/^ToolError: dropped\n/, atPy(3)] }
            ],
            [
              "import asyncio\nasyncio.create_task(tools.fail(message='bare'))\nawait tools.never()",
              { message: /^ToolError: bare/ }
            ],
            [
              "import asyncio\nasyncio.get_running_loop().call_soon(lambda: 1 / 0)\nawait asyncio.sleep(0.05)\nreturn 1",
              { message: /^ZeroDivisionError: / }
            ]
          ]
        }
      },
      {
        id: "B4.handled",
        claim: "what is handled is none",
        expect: { value: 1 },
        programs: {
          typescript: [
            "const p = Promise.reject(new Error('x'))\nawait null\nawait null\np.catch(() => {})\nawait tools.slowly(1)\nreturn 1",
            "process.on('unhandledRejection', () => {})\nPromise.reject(new Error('x'))\nawait tools.slowly(1)\nreturn 1",
            "process.on('uncaughtException', () => {})\nsetTimeout(() => { throw new Error('x') }, 1)\nawait tools.slow({ ms: 50 })\nreturn 1",
            "const p = tools.fail()\ntry { await p } catch {}\nreturn 1",
            "await Promise.allSettled([tools.fail(), Promise.reject(1)])\nreturn 1",
            "try { await Promise.all([tools.fail(), tools.fail()]) } catch {}\nreturn 1"
          ],
          python: [
            "import asyncio\nasync def bad():\n    raise ValueError('x')\nt = asyncio.create_task(bad())\nawait tools.slowly(1)\ntry:\n    await t\nexcept ValueError:\n    pass\nreturn 1",
            "import asyncio\nawait asyncio.gather(tools.fail(), return_exceptions=True)\nreturn 1",
            "import asyncio\nasyncio.get_running_loop().set_exception_handler(lambda loop, context: None)\nasyncio.get_running_loop().call_soon(lambda: 1 / 0)\nawait asyncio.sleep(0.02)\nreturn 1",
            "import asyncio\nt = asyncio.create_task(asyncio.sleep(60))\nt.cancel()\nawait asyncio.sleep(0)\nreturn 1"
          ]
        }
      },
      {
        id: "B4.after",
        claim: "after the end, nothing",
        expect: { value: 1, logs: [] },
        programs: {
          typescript: [
            "setTimeout(() => { throw new Error('late') }, 1)\nreturn 1",
            "setInterval(() => console.log('late'), 1)\nreturn 1",
            "setTimeout(() => Promise.reject(new Error('late')), 1)\nreturn 1",
            "tools.fail().catch(() => { throw new Error('late') })\nreturn 1",
            "process.on('exit', () => { console.log('late'); throw new Error('late') })\nreturn 1",
            "process.on('beforeExit', () => { for (;;) {} })\nreturn 1",
            "queueMicrotask(() => setImmediate(() => { for (;;) {} }))\nreturn 1",
            "new FinalizationRegistry(() => {}).register({}, 1)\nsetTimeout(() => {}, 100_000)\nreturn 1"
          ],
          python: [
            "import asyncio\nasyncio.get_running_loop().call_later(0.001, lambda: 1 / 0)\nreturn 1",
            "import asyncio\nasync def forever():\n    while True:\n        await asyncio.sleep(0.001)\nt = asyncio.create_task(forever())\nreturn 1",
            "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\nreturn 1",
            "import atexit\natexit.register(lambda: print('late'))\nreturn 1",
            "import asyncio\nasync def bad():\n    raise ValueError('late')\nt = asyncio.create_task(bad())\nreturn 1",
            "import asyncio\nasync def slow():\n    try:\n        await asyncio.sleep(60)\n    finally:\n        await asyncio.sleep(60)\nt = asyncio.create_task(slow())\nawait asyncio.sleep(0)\nreturn 1"
          ]
        }
      }
    ]
  },
  {
    id: "B5",
    text: "An exit or a kill is worker-exit with its code or signal, logs kept.",
    cases: [
      {
        id: "B5.exit",
        claim: "every way to exit, with its code",
        expect: { kind: "worker-exit", logs: ["l"] },
        programs: {
          typescript: [
            ["console.log('l'); process.exit(3)", { message: /\b3\b/ }],
            ["console.log('l'); process.exit()", { message: /\b0\b/ }],
            ["console.log('l'); process.exitCode = 4; process.exit()", { message: /\b4\b/ }],
            ["console.log('l'); try { process.exit(5) } catch { return 1 } finally { return 2 }", { message: /\b5\b/ }],
            ["console.log('l'); setTimeout(() => process.exit(6), 5); await tools.never()", { message: /\b6\b/ }],
            ["console.log('l'); tools.never(); await tools.echo(1); process.exit(7)", { message: /\b7\b/ }],
            ["import { exit } from 'node:process'\nconsole.log('l'); exit(8)", { message: /\b8\b/ }],
            [
              "process.on('exit', () => { process.exitCode = 10 }); console.log('l'); process.exit(9)",
              { message: /\b(?:9|10)\b/ }
            ]
          ],
          python: [
            ["import sys\nprint('l')\nsys.exit(3)", { message: /\b3\b/ }],
            ["import sys\nprint('l')\nsys.exit()", { message: /\b0\b/ }],
            ["print('l')\nraise SystemExit(4)", { message: /\b4\b/ }],
            [
              "import sys\nprint('l')\ntry:\n    sys.exit(5)\nexcept Exception:\n    pass\nreturn 1",
              { message: /\b5\b/ }
            ],
            ["import os\nprint('l')\nos._exit(6)", { message: /\b6\b/ }],
            [
              "import asyncio, sys\nprint('l')\nasyncio.get_running_loop().call_soon(sys.exit, 8)\nawait tools.never()",
              { message: /\b8\b/ }
            ],
            [
              "import asyncio, sys\nasync def f():\n    sys.exit(9)\nprint('l')\nt = asyncio.create_task(f())\nawait tools.never()",
              { message: /\b9\b/ }
            ],
            [
              "import os, threading\nprint('l')\nthreading.Thread(target=os._exit, args=(10,)).start()\nawait tools.never()",
              { message: /\b10\b/ }
            ]
          ]
        },
        check: (outcome) =>
          ensure(
            outcome.reason?._tag === "WorkerExit" &&
              !outcome.reason.outOfMemory &&
              new RegExp(`\\b${outcome.reason.exitCode}\\b`).test(outcome.message),
            "the code beside the message",
            outcome.reason
          )
      },
      {
        id: "B5.text-code",
        claim: "in Python an exit with a text says the text",
        programs: {
          python: [["import sys\nsys.exit('went wrong')", { kind: "worker-exit", message: /\b1\b/ }]]
        },
        check: (outcome) => ensure(outcome.logs.join("").startsWith("went wrong"), "the text in the logs", outcome.logs)
      },
      {
        id: "B5.kill",
        claim: "a kill, with its signal",
        unsafe: true,
        expect: { kind: "worker-exit" },
        programs: {
          typescript: [
            ["console.log('l'); process.kill(process.pid, 'SIGKILL'); await tools.never()", { message: /SIGKILL/ }],
            ["console.log('l'); process.kill(process.pid, 'SIGTERM'); await tools.never()", { message: /SIGTERM/ }],
            ["console.log('l'); process.abort()", { message: /SIGABRT|13[0-9]/ }]
          ],
          python: [
            [
              "import os, signal\nprint('l')\nos.kill(os.getpid(), signal.SIGKILL)\nawait tools.never()",
              { message: /SIGKILL/ }
            ],
            [
              "import os, signal\nprint('l')\nos.kill(os.getpid(), signal.SIGTERM)\nawait tools.never()",
              { message: /SIGTERM/ }
            ],
            ["import os\nprint('l')\nos.abort()", { message: /SIGABRT|13[0-9]/ }],
            [
              "import ctypes\nprint('l')\nctypes.string_at(0)",
              { message: /SIGSEGV|ctypes|denied|139/, kind: ["worker-exit", "exception"] }
            ]
          ]
        },
        // An engine may print of its own death.
        check: (outcome) => equal(outcome.logs[0], "l", "the first entry")
      }
    ]
  },
  {
    id: "B6",
    text: "Memory beyond maxMemoryMb is worker-exit that says memory.",
    cases: [
      {
        id: "B6.heap",
        claim: "objects without end",
        limits: { maxMemoryMb: 64 },
        timeoutMs: 120_000,
        expect: { kind: "worker-exit", message: [/memory/i, /\b64\b/] },
        programs: {
          typescript: [
            "console.log('l'); const all: any[] = []; for (;;) all.push({ text: 'x' + all.length })",
            "console.log('l'); let s: any = {}; for (;;) s = { s, a: [1, 2, 3] }",
            "console.log('l'); const all: any[] = []; for (;;) { all.push(Array(1000).fill(0).map((_, i) => ({ i }))); await null }",
            "console.log('l'); let s = ''; for (let i = 0; ; i++) s += JSON.stringify({ i })",
            "console.log('l'); const rows = '[' + '{\"a\":1},'.repeat(10_000) + '1]'; const all: any[] = []; for (;;) all.push(JSON.parse(rows))"
          ],
          python: [
            "print('l')\nkept = []\nwhile True:\n    kept.append({'text': 'x' + str(len(kept))})",
            "print('l')\ns = None\nwhile True:\n    s = [s, {'a': 1}]"
          ]
        },
        check: (outcome) => {
          equal(outcome.logs, ["l"], "logs")
          ensure(outcome.reason?._tag === "WorkerExit" && outcome.reason.outOfMemory, "outOfMemory", outcome.reason)
        }
      },
      {
        id: "B6.bytes",
        claim: "bytes outside of the heap count too",
        limits: { maxMemoryMb: 64 },
        timeoutMs: 120_000,
        expect: { kind: "worker-exit", message: /memory/i },
        programs: {
          // Bounded, for guests that share the memory of this very process.
          typescript: [
            "const all: Buffer[] = []; for (let i = 0; i < 400; i++) all.push(Buffer.alloc(1 << 20, 1)); return all.length"
          ],
          python: ["kept = []\nfor i in range(400):\n    kept.append(b'x' * (1 << 20))\nreturn len(kept)"]
        }
      },
      {
        id: "B6.next",
        claim: "the next run, and one beside it, are unharmed",
        limits: { maxMemoryMb: 64 },
        timeoutMs: 120_000,
        programs: {
          typescript: {
            fill: "const all: any[] = []; for (;;) all.push({ text: 'x' + all.length })",
            gate: "return await tools.gate(5)",
            next: "return 7"
          },
          python: {
            fill: "kept = []\nwhile True:\n    kept.append({'text': 'x' + str(len(kept))})",
            gate: "return await tools.gate(5)",
            next: "return 7"
          }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const beside = yield* Effect.forkScoped(t.run(t.program("gate")))
            yield* t.host.arrived("gate")
            yield* t.expect(yield* t.run(t.program("fill")), { kind: "worker-exit", message: /memory/i })
            t.host.open()
            yield* t.expect(yield* Fiber.join(beside), { value: 5 })
            yield* t.expect(yield* t.run(t.program("next")), { value: 7 })
          })
      }
    ]
  },
  {
    id: "B7",
    text: "After settlement nothing of the run is left: no thread, process, grandchild, timer, listener, temporary file; run returns only then.",
    cases: [
      {
        id: "B7.child",
        claim: "a child process is gone when run returns",
        programs: { typescript: { spawn: spawning("{ stdio: 'ignore' }") }, python: { spawn: popen("") } },
        steps: (t) => Effect.flatMap(leavesNothing(t, "spawn"), (outcome) => t.expect(outcome, { value: 1 }))
      },
      {
        id: "B7.child-of-a-loop",
        claim: "so it is when the run was ended",
        limits: { computeMs: 300 },
        programs: {
          typescript: { spawn: spawning("{ stdio: 'ignore' }").replace("return 1", "for (;;) {}") },
          python: { spawn: popen("").replace("return 1", "while True:\n    pass") }
        },
        steps: (t) => Effect.flatMap(leavesNothing(t, "spawn"), (outcome) => t.expect(outcome, { kind: "timeout" }))
      },
      {
        id: "B7.late-child",
        claim: "one that is started after the program has returned is gone too",
        programs: {
          typescript: {
            spawn: code`
              const start = () => { try { require("node:child_process").spawn("sleep", ["MARK"], { stdio: "ignore" }).unref() } catch {} }
              await tools.gate()
              setImmediate(start)
              setInterval(start, 1)
              return 1
            `
          },
          python: {
            spawn: code`
              import subprocess, threading
              def start():
                  try:
                      subprocess.Popen(["sleep", "MARK"])
                  except Exception:
                      pass
              await tools.gate()
              threading.Thread(target=start).start()
              return 1
            `
          }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const seconds = mark()
            yield* Effect.addFinalizer(() => sweep(seconds))
            t.host.open()
            for (let i = 0; i < 5; i++) {
              yield* t.expect(yield* t.run(t.program("spawn").replaceAll("MARK", seconds)), { value: 1 })
              equal(withCommand(seconds), [], "processes that are left")
            }
          })
      },
      {
        id: "B7.holds-the-pipe",
        claim: "a child that holds the guest's output keeps nobody waiting",
        programs: {
          typescript: { spawn: spawning("{ stdio: ['ignore', 'inherit', 'inherit'] }") },
          python: { spawn: popen("") }
        },
        steps: (t) => Effect.flatMap(leavesNothing(t, "spawn"), (outcome) => t.expect(outcome, { value: 1 }))
      },
      {
        id: "B7.session",
        claim: "one in a session of its own is gone too",
        programs: {
          typescript: { spawn: spawning("{ detached: true, stdio: 'ignore' }") },
          python: { spawn: popen(", start_new_session=True") }
        },
        steps: (t) => Effect.flatMap(leavesNothing(t, "spawn"), (outcome) => t.expect(outcome, { value: 1 }))
      },
      {
        id: "B7.grandchild",
        claim: "and a grandchild that was orphaned, in a session of its own",
        programs: {
          typescript: { spawn: spawning("{ detached: true, stdio: 'ignore' }", "sh', ['-c', 'sleep MARK & exit 0'") },
          python: { spawn: popen(", start_new_session=True", "['sh', '-c', 'sleep MARK & exit 0']") }
        },
        steps: (t) => Effect.flatMap(leavesNothing(t, "spawn"), (outcome) => t.expect(outcome, { value: 1 }))
      },
      {
        id: "B7.temporary-files",
        claim: "temporary files of the run are gone",
        programs: {
          typescript: [
            [
              "import fs from 'node:fs'\nimport os from 'node:os'\nimport path from 'node:path'\ntry {\n  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'left-'))\n  fs.writeFileSync(path.join(folder, 'note.txt'), 'x')\n  return path.join(folder, 'note.txt')\n} catch {\n  return '/nowhere/note.txt'\n}",
              {}
            ]
          ],
          python: [
            [
              "import tempfile\ntry:\n    with tempfile.NamedTemporaryFile(delete=False, prefix='left-') as f:\n        f.write(b'x')\n    return f.name\nexcept OSError:\n    return '/nowhere/note.txt'",
              {}
            ]
          ]
        },
        check: (outcome) => {
          const { value } = outcome
          const left = typeof value === "string" && existsSync(value)
          // A backend whose guests may write there leaves nothing of the suite behind either.
          if (left && value.startsWith(join(tmpdir(), "left-"))) {
            rmSync(dirname(value) === tmpdir() ? value : dirname(value), { recursive: true })
          }
          ensure(typeof value === "string" && !left, "the file to be gone", value ?? outcome.message)
        }
      },
      {
        id: "B7.flat",
        claim: "many runs of every end leave no thread, descriptor, child, listener or temporary file in the host",
        timeoutMs: 120_000,
        limits: { computeMs: 200, maxWallMs: 20_000 },
        programs: {
          typescript: {
            value: "return await tools.add({ a: 1, b: 2 })",
            threw: "console.log('x'); throw new Error('y')",
            exit: "process.exit(1)",
            loop: "for (;;) {}",
            lossy: "return NaN",
            junk: "const ="
          },
          python: {
            value: "return await tools.add(a=1, b=2)",
            threw: "print('x')\nraise ValueError('y')",
            exit: "import sys\nsys.exit(1)",
            loop: "while True:\n    pass",
            lossy: "return float('nan')",
            junk: "x = = 1"
          }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const { signal } = new AbortController()
            const round = (times: number) =>
              disposedWith(t, (runtime) =>
                Effect.forEach(
                  Array.from({ length: times }).flatMap(() => ["value", "threw", "exit", "loop", "lossy", "junk"]),
                  (name) => t.run({ program: t.program(name), bindings: [t.host.tools()], signal }, runtime, {}),
                  { discard: true }
                )
              )
            yield* round(1)
            const files = new Set(ours())
            // What a backend keeps for all its runs is there after the first.
            yield* t.run("")
            const before = yield* steady
            yield* round(4)
            // A thread of the operating system may end a moment after its worker.
            for (let i = 0; i < 100 && snapshot().threads > before.threads; i++) yield* Effect.sleep(10)
            const after = snapshot()
            ensure(
              after.threads <= before.threads + 1 &&
                after.descriptors <= before.descriptors &&
                after.children <= before.children,
              "nothing to be left",
              { before, after }
            )
            equal(
              ours().filter((name) => !files.has(name)),
              [],
              "temporary files that are left"
            )
            equal(getEventListeners(signal, "abort").length, 0, "listeners left on the signal")
          })
      }
    ]
  },
  {
    id: "B8",
    text: "No state passes from one run to the next; a guest's environment is empty, its standard input at its end, its working directory (where it has its own) empty.",
    cases: [
      {
        id: "B8.state",
        claim: "what one run changes the next does not see",
        programs: {
          typescript: {
            change:
              "(globalThis as any).left = 1; (Object.prototype as any).left = 2; (Array.prototype as any).map = 3; process.env.LEFT = '4'; process.exitCode = 5; Error.stackTraceLimit = 0; try { (await import('node:path')).default.join = null as any } catch {}; process.on('exit', () => {}); process.title = 'left'; return 1",
            look: "return [typeof (globalThis as any).left, typeof ({} as any).left, typeof [].map, process.env.LEFT ?? null, process.exitCode ?? null, Error.stackTraceLimit > 0, typeof (await import('node:path')).default.join]"
          },
          python: {
            change:
              "import builtins, sys, os, json\nbuiltins.left = 1\nsys.left = 2\njson.dumps = None\nos.environ['LEFT'] = '4'\nsys.setrecursionlimit(77)\nos.umask(0o777)\nsys.modules['math'] = None\nreturn 1",
            look: "import builtins, sys, os, json, math\nreturn ['number' if hasattr(builtins, 'left') else 'undefined', 'number' if hasattr(sys, 'left') else 'undefined', 'function' if callable(json.dumps) else 'null', os.environ.get('LEFT'), None, sys.getrecursionlimit() > 100, 'function' if callable(math.floor) else 'null']"
          }
        },
        steps: (t) =>
          Effect.gen(function* () {
            for (let i = 0; i < 3; i++) {
              yield* t.expect(yield* t.run(t.program("change")), { value: 1 })
              yield* t.expect(yield* t.run(t.program("look")), {
                value: ["undefined", "undefined", "function", null, null, true, "function"]
              })
            }
          })
      },
      {
        id: "B8.side-by-side",
        claim: "runs at the same time do not see each other",
        programs: {
          typescript: {
            own: "(globalThis as any).mine = NUMBER; console.log(NUMBER); await tools.gate(); return (globalThis as any).mine"
          },
          python: {
            own: "import builtins\nbuiltins.mine = NUMBER\nprint(NUMBER)\nawait tools.gate()\nreturn builtins.mine"
          }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const fibers = yield* Effect.forEach([1, 2, 3, 4], (n) =>
              Effect.forkScoped(t.run(t.program("own").replaceAll("NUMBER", String(n))))
            )
            yield* t.host.arrived("gate", 4)
            t.host.open()
            for (const [index, fiber] of fibers.entries()) {
              yield* t.expect(yield* Fiber.join(fiber), { value: index + 1, logs: [String(index + 1)] })
            }
          })
      },
      {
        id: "B8.empty",
        claim: "the environment is empty, standard input at its end, no arguments of the host",
        programs: {
          typescript: [
            ["return Object.keys(process.env)", { value: [] }],
            [
              "const chunks: any[] = []; for await (const chunk of process.stdin) chunks.push(chunk); return chunks.length",
              { value: 0 }
            ],
            ["return process.argv.slice(2)", { value: [] }],
            ["return [process.env.PATH ?? null, process.env.HOME ?? null]", { value: [null, null] }]
          ],
          python: [
            ["import os\nreturn sorted(k for k in os.environ if k != 'LC_CTYPE')", { value: [] }],
            ["import sys\nreturn sys.stdin.read()", { value: "" }],
            ["try:\n    input()\nexcept EOFError:\n    return 'end'", { value: "end" }],
            ["import sys\nreturn sys.argv[1:]", { value: [] }],
            ["import os\nreturn os.read(0, 10).decode()", { value: "" }]
          ]
        }
      },
      {
        id: "B8.folder",
        claim: "the working directory, where a guest has its own, is empty",
        programs: {
          typescript: [["import fs from 'node:fs'\nreturn fs.readdirSync('.')", { value: [] }]],
          python: [["import os\nreturn os.listdir('.')", { value: [] }]]
        }
      }
    ]
  },
  {
    id: "B9",
    text: "Disposal ends runs in flight as abort, waits for the guests, and makes later runs misuse.",
    cases: [
      {
        id: "B9.in-flight",
        claim: "busy, waiting and queued runs end as abort, logs kept; nothing is left",
        programs: {
          typescript: { loop: "console.log('in'); await tools.echo(1); for (;;) {}", wait: "await tools.never()" },
          python: { loop: "print('in')\nawait tools.echo(1)\nwhile True:\n    pass", wait: "await tools.never()" }
        },
        steps: (t) =>
          Effect.gen(function* () {
            // What a backend keeps for all its runs is there after the first.
            yield* t.run("")
            const before = yield* steady
            const fibers = yield* disposedWith(t, (runtime) =>
              Effect.gen(function* () {
                const loop = yield* Effect.forkDetach(t.run(t.program("loop"), runtime))
                const wait = yield* Effect.forkDetach(t.run(t.program("wait"), runtime))
                yield* t.host.arrived("echo")
                yield* t.host.arrived("never")
                return [loop, wait] as const
              })
            )
            const after = snapshot()
            const [loop, wait] = [yield* Fiber.join(fibers[0]), yield* Fiber.join(fibers[1])]
            yield* t.expect(loop, { kind: "abort", message: /disposed/, logs: ["in"] })
            yield* t.expect(wait, { kind: "abort", message: /disposed/ })
            ensure(after.children <= before.children, "no child after disposal", { before, after })
            equal(t.host.running, 0, "calls that still run")
          })
      },
      {
        id: "B9.later",
        claim: "a later run is misuse; with Promises disposing twice is disposing once",
        programs: { typescript: { one: "return 1" }, python: { one: "return 1" } },
        steps: (t) =>
          Effect.gen(function* () {
            let kept: CodeRuntime["Service"] | undefined
            yield* disposedWith(t, (runtime) => {
              kept = runtime
              return Effect.flatMap(t.run(t.program("one"), runtime), (outcome) => t.expect(outcome, { value: 1 }))
            })
            ensure(kept !== undefined, "a runtime")
            const misuse = yield* Effect.flip(kept.run({ program: t.program("one") }))
            ensure(
              misuse._tag === "CodeRuntimeMisuse" &&
                misuse.reason._tag === "RuntimeDisposed" &&
                /dispos/.test(misuse.message),
              "RuntimeDisposed",
              misuse.message
            )
            const promises = yield* t.promises()
            equal(
              yield* Effect.promise(() => promises.run({ program: t.program("one") })),
              { value: 1, logs: [] },
              "before"
            )
            yield* Effect.promise(() => Promise.all([promises.dispose(), promises[Symbol.asyncDispose]()]))
            const rejected = yield* Effect.flip(
              Effect.tryPromise({
                try: () => promises.run({ program: t.program("one") }),
                catch: (error) => new Unmet(error instanceof Error ? error.message : String(error))
              })
            )
            ensure(/dispos/.test(rejected.message), "a rejection that says disposed", String(rejected))
            yield* Effect.promise(() => promises.dispose())
          })
      },
      {
        id: "B9.queued",
        claim: "runs that wait for their turn end as abort too",
        limits: { maxConcurrentRuns: 1 },
        programs: { typescript: { wait: "await tools.never()" }, python: { wait: "await tools.never()" } },
        steps: (t) =>
          Effect.gen(function* () {
            const fibers = yield* Effect.scoped(
              Effect.gen(function* () {
                const runtime = yield* t.make({ maxConcurrentRuns: 1 })
                const all = yield* Effect.forEach([1, 2, 3], () => Effect.forkDetach(t.run(t.program("wait"), runtime)))
                yield* t.host.arrived("never")
                return all
              })
            )
            for (const fiber of fibers)
              yield* t.expect(yield* Fiber.join(fiber), { kind: "abort", message: /disposed/ })
            equal(t.host.called("never"), 1, "calls")
          })
      }
    ]
  },
  {
    id: "B10",
    text: "Interrupting the fiber that runs run ends the guest and waits for it.",
    cases: [
      {
        id: "B10.interrupted",
        claim: "busy, blocked and waiting guests are gone when the interruption returns, calls interrupted",
        limits: { standby: 0 },
        programs: {
          typescript: {
            loop: "tools.never(); await tools.echo(1); for (;;) {}",
            blocked: "tools.never(); await tools.echo(1); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
            wait: "tools.never(); await tools.echo(1); await tools.never()"
          },
          python: {
            loop: "import asyncio\nt = asyncio.ensure_future(tools.never())\nawait tools.echo(1)\nwhile True:\n    pass",
            blocked:
              "import asyncio, time\nt = asyncio.ensure_future(tools.never())\nawait tools.echo(1)\ntime.sleep(60)",
            wait: "import asyncio\nt = asyncio.ensure_future(tools.never())\nawait tools.echo(1)\nawait tools.never()"
          }
        },
        steps: (t) =>
          Effect.gen(function* () {
            yield* t.run("")
            // What a backend keeps for all its runs is there after the first, also what it keeps for a while only.
            const { children } = snapshot()
            const before = yield* steady
            let count = 0
            for (const name of ["loop", "blocked", "wait"]) {
              const fiber = yield* Effect.forkScoped(t.run(t.program(name)))
              yield* t.host.arrived("echo", ++count)
              yield* Fiber.interrupt(fiber)
              ensure(
                t.host.calls.every((call) => call.ended),
                "every call to have ended",
                t.host.calls
              )
              ensure(snapshot().children <= children, `no child to be left after ${name}`, commands())
            }
            for (let i = 0; i < 100 && snapshot().threads > before.threads + 1; i++) yield* Effect.sleep(10)
            ensure(snapshot().threads <= before.threads + 1, "no thread to be left", [before, snapshot()])
          })
      },
      {
        id: "B10.any-moment",
        claim: "at any moment: before the guest is there, while it boots, after the end",
        limits: { standby: 0 },
        programs: { typescript: { one: "return 1" }, python: { one: "return 1" } },
        steps: (t) =>
          Effect.gen(function* () {
            for (const delay of [0, 1, 5, 15, 30, 60]) {
              const settled = yield* Deferred.make<void>()
              // One that is interrupted before it begins has no end that it could tell.
              const fiber = yield* Effect.forkScoped(
                Effect.ensuring(t.run(t.program("one")), Deferred.succeed(settled, undefined)),
                { startImmediately: true }
              )
              yield* Effect.sleep(delay)
              yield* Fiber.interrupt(fiber)
              yield* Deferred.await(settled)
            }
            yield* t.expect(yield* t.run(t.program("one")), { value: 1 })
          })
      }
    ]
  }
]
