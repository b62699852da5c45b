/** C: calls from the program to host functions. */
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import type { BindingNamespace } from "../../domain/CodeRun.ts"
import { atPy, atTs, code, ensure, equal, hostTrace, place, type Rule } from "../Case.ts"
import { lossyResults } from "../Host.ts"

const lossyKinds = Object.keys(lossyResults)

export const calls: ReadonlyArray<Rule> = [
  {
    id: "C1",
    text: "A call takes one JSON argument; none is {}; more than one, or an explicit undefined, is rejected in the program and never runs.",
    cases: [
      {
        id: "C1.one",
        claim: "any JSON; none at all is {}; in Python keyword arguments are the object",
        expect: { value: [{}, {}, null, [1], "s", false, 0, { a: { b: 1 } }] },
        programs: {
          typescript: [
            "return [await tools.echo(), await tools.echo({}), await tools.echo(null), await tools.echo([1]), await tools.echo('s'), await tools.echo(false), await tools.echo(0), await tools.echo({ a: { b: 1 } })]"
          ],
          python: [
            "return [await tools.echo(), await tools.echo({}), await tools.echo(None), await tools.echo([1]), await tools.echo('s'), await tools.echo(False), await tools.echo(0), await tools.echo(a={'b': 1})]"
          ]
        }
      },
      {
        id: "C1.refused",
        claim: "more than one, or an explicit undefined: a rejection in the program that says so",
        programs: {
          typescript: [
            [
              code`
                const said: unknown[] = []
                for (const call of [() => tools.count(1, 2), () => tools.count({}, undefined), () => tools.count(undefined), () => tools.count(...[1, 2, 3]), () => [1].map(tools.count)[0]]) {
                  let promise: any
                  try { promise = call() } catch { said.push("thrown"); continue }
                  said.push(promise instanceof Promise, await promise.then(() => "ran", (e: Error) => /argument/i.test(e.message) && e instanceof Error))
                }
                return said
              `,
              { value: Array.from({ length: 10 }, () => true) }
            ],
            ["await tools.count(1, 2)", { kind: "exception", message: [/argument/i, atTs(1)], messageNot: hostTrace }]
          ],
          python: [
            [
              code`
                said = []
                for call in [lambda: tools.count(1, 2), lambda: tools.count({}, a=1), lambda: tools.count(*[1, 2, 3]), lambda: tools["count"](None, None)]:
                    try:
                        await call()
                        said.append("ran")
                    except Exception as e:
                        said.append("argument" in str(e).lower())
                return said
              `,
              { value: Array.from({ length: 4 }, () => true) }
            ],
            ["await tools.count(1, 2)", { kind: "exception", message: [/argument/i, atPy(1)], messageNot: hostTrace }]
          ]
        },
        check: (_outcome, host) => equal(host.called("count"), 0, "calls")
      },
      {
        id: "C1.keywords",
        claim: "names of Python's own are keyword arguments like any other",
        programs: {
          python: [
            [
              "return await tools.echo(self=1, name=2, args=3, kwargs=4, cls=5)",
              { value: { self: 1, name: 2, args: 3, kwargs: 4, cls: 5 } }
            ],
            ["return await tools.echo(**{'a b': 1, '': 2})", { value: { "a b": 1, "": 2 } }]
          ]
        }
      },
      {
        id: "C1.copy",
        claim: "the argument is what it was when the call was made",
        expect: { value: [{ n: 1 }, { n: 2 }] },
        programs: {
          typescript: [
            "const o = { n: 1 }\nconst first = tools.echo(o)\no.n = 2\nreturn [await first, await tools.echo(o)]"
          ],
          python: [
            "import asyncio\no = {'n': 1}\nfirst = asyncio.ensure_future(tools.echo(o))\nawait asyncio.sleep(0)\no['n'] = 2\nreturn [await first, await tools.echo(o)]"
          ]
        }
      }
    ]
  },
  {
    id: "C1a",
    text: "In Python a call is a coroutine; one that is never awaited or scheduled does not start, and is reported among unsettledCalls.",
    only: ["python"],
    cases: [
      {
        id: "C1a.coroutine",
        claim: "it goes wherever a coroutine goes",
        programs: {
          python: [
            [
              "import asyncio\nreturn list(await asyncio.gather(tools.echo(1), tools.slowly(2), tools.echo(3)))",
              { value: [1, 2, 3] }
            ],
            ["import asyncio\nt = asyncio.create_task(tools.echo(1))\nreturn await t", { value: 1 }],
            [
              "import asyncio\nasync with asyncio.TaskGroup() as g:\n    a = g.create_task(tools.slowly(1))\n    b = g.create_task(tools.echo(2))\nreturn [a.result(), b.result()]",
              { value: [1, 2] }
            ],
            ["import asyncio\nreturn await asyncio.wait_for(tools.slowly(1), 20)", { value: 1 }],
            [
              "import asyncio\ntry:\n    await asyncio.wait_for(tools.never(), 0.02)\nexcept asyncio.TimeoutError:\n    return 'late'",
              { value: "late" }
            ],
            [
              "import asyncio\nreturn sorted([await f for f in asyncio.as_completed([tools.echo(i) for i in range(4)])])",
              { value: [0, 1, 2, 3] }
            ],
            [
              "import asyncio\ndone, pending = await asyncio.wait([asyncio.create_task(tools.echo(1)), asyncio.create_task(tools.never())], return_when=asyncio.FIRST_COMPLETED)\nreturn [len(done), len(pending)]",
              { value: [1, 1] }
            ],
            [
              "import inspect\nc = tools.echo(1)\nr = inspect.isawaitable(c)\nawait c\nreturn [r, inspect.iscoroutine(tools.echo)]",
              { value: [true, false] }
            ],
            [
              "import asyncio\nt = asyncio.create_task(tools.never())\nawait asyncio.sleep(0.01)\nt.cancel()\ntry:\n    await t\nexcept asyncio.CancelledError:\n    return 'cancelled'",
              { value: "cancelled" }
            ],
            [
              "import asyncio\nr = await asyncio.gather(tools.fail({'message': 'm'}), tools.echo(1), return_exceptions=True)\nreturn [type(r[0]).__name__, r[1]]",
              { value: ["ToolError", 1] }
            ],
            ["async with __import__('asyncio').timeout(20):\n    return await tools.slowly(1)", { value: 1 }],
            ["import asyncio\nreturn await asyncio.shield(tools.slowly(4))", { value: 4 }]
          ]
        }
      },
      {
        id: "C1a.not-awaited",
        claim:
          "one never awaited or scheduled does not start; it is reported with its line, and nothing is logged of it",
        programs: {
          python: [
            ["x = 1\ntools.count()\nreturn x", { value: 1, logs: [] }],
            ["x = 1\nkept = tools.count()\nreturn x", { value: 1, logs: [] }]
          ]
        },
        check: (outcome, host) => {
          equal(host.called("count"), 0, "calls")
          equal(outcome.unsettledCalls, [{ global: "tools", name: "count", line: 2 }], "unsettledCalls")
        }
      }
    ]
  },
  {
    id: "C2",
    text: "A host function's failure rejects the call with the declared error class: its message, nothing else of the host; a defect reads `internal error`.",
    cases: [
      {
        id: "C2.declared",
        claim: "the declared class, its message and its member",
        programs: {
          typescript: [
            [
              "try { await tools.fail({ message: 'no such file' }) } catch (e: any) { return [e instanceof ToolError, e instanceof Error, e.name, e.message, e.tool, String(e), Object.prototype.hasOwnProperty.call(e, 'tool'), e.constructor === ToolError] }",
              { value: [true, true, "ToolError", "no such file", "fail", "ToolError: no such file", true, true] }
            ],
            [
              "const e: any = await tools.fail().catch((e: any) => e)\nreturn [e.code ?? null, e.secret ?? null, e._tag ?? null, e.cause ?? null, Object.getOwnPropertyNames(e).sort()]",
              { value: [null, null, null, null, ["message", "stack", "tool"]] }
            ],
            [
              "const e: any = await tools.fail({ message: 'a\\nb' }).catch((e: any) => e)\nreturn [e.message, e.stack.split('\\n')[0]]",
              { value: ["a\nb", "ToolError: a"] }
            ],
            [
              "class Mine extends ToolError {}\nreturn [new Mine('x') instanceof ToolError, new ToolError('y').message, new ToolError('y').name]",
              { value: [true, "y", "ToolError"] }
            ]
          ],
          python: [
            [
              "try:\n    await tools.fail(message='no such file')\nexcept ToolError as e:\n    return [isinstance(e, Exception), type(e).__name__, str(e), e.tool, e.args == ('no such file',), type(e) is ToolError]",
              { value: [true, "ToolError", "no such file", "fail", true, true] }
            ],
            [
              "try:\n    await tools.fail()\nexcept Exception as e:\n    return [getattr(e, 'code', None), getattr(e, 'secret', None), e.__cause__, e.__context__, sorted(vars(e))]",
              { value: [null, null, null, null, ["tool"]] }
            ],
            [
              "class Mine(ToolError):\n    pass\nreturn [issubclass(Mine, ToolError), str(ToolError('y')), issubclass(ToolError, Exception)]",
              { value: [true, "y", true] }
            ]
          ]
        }
      },
      {
        id: "C2.plain",
        claim: "without a declared class a plain error",
        bindings: (host): ReadonlyArray<BindingNamespace> => [{ global: "tools", functions: host.functions }],
        programs: {
          typescript: [
            [
              "const e: any = await tools.fail({ message: 'm' }).catch((e: any) => e)\nreturn [Object.getPrototypeOf(e) === Error.prototype, e.name, e.message]",
              { value: [true, "Error", "m"] }
            ]
          ],
          python: [
            [
              "try:\n    await tools.fail(message='m')\nexcept Exception as e:\n    return [type(e) is Exception, str(e)]",
              { value: [true, "m"] }
            ]
          ]
        }
      },
      {
        id: "C2.whatever-fails",
        claim: "whatever a host function fails with, the program sees a message",
        programs: {
          typescript: [
            [
              "const seen: any = {}\nfor (const kind of ['text', 'number', 'nothing', 'object', 'typed', 'symbol', 'trap']) seen[kind] = await tools.failWith({ kind }).catch((e: any) => e instanceof ToolError && typeof e.message === 'string' ? e.message : 'no')\nreturn [seen.text, seen.number, seen.object, seen.typed, Object.values(seen).includes('no')]",
              { value: ["only words", "42", "of an object", "of a type", false] }
            ]
          ],
          python: [
            [
              "seen = {}\nfor kind in ['text', 'number', 'nothing', 'object', 'typed', 'symbol', 'trap']:\n    try:\n        await tools.failWith(kind=kind)\n    except ToolError as e:\n        seen[kind] = str(e)\nreturn [seen['text'], seen['number'], seen['object'], seen['typed'], len(seen) < 7]",
              { value: ["only words", "42", "of an object", "of a type", false] }
            ]
          ]
        }
      },
      {
        id: "C2.uncaught",
        claim: "uncaught, it is the program's exception: the call's own line, nothing of the host",
        expect: { kind: "exception", messageNot: [hostTrace, /host-secret|E_HOST_SECRET/] },
        programs: {
          typescript: [
            [
              "const a = 1\nawait tools.fail({ message: 'no such file' })",
              { message: [/^ToolError: no such file\n/, atTs(2, 13)] }
            ],
            [
              "async function read() {\n  return await tools.fail({ message: 'inside' })\n}\nawait read()",
              { message: [/^ToolError: inside\n/, atTs(2)] }
            ],
            [
              "await Promise.all([tools.echo(1),\n  tools.fail({ message: 'one of many' })])",
              { message: [/^ToolError: one of many\n/, atTs(2)] }
            ]
          ],
          python: [
            ["a = 1\nawait tools.fail(message='no such file')", { message: [/^ToolError: no such file\n/, atPy(2)] }],
            [
              "async def read():\n    return await tools.fail(message='inside')\n\nawait read()",
              { message: [/^ToolError: inside\n/, atPy(2), atPy(4)] }
            ]
          ]
        }
      },
      {
        id: "C2.defect",
        claim: "a defect reads `internal error` and is logged in the host; an interruption says so",
        programs: {
          typescript: {
            both: "const seen: string[] = []\nfor (const name of ['die', 'interrupt', 'fail']) await tools[name]().catch((e: any) => seen.push(e.message))\nreturn seen"
          },
          python: {
            both: "seen = []\nfor name in ['die', 'interrupt', 'fail']:\n    try:\n        await tools[name]()\n    except ToolError as e:\n        seen.append(str(e))\nreturn seen"
          }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const logged: Array<string> = []
            const logger = Logger.make(({ cause, message }) => void logged.push(`${String(message)} ${String(cause)}`))
            const success = yield* t.runtime
              .run({ program: t.program("both"), bindings: [t.host.tools()] })
              .pipe(Effect.provide(Logger.layer([logger])))
            equal(success.value, ["internal error", "the call was interrupted", "refused"], "messages")
            ensure(logged.length === 1 && /tools\.die/.test(logged[0] ?? ""), "the defect logged, once", logged)
            ensure(/host-secret defect/.test(logged[0] ?? ""), "its cause logged", logged)
          })
      }
    ]
  },
  {
    id: "C3",
    text: "A lossy argument or result rejects that call, and says where; maxBindingBytes caps one argument or result, likewise.",
    cases: [
      {
        id: "C3.lossy-argument",
        claim: "a lossy argument rejects that call only; the host never runs",
        programs: {
          typescript: [
            [
              "const e: any = await tools.count({ list: [1, { at: new Date() }] }).catch((e: any) => e)\nreturn [e.message, await tools.add({ a: 1, b: 1 })]",
              {}
            ],
            [
              "const said = await Promise.all([NaN, -0, [undefined], { f() {} }, 1n, Symbol('s'), new Map(), new (class P {})(), [1, , 2]].map((v: any) => tools.count(v).then(() => 'ran', () => 'refused')))\nreturn said.every((s) => s === 'refused') ? ['list[1].at .list[1].at', 2] : said",
              {}
            ]
          ],
          python: [
            [
              "try:\n    await tools.count({'list': [1, {'at': {1, 2}}]})\nexcept Exception as e:\n    return [str(e), await tools.add(a=1, b=1)]",
              {}
            ]
          ]
        },
        check: (outcome, host) => {
          const [message, sum] = Array.isArray(outcome.value) ? outcome.value : []
          ensure(
            place("list", 1, "at").test(String(message)),
            "the place in the message",
            outcome.value ?? outcome.message
          )
          equal(sum, 2, "a later call")
          equal(host.called("count"), 0, "calls")
        }
      },
      {
        id: "C3.lossy-result",
        claim: "a lossy result of any sort rejects that call only",
        programs: {
          typescript: [
            [
              `const passed: string[] = []\nfor (const kind of ${JSON.stringify(lossyKinds)}) await tools.lossy({ kind }).then(() => passed.push(kind), () => {})\nreturn [passed, await tools.lossy({ kind: 'inside' }).catch((e: any) => e.message)]`,
              {}
            ]
          ],
          python: [
            [
              `passed = []\nfor kind in ${JSON.stringify(lossyKinds)}:\n    try:\n        await tools.lossy(kind=kind)\n        passed.append(kind)\n    except ToolError:\n        pass\ntry:\n    await tools.lossy(kind='inside')\nexcept ToolError as e:\n    return [passed, str(e)]`,
              {}
            ]
          ]
        },
        check: (outcome) => {
          const [passed, message] = Array.isArray(outcome.value) ? outcome.value : []
          equal(passed, [], "lossy results that passed")
          ensure(place("rows", 1, "at").test(String(message)), "the place in the message", message)
        }
      },
      {
        id: "C3.cap",
        claim: "bytes of the JSON in UTF-8: the cap itself passes, one more does not, both ways",
        limits: { maxBindingBytes: 100 },
        programs: {
          typescript: [
            ["return (await tools.echo('x'.repeat(98))).length", { value: 98 }],
            ["return (await tools.text({ n: 98 })).length", { value: 98 }],
            ["return (await tools.text({ n: 49, of: '\\u00e9' })).length", { value: 49 }],
            ["return (await tools.text({ n: 24, of: '\\u{1F600}' })).length", { value: 48 }],
            ["return (await tools.text({ n: 16, of: '\\ud800' })).length", { value: 16 }],
            [
              "return await tools.count('x'.repeat(99))",
              { kind: "exception", message: [/maxBindingBytes/, /\b100\b/, atTs(1)] }
            ],
            ["return await tools.count('\\u00e9'.repeat(50))", { kind: "exception", message: /maxBindingBytes/ }],
            ["return await tools.count('\\n'.repeat(50))", { kind: "exception", message: /maxBindingBytes/ }],
            [
              "return await tools.text({ n: 99 })",
              { kind: "exception", message: [/^ToolError: /, /maxBindingBytes/, /\b100\b/] }
            ],
            ["return await tools.text({ n: 25, of: '\\u{1F600}' })", { kind: "exception", message: /maxBindingBytes/ }],
            ["return await tools.text({ n: 17, of: '\\ud800' })", { kind: "exception", message: /maxBindingBytes/ }],
            [
              "try { await tools.text({ n: 99 }) } catch {}\nreturn (await tools.echo({ 'é': [1.5, null, true] }))['é'].length",
              { value: 3 }
            ]
          ],
          python: [
            ["return len(await tools.echo('x' * 98))", { value: 98 }],
            ["return len(await tools.text(n=98))", { value: 98 }],
            ["return len(await tools.text(n=49, of='\\u00e9'))", { value: 49 }],
            ["return len(await tools.text(n=24, of='\\U0001F600'))", { value: 24 }],
            ["return len(await tools.text(n=16, of='\\ud800'))", { value: 16 }],
            [
              "return await tools.count('x' * 99)",
              { kind: "exception", message: [/maxBindingBytes/, /\b100\b/, atPy(1)] }
            ],
            ["return await tools.count('\\u00e9' * 50)", { kind: "exception", message: /maxBindingBytes/ }],
            ["return await tools.count('\\n' * 50)", { kind: "exception", message: /maxBindingBytes/ }],
            [
              "return await tools.text(n=99)",
              { kind: "exception", message: [/^ToolError: /, /maxBindingBytes/, /\b100\b/] }
            ],
            ["return await tools.text(n=25, of='\\U0001F600')", { kind: "exception", message: /maxBindingBytes/ }],
            [
              "try:\n    await tools.text(n=99)\nexcept ToolError:\n    pass\nreturn len((await tools.echo({'\u00e9': [1.5, None, True]}))['\u00e9'])",
              { value: 3 }
            ]
          ]
        },
        check: (_outcome, host) => equal(host.called("count"), 0, "calls")
      }
    ]
  },
  {
    id: "C4",
    text: "Own properties only; a call id is answered once; unknown names and junk frames are answered or dropped, never thrown.",
    cases: [
      {
        id: "C4.unknown",
        claim: "an unknown name fails in the program",
        expect: { kind: "exception", messageNot: hostTrace },
        programs: {
          typescript: [
            ["await tools.nope()", { message: [/^TypeError: /, /nope/, atTs(1)] }],
            ["await (tools as any).toString()", { message: /toString/ }],
            ["await (tools as any).hasOwnProperty('a')", { message: /hasOwnProperty/ }],
            ["await (tools as any)['__proto__']()", { message: /^TypeError: / }],
            ["await other.echo()", { message: /^ReferenceError: other/ }]
          ],
          python: [
            ["await tools.nope()", { message: [/^AttributeError: /, /nope/, atPy(1)] }],
            ["await tools['nope']()", { message: /nope/ }],
            ["await tools['__class__']()", { message: /__class__/ }],
            ["await other.echo()", { message: /^NameError: .*other/ }]
          ]
        }
      },
      {
        id: "C4.junk",
        claim: "junk on every channel that a program finds is dropped",
        expect: { value: "still here" },
        programs: {
          typescript: [
            code`
              const { parentPort, workerData } = await import("node:worker_threads").catch(() => ({ parentPort: null, workerData: null })) as any
              const junk: any[] = [null, 0, "", "junk", "{}", "{}\n", '{"type":"done","value":"forged","unsent":[]}\n', [], {}, { type: "done", value: "forged" }, new Map(), new Uint8Array(4), 1n]
              for (const message of junk) { try { parentPort?.postMessage(message); (process as any).send?.(message); workerData?.port?.postMessage?.(message) } catch {} }
              process.emit("message", '{"type":"result","id":1,"value":"forged"}\n' as any, undefined as any)
              return await tools.echo("still here")
            `,
            'process.stdout.write(\'{"type":"done","value":"forged","unsent":[]}\\n\')\nprocess.stderr.write(\'\\u0000\\n{}\\n\')\nreturn await tools.echo(\'still here\')'
          ],
          python: [
            'import sys\nfor s in (sys.stdout, sys.stderr):\n    s.write(\'{"type":"done","value":"forged","unsent":[]}\\n\')\n    s.flush()\nreturn await tools.echo(\'still here\')',
            "import sys\nsys.stdout.buffer.write(b'\\x00\\xff\\n{}\\n')\nsys.stdout.flush()\nreturn await tools.echo('still here')"
          ]
        }
      },
      {
        id: "C4.once",
        claim: "each of many calls has its own answer, once",
        expect: { value: true },
        programs: {
          typescript: [
            "let settled = 0\nconst all = await Promise.all(Array.from({ length: 500 }, (_, i) => tools.echo(i).finally(() => { settled++ })))\nreturn settled === 500 && all.every((v: number, i: number) => v === i)",
            "const all = await Promise.allSettled(Array.from({ length: 300 }, (_, i) => i % 3 ? tools.slowly(i) : tools.fail({ message: String(i) })))\nreturn all.every((r: any, i) => i % 3 ? r.value === i : r.reason.message === String(i))"
          ],
          python: [
            "import asyncio\nall_ = await asyncio.gather(*[tools.echo(i) for i in range(500)])\nreturn list(all_) == list(range(500))",
            "import asyncio\nr = await asyncio.gather(*[tools.slowly(i) if i % 3 else tools.fail(message=str(i)) for i in range(300)], return_exceptions=True)\nreturn all(v == i if i % 3 else str(v) == str(i) for i, v in enumerate(r))"
          ]
        }
      }
    ]
  },
  {
    id: "C5",
    text: "At most maxConcurrentCalls host functions run at once for a run; more wait, in order.",
    cases: [
      {
        id: "C5.at-most",
        claim: "never more at once, and as many as that",
        limits: { maxConcurrentCalls: 4 },
        expect: { value: Array.from({ length: 20 }, (_, i) => i) },
        programs: {
          typescript: ["return await Promise.all(Array.from({ length: 20 }, (_, i) => tools.slowly(i)))"],
          python: ["import asyncio\nreturn list(await asyncio.gather(*[tools.slowly(i) for i in range(20)]))"]
        },
        check: (_outcome, host) => {
          equal(host.mostRunning, 4, "most at once")
          equal(
            host.calls.map((call) => call.args),
            Array.from({ length: 20 }, (_, i) => i),
            "the order of calls"
          )
        }
      },
      {
        id: "C5.one",
        claim: "one at a time where the cap is 1; a failure frees its place too",
        limits: { maxConcurrentCalls: 1 },
        expect: { value: [0, "refused", 2, "refused", 4] },
        programs: {
          typescript: [
            "return await Promise.all([0, 1, 2, 3, 4].map((i) => i % 2 ? tools.fail().catch((e: any) => e.message) : tools.slowly(i)))"
          ],
          python: [
            "import asyncio\nasync def one(i):\n    try:\n        return await (tools.fail() if i % 2 else tools.slowly(i))\n    except ToolError as e:\n        return str(e)\nreturn list(await asyncio.gather(*[one(i) for i in range(5)]))"
          ]
        },
        check: (_outcome, host) => {
          equal(host.mostRunning, 1, "most at once")
          equal(
            host.calls.map((call) => call.name),
            ["slowly", "fail", "slowly", "fail", "slowly"],
            "the order"
          )
        }
      },
      {
        id: "C5.held-back",
        claim: "calls that wait are no calls of the host yet, and are reported at the end",
        limits: { maxConcurrentCalls: 2 },
        programs: {
          typescript: [
            [
              "for (let i = 0; i < 5; i++) tools.never({ i }).catch(() => {})\nawait new Promise((r) => setTimeout(r, 30))\nreturn 1",
              { value: 1 }
            ]
          ],
          python: [
            [
              "import asyncio\ntasks = [asyncio.ensure_future(tools.never(i=i)) for i in range(5)]\nawait asyncio.sleep(0.03)\nreturn 1",
              { value: 1 }
            ]
          ]
        },
        check: (outcome, host) => {
          equal(host.called("never"), 2, "calls that reached the host")
          equal(
            outcome.unsettledCalls.map((call) => call.name),
            ["never", "never", "never", "never", "never"],
            "unsettledCalls"
          )
          equal(outcome.usage.calls, 2, "usage.calls")
        }
      },
      {
        id: "C5.others-go-on",
        claim:
          "between calls that follow each other at once timers fire, tasks go on, and what fails unheard ends the run",
        programs: {
          typescript: [
            [
              code`
                let ticks = 0, turns = 0
                const timer = setInterval(() => { ticks++ }, 1)
                const turn = () => { turns++; setImmediate(turn) }
                setImmediate(turn)
                while (ticks < 5 || turns < 5) await tools.count({})
                clearInterval(timer)
                return "both"
              `,
              { value: "both" }
            ],
            [
              code`
                for (let i = 0; i < 300; i++) await tools.count({})
                void Promise.reject(new Error("left behind"))
                for (;;) await tools.count({})
              `,
              { kind: "exception", message: [/left behind/, atTs(2)] }
            ],
            [
              code`
                for (let i = 0; i < 300; i++) await tools.count({})
                process.nextTick(() => { throw new Error("in a tick") })
                for (;;) await tools.count({})
              `,
              { kind: "exception", message: [/in a tick/, atTs(2)] }
            ],
            [
              code`
                let caught = 0
                process.on("uncaughtException", () => { caught++ })
                for (let i = 0; i < 300; i++) {
                  process.nextTick(() => { throw new Error("in a tick") })
                  await tools.count({})
                }
                await new Promise((resolve) => setImmediate(resolve))
                return caught
              `,
              { value: 300 }
            ]
          ],
          python: [
            [
              code`
                import asyncio
                ticks = 0
                async def tick():
                    global ticks
                    while ticks < 5:
                        await asyncio.sleep(0.001)
                        ticks += 1
                task = asyncio.ensure_future(tick())
                while ticks < 5:
                    await tools.count({})
                return "both"
              `,
              { value: "both" }
            ]
          ]
        }
      }
    ]
  },
  {
    id: "C6",
    text: "At settlement open calls are interrupted (Effect) or their signal aborts (Promise), and they are reported; a late reply goes nowhere.",
    cases: [
      {
        id: "C6.interrupted",
        claim:
          "open calls are interrupted, and their finalizers have run, before run returns; they are reported with their lines",
        programs: {
          typescript: [
            [
              "const a = tools.tidy()\na.catch(() => {})\ntools.never({ b: 1 }).catch(() => {})\nawait tools.slowly(1)\nreturn 1",
              { value: 1 }
            ],
            [
              "tools.tidy()\n\ntools.never()\nawait tools.slowly(1)\nthrow new Error('x')",
              { kind: "exception", message: /^Error: x/ }
            ],
            ["tools.tidy()\n\ntools.never()\nawait tools.slowly(1)\nprocess.exit(3)", { kind: "worker-exit" }]
          ],
          python: [
            [
              "import asyncio\na = asyncio.ensure_future(tools.tidy())\nb = asyncio.ensure_future(tools.never(b=1))\nawait tools.slowly(1)\nreturn 1",
              { value: 1 }
            ],
            [
              "import asyncio, sys\na = asyncio.ensure_future(tools.tidy())\nb = asyncio.ensure_future(tools.never())\nawait tools.slowly(1)\nraise ValueError('x')",
              { kind: "exception", message: /^ValueError: x/ }
            ],
            [
              "import asyncio, os\na = asyncio.ensure_future(tools.tidy())\nb = asyncio.ensure_future(tools.never())\nawait tools.slowly(1)\nos._exit(3)",
              { kind: "worker-exit" }
            ]
          ]
        },
        check: (outcome, host) => {
          equal(host.finalized, ["tidy"], "finalizers that ran")
          equal(
            host.calls.filter((call) => call.interrupted).map((call) => call.name),
            ["tidy", "never"],
            "interrupted calls"
          )
          equal(host.running, 0, "calls that still run")
          equal(
            outcome.unsettledCalls.map((call) => [call.global, call.name]),
            [
              ["tools", "tidy"],
              ["tools", "never"]
            ],
            "unsettledCalls"
          )
          ensure(
            outcome.unsettledCalls.every(
              (call) => call.line === (call.name === "tidy" ? outcome.unsettledCalls[0]?.line : 3)
            ),
            "their lines",
            outcome.unsettledCalls
          )
        }
      },
      {
        id: "C6.timeout",
        claim: "after a time-out too",
        limits: { maxWallMs: 300 },
        expect: { kind: "timeout" },
        programs: { typescript: ["await tools.never()"], python: ["await tools.never()"] },
        check: (outcome, host) => {
          ensure(host.calls[0]?.interrupted === true, "the call to be interrupted")
          equal(outcome.unsettledCalls, [{ global: "tools", name: "never", line: 1 }], "unsettledCalls")
        }
      },
      {
        id: "C6.settled-are-not-reported",
        claim: "a call that was answered is not open",
        programs: {
          typescript: [
            ["const p = tools.echo(1)\nawait tools.slowly(1)\nreturn 1", { value: 1 }],
            ["await tools.fail().catch(() => {})\nreturn 1", { value: 1 }]
          ],
          python: [
            ["import asyncio\np = asyncio.ensure_future(tools.echo(1))\nawait tools.slowly(1)\nreturn 1", { value: 1 }],
            ["try:\n    await tools.fail()\nexcept ToolError:\n    pass\nreturn 1", { value: 1 }]
          ]
        },
        check: (outcome) => equal(outcome.unsettledCalls, [], "unsettledCalls")
      },
      {
        id: "C6.signals",
        claim:
          "behind Promises the signal of an open call aborts before run resolves; a late reply or failure goes nowhere",
        programs: {
          typescript: {
            open: "for (const name of ['open', 'late', 'lateFailure']) tools[name]().catch(() => {})\nawait tools.ready()\nreturn 1",
            next: "return 7"
          },
          python: {
            open: "import asyncio\nts = [asyncio.ensure_future(tools[name]()) for name in ['open', 'late', 'lateFailure']]\nawait tools.ready()\nreturn 1",
            next: "return 7"
          }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const promises = yield* t.promises()
            const aborted: Array<string> = []
            const late = Promise.withResolvers<null>()
            const lateFailure = Promise.withResolvers<null>()
            const watch = (name: string, signal: AbortSignal) =>
              signal.addEventListener("abort", () => void aborted.push(name), { once: true })
            let open = 0
            const ready = Promise.withResolvers<null>()
            const opened = () => {
              if (++open === 3) ready.resolve(null)
            }
            const result = yield* Effect.promise(() =>
              promises.run({
                program: t.program("open"),
                bindings: [
                  {
                    global: "tools",
                    functions: {
                      open: (_args, { signal }) => {
                        watch("open", signal)
                        opened()
                        return new Promise((_resolve, reject) =>
                          signal.addEventListener("abort", () => reject(signal.reason))
                        )
                      },
                      late: (_args, { signal }) => {
                        watch("late", signal)
                        opened()
                        return late.promise
                      },
                      lateFailure: (_args, { signal }) => {
                        watch("lateFailure", signal)
                        opened()
                        return lateFailure.promise
                      },
                      ready: () => ready.promise
                    }
                  }
                ]
              })
            )
            equal(result, { value: 1, logs: [] }, "the outcome")
            equal(aborted.toSorted(), ["late", "lateFailure", "open"], "aborted signals")
            late.resolve(null)
            lateFailure.reject(new Error("too late"))
            equal(
              yield* Effect.promise(() => promises.run({ program: t.program("next") })),
              { value: 7, logs: [] },
              "a later run"
            )
          })
      }
    ]
  }
]
