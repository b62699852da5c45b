/** O: logs, the ledger, and what a failure says. */
import * as Effect from "effect/Effect"
import { atPy, atTs, code, ensure, equal, hostTrace, type Rule } from "../Case.ts"

const x = (count: number): string => "x".repeat(count)

export const output: ReadonlyArray<Rule> = [
  {
    id: "O1",
    text: "Every console method works, one entry a call, in order; print likewise, without its last newline; direct stream writes are entries as they were written.",
    cases: [
      {
        id: "O1.console",
        claim: "one entry a call, formatted as Node does",
        programs: {
          typescript: [
            [
              "console.log('a', 1, { b: [1, 2] }, null, undefined, true)\nconsole.info('%s is %d and %j %o', 'x', 5, { a: 1 }, [1])\nconsole.warn('two\\nlines')\nconsole.error(new Map([[1, 'm']]))\nconsole.debug()\nconsole.log('end\\n')",
              { noValue: true }
            ],
            [
              "console.log('%c styled', 'color: red')\nconsole.log(Symbol('s'), 1n, -0, [,1])",
              { logs: [" styled", "Symbol(s) 1n -0 [ <1 empty item>, 1 ]"] }
            ],
            [
              "const { log } = console\nlog('bare');\n[1, 2].forEach((n) => console.log(n))\nPromise.resolve().then(() => console.log('later'))\nawait null\nawait null",
              { logs: ["bare", "1", "2", "later"] }
            ],
            [
              "import { log } from 'node:console'\nimport console2 from 'node:console'\nlog('a'); console2.log('b'); globalThis.console.log('c'); require('console').log('d')",
              { logs: ["a", "b", "c", "d"] }
            ],
            [
              "console.log('\\u001b[31mred\\u001b[0m'); console.log('caf\\u00e9 \\u{1F600}')",
              { logs: ["\u001b[31mred\u001b[0m", "caf\u00e9 \u{1F600}"] }
            ],
            [
              "console.log({ a: { b: { c: { d: 1 } } } })\nconsole.log(new Error('shown').message, class A {}, () => 1)",
              { logs: ["{ a: { b: { c: [Object] } } }", "shown [class A] [Function (anonymous)]"] }
            ]
          ],
          python: [
            [
              "print('a', 1, [1, None], sep='-')\nprint('no end', end='')\nprint()\nprint('two\\nlines')\nprint('kept\\n')\nprint(*[1, 2])",
              { logs: ["a-1-[1, None]", "no end", "", "two\nlines", "kept\n", "1 2"] }
            ],
            [
              "import sys, io\nprint('error', file=sys.stderr)\nprint('elsewhere', file=io.StringIO())\nprint('flushed', flush=True)\nprint('caf\u00e9 \\U0001F600')",
              { logs: ["error", "flushed", "caf\u00e9 \u{1F600}"] }
            ],
            ["print('a', end='!')\nprint('b', end='\\n\\n')\nprint('', end='')\nprint('c')", { text: "a!b\nc" }],
            [
              "p = print\np('bare')\nlist(map(print, [1, 2]))\nimport builtins\nbuiltins.print('again')",
              { logs: ["bare", "1", "2", "again"] }
            ],
            [
              "class A:\n    def __str__(self):\n        return 'shown'\nprint(A(), {1: 'a'}, b'x', 1.5)",
              { logs: ["shown {1: 'a'} b'x' 1.5"] }
            ]
          ]
        },
        check: (outcome) => {
          if (outcome.logs[1]?.startsWith("x is 5")) {
            equal(
              outcome.logs,
              [
                "a 1 { b: [ 1, 2 ] } null undefined true",
                'x is 5 and {"a":1} [ 1, [length]: 1 ]',
                "two\nlines",
                "Map(1) { 1 => 'm' }",
                "",
                "end\n"
              ],
              "logs"
            )
          }
        }
      },
      {
        id: "O1.every-method",
        claim: "table, dir, group, count, time, assert, trace and the rest",
        programs: {
          typescript: [
            [
              code`
                console.table([{ a: 1, b: "x" }, { a: 2 }])
                console.table([[1, 2]], ["0"])
                console.table("not a table")
                console.dir({ a: { b: { c: {} } } }, { depth: 0 })
                console.dirxml({ a: 1 }, [2])
                console.group("outer", 1)
                console.info("inside")
                console.groupCollapsed("inner")
                console.error("two\nlines")
                console.groupEnd()
                console.groupEnd()
                console.groupEnd()
                console.log("outside")
                console.count()
                console.count("c")
                console.countReset()
                console.count()
                console.assert(true, "silent")
                console.assert(false)
                console.assert(0 > 1, "loud %d", 5)
              `,
              {
                logs: [
                  "\u250c\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u252c\u2500\u2500\u2500\u252c\u2500\u2500\u2500\u2500\u2500\u2510\n\u2502 (index) \u2502 a \u2502 b   \u2502\n\u251c\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u253c\u2500\u2500\u2500\u253c\u2500\u2500\u2500\u2500\u2500\u2524\n\u2502 0       \u2502 1 \u2502 'x' \u2502\n\u2502 1       \u2502 2 \u2502     \u2502\n\u2514\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2534\u2500\u2500\u2500\u2534\u2500\u2500\u2500\u2500\u2500\u2518",
                  "\u250c\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u252c\u2500\u2500\u2500\u2510\n\u2502 (index) \u2502 0 \u2502\n\u251c\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u253c\u2500\u2500\u2500\u2524\n\u2502 0       \u2502 1 \u2502\n\u2514\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2534\u2500\u2500\u2500\u2518",
                  "not a table",
                  "{ a: [Object] }",
                  "{ a: 1 } [ 2 ]",
                  "outer 1",
                  "  inside",
                  "  inner",
                  "    two\n    lines",
                  "outside",
                  "default: 1",
                  "c: 1",
                  "default: 1",
                  "Assertion failed",
                  "Assertion failed: loud 5"
                ]
              }
            ],
            [
              "console.time('t'); console.timeLog('t', 'at', 1); console.timeEnd('t'); console.time(); console.timeEnd()",
              {}
            ],
            ["console.trace('here %d', 1)", {}],
            [
              "for (const name of ['profile', 'profileEnd', 'timeStamp']) (console as any)[name]?.('x')\nreturn Object.keys(console).filter((key) => typeof (console as any)[key] === 'function').length > 15",
              { value: true, logs: [] }
            ],
            ["console.clear(); console.log('after')", { logs: ["after"] }],
            ["console.timeEnd('never'); console.countReset('never'); console.time('x'); console.time('x')", {}],
            [
              "class Own extends console.Console {}\nconst c = new Own(process.stdout, process.stderr)\nc.log('own'); c.error('err')",
              { text: "own\nerr\n" }
            ]
          ]
        },
        check: (outcome) => {
          const [first] = outcome.logs
          if (first?.startsWith("t:")) {
            equal(outcome.logs.length, 3, "timers")
            ensure(/^t: [\d.:]+ ?\S+ at 1$/.test(first), "a time with words", first)
            ensure(/^default: [\d.:]+ ?\S+$/.test(outcome.logs[2] ?? ""), "a time", outcome.logs[2])
          }
          if (first?.startsWith("Trace")) {
            ensure(/^Trace: here 1\n\s+at .*program\.ts:1/.test(first), "a trace of the program", first)
            ensure(!/file:|guest/.test(first), "no path of the host", first)
          }
        }
      },
      {
        id: "O1.streams",
        claim: "direct stream writes are entries as they were written, text and bytes, across borders of chunks",
        programs: {
          typescript: [
            [
              "process.stdout.write('one '); process.stdout.write(new Uint8Array([104, 105])); process.stderr.write(Buffer.from('!\\n')); process.stdout.write('last\\n')",
              { logs: ["one ", "hi", "!\n", "last\n"] }
            ],
            [
              "const b = Buffer.from('caf\\u00e9\\u{1F600}')\nfor (const byte of b) { process.stdout.write(Buffer.from([byte])); await new Promise((r) => setTimeout(r, 2)) }",
              { text: "caf\u00e9\u{1F600}" }
            ],
            [
              "process.stdout.write('6869', 'hex'); process.stdout.write('4pyT', 'base64'); process.stdout.write('\\u00e9', 'latin1')",
              { text: "hi\u2713\ufffd" }
            ],
            [
              "await new Promise<void>((r) => process.stdout.write('a', () => r()))\nprocess.stdout.end('b')\nconsole.log('c')",
              { text: "abc" }
            ],
            [
              "import { pipeline } from 'node:stream/promises'\nimport { Readable } from 'node:stream'\nawait pipeline(Readable.from(['p', 'q']), process.stdout, { end: false })\nreturn 1",
              { value: 1, text: "pq" }
            ],
            [
              "const ok = process.stdout.write('')\nprocess.stdout.cork?.(); process.stdout.write('x'); process.stdout.uncork?.()\nreturn [ok, process.stdout.isTTY ?? false]",
              { value: [true, false], text: "x" }
            ],
            ["process.stdout.write(Buffer.from([0xff, 0x41]))", { text: "\ufffdA" }]
          ],
          python: [
            [
              "import sys\nsys.stdout.write('one ')\nsys.stdout.flush()\nsys.stdout.buffer.write(b'hi')\nsys.stdout.flush()\nsys.stderr.write('!\\n')\nsys.stdout.write('last\\n')",
              { text: "one hi!\nlast\n" }
            ],
            [
              "import sys, asyncio\nfor byte in 'caf\u00e9\\U0001F600'.encode():\n    sys.stdout.buffer.write(bytes([byte]))\n    sys.stdout.flush()\n    await asyncio.sleep(0.002)",
              { text: "caf\u00e9\u{1F600}" }
            ],
            ["import sys\nsys.stdout.writelines(['a', 'b'])\nprint('c')\nsys.stdout.write('d')", { text: "abcd" }],
            [
              "import sys\nn = sys.stdout.write('abc')\nreturn [n, sys.stdout.isatty(), sys.stdout.encoding.lower().replace('-', '')]",
              { value: [3, false, "utf8"], text: "abc" }
            ],
            ["import sys\nsys.stdout.buffer.write(b'\\xffA')\nsys.stdout.flush()", { text: "\ufffdA" }],
            [
              "import contextlib, io\nout = io.StringIO()\nwith contextlib.redirect_stdout(out):\n    print('caught')\nprint('free')\nreturn out.getvalue()",
              { value: "caught\n", logs: ["free"] }
            ],
            [
              "import logging\nlogging.basicConfig(format='%(message)s')\nlogging.warning('warned')",
              { text: "warned\n" }
            ],
            ["import warnings\nwarnings.warn('careful')\nreturn 1", { value: 1 }],
            [
              "import traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.print_exc()\nreturn 1",
              { value: 1 }
            ]
          ]
        }
      }
    ]
  },
  {
    id: "O2",
    text: "Each channel keeps its order; logs up to the moment of death are kept.",
    cases: [
      {
        id: "O2.order",
        claim: "hundreds of entries in order, calls among them",
        programs: {
          typescript: [
            [
              "for (let i = 0; i < 300; i++) { console.log(i); if (i % 100 === 0) await tools.echo(i) }\nprocess.stdout.write('end')",
              { logs: [...Array.from({ length: 300 }, (_, i) => String(i)), "end"] }
            ]
          ],
          python: [
            [
              "import sys\nfor i in range(300):\n    print(i)\n    if i % 100 == 0:\n        await tools.echo(i)\nsys.stdout.write('end')",
              { text: [...Array.from({ length: 300 }, (_, i) => String(i)), "end"].join("") }
            ]
          ]
        }
      },
      {
        id: "O2.time-out",
        claim: "kept after both time-outs",
        limits: { computeMs: 250, maxWallMs: 8000 },
        expect: { kind: "timeout", logs: ["a", "b", "c"] },
        programs: {
          typescript: [
            "console.log('a'); console.error('b'); console.log('c'); for (;;) {}",
            "console.log('a'); await tools.echo(1); console.error('b'); console.log('c'); while (true) await null"
          ],
          python: [
            "import sys\nprint('a')\nprint('b', file=sys.stderr)\nprint('c')\nwhile True:\n    pass",
            "import sys\nprint('a')\nawait tools.echo(1)\nprint('b', file=sys.stderr)\nprint('c', end='')\nwhile True:\n    pass"
          ]
        }
      },
      {
        id: "O2.death",
        claim: "kept after an exit, a crash and an exception, to the last one",
        programs: {
          typescript: [
            [
              "for (let i = 0; i < 500; i++) console.log(i)\nprocess.exit(0)",
              { kind: "worker-exit", logs: Array.from({ length: 500 }, (_, i) => String(i)) }
            ],
            [
              "console.log('a'); process.stdout.write('b'); process.reallyExit ? (process as any).reallyExit(4) : process.exit(4)",
              { kind: "worker-exit", text: "ab" }
            ],
            [
              "console.log('a'); await null; console.log('b'); throw new Error('x')",
              { kind: "exception", logs: ["a", "b"] }
            ],
            [
              "setTimeout(() => { console.log('b'); throw new Error('x') }, 5); console.log('a'); await tools.never()",
              { kind: "exception", logs: ["a", "b"] }
            ],
            [
              "process.on('exit', () => console.log('last')); console.log('a'); process.exit(1)",
              { kind: "worker-exit", logs: ["a", "last"] }
            ],
            ["console.log('a'); return NaN", { kind: "invalid-output", logs: ["a"] }]
          ],
          python: [
            [
              "import os\nfor i in range(500):\n    print(i)\nos._exit(0)",
              { kind: "worker-exit", logs: Array.from({ length: 500 }, (_, i) => String(i)) }
            ],
            ["import os\nprint('a')\nprint('b', end='')\nos._exit(4)", { kind: "worker-exit", text: "ab" }],
            [
              "import asyncio\nprint('a')\nawait asyncio.sleep(0)\nprint('b')\nraise ValueError('x')",
              { kind: "exception", logs: ["a", "b"] }
            ],
            ["import sys\nsys.stdout.write('a')\nsys.exit(1)", { kind: "worker-exit", text: "a" }],
            ["import atexit, sys\nprint('a')\nsys.exit(1)", { kind: "worker-exit", logs: ["a"] }],
            ["print('a')\nreturn float('nan')", { kind: "invalid-output", logs: ["a"] }]
          ]
        }
      },
      {
        id: "O2.abort",
        claim: "kept after an abort",
        programs: {
          typescript: { loop: "console.log('a'); tools.never(); await tools.echo(1); for (;;) {}" },
          python: {
            loop: "import asyncio\nprint('a')\nt = asyncio.ensure_future(tools.never())\nawait tools.echo(1)\nwhile True:\n    pass"
          }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const controller = new AbortController()
            yield* Effect.forkScoped(
              Effect.andThen(
                t.host.arrived("echo"),
                Effect.sync(() => controller.abort(new Error("enough")))
              )
            )
            const outcome = yield* t.run({
              program: t.program("loop"),
              bindings: [t.host.tools()],
              signal: controller.signal
            })
            yield* t.expect(outcome, { kind: "abort", message: "enough", logs: ["a"] })
          })
      }
    ]
  },
  {
    id: "O3",
    text: "Nothing that a program prints reaches the host's own stdout or stderr, or can be taken for a frame.",
    cases: [
      {
        id: "O3.captured",
        claim: "what goes through the language's streams is logs, whatever it says",
        expect: { value: "real" },
        programs: {
          typescript: [
            [
              'const forged = \'{"type":"done","value":"forged","unsent":[]}\\n\'\nprocess.stdout.write(forged); process.stderr.write(forged); console.log(forged.trim())\nreturn \'real\'',
              {
                logs: [
                  '{"type":"done","value":"forged","unsent":[]}\n',
                  '{"type":"done","value":"forged","unsent":[]}\n',
                  '{"type":"done","value":"forged","unsent":[]}'
                ]
              }
            ],
            [
              "process.emitWarning('careful')\nawait new Promise((r) => setTimeout(r, 5))\nreturn 'real'",
              { text: "Warning: careful" }
            ],
            ["(process as any)._rawDebug('raw')\nreturn 'real'", { text: "raw" }],
            ["new Buffer(1)\nawait new Promise((r) => setTimeout(r, 5))\nreturn 'real'", {}],
            [
              "for (let i = 0; i < 12; i++) process.on('SIGUSR2', () => {})\nawait new Promise((r) => setTimeout(r, 5))\nreturn 'real'",
              {}
            ],
            [
              "import { Worker } from 'node:worker_threads'\nawait new Promise((r) => new Worker('console.log(\"from a thread\"); process.stderr.write(\"x\")', { eval: true }).on('exit', r).on('error', r))\nreturn 'real'",
              {}
            ]
          ],
          python: [
            [
              'import sys\nforged = \'{"type":"done","value":"forged","unsent":[]}\\n\'\nsys.stdout.write(forged)\nsys.stderr.write(forged)\nreturn \'real\'',
              { text: '{"type":"done","value":"forged","unsent":[]}\n'.repeat(2) }
            ],
            [
              "import threading\nt = threading.Thread(target=lambda: print('from a thread'))\nt.start()\nt.join()\nreturn 'real'",
              { logs: ["from a thread"] }
            ],
            ["import sys\nsys.__stdout__.write('below')\nsys.__stdout__.flush()\nreturn 'real'", { text: "below" }]
          ]
        }
      },
      {
        id: "O3.below",
        claim: "bytes written to the descriptors below the capture are logs, never frames",
        expect: { value: "real" },
        programs: {
          typescript: [
            "const fs = await import('node:fs')\nfs.writeSync(1, '{\"type\":\"overflow\",\"unsent\":[]}\\n')\nfs.writeSync(2, 'err\\n')\nreturn 'real'"
          ],
          python: [
            "import os\nos.write(1, b'{\"type\":\"overflow\",\"unsent\":[]}\\n')\nos.write(2, b'err\\n')\nreturn 'real'"
          ]
        },
        check: (outcome) => {
          const text = outcome.logs.join("")
          ensure(
            text.includes('{"type":"overflow","unsent":[]}') && text.includes("err"),
            "both among the logs",
            outcome.logs
          )
        }
      }
    ]
  },
  {
    id: "O4",
    text: "The ledger counts the UTF-8 bytes of the JSON of logs plus that of the value or message; at the cap the exact value returns, one byte over is output-limit, with the prefix of the logs that fits.",
    cases: [
      {
        id: "O4.border",
        claim: "the cap itself passes, one byte more does not: values, messages, logs",
        limits: { maxOutputBytes: 100 },
        programs: {
          typescript: [
            ["return 'x'.repeat(96)", { value: x(96) }],
            ["return 'x'.repeat(97)", { kind: "output-limit", message: /maxOutputBytes.*\b100\b/ }],
            ["console.log('l'); return 'x'.repeat(93)", { value: x(93), logs: ["l"] }],
            ["console.log('l'); return 'x'.repeat(94)", { kind: "output-limit" }],
            ["console.log('l'); console.log(''); return 'x'.repeat(90)", { value: x(90), logs: ["l", ""] }],
            ["console.log('l'); console.log(''); return 'x'.repeat(91)", { kind: "output-limit" }],
            ["throw 'x'.repeat(96)", { kind: "exception", message: new RegExp(`^x{96}$`) }],
            ["throw 'x'.repeat(97)", { kind: "output-limit" }],
            ["console.log('x'.repeat(96))", { noValue: true, logs: [x(96)] }],
            ["console.log('x'.repeat(97))", { kind: "output-limit" }],
            ["return Array(24).fill(123)", { value: Array.from({ length: 24 }, () => 123) }],
            ["return { a: 'x'.repeat(97) }", { kind: "output-limit" }],
            ["return '\\u00e9'.repeat(48)", { value: "\u00e9".repeat(48) }],
            ["return '\\u00e9'.repeat(48) + 'x'", { kind: "output-limit" }],
            ["return '\\ud800'.repeat(16)", { value: "\ud800".repeat(16) }],
            ["return '\\ud800'.repeat(16) + 'x'", { kind: "output-limit" }],
            ["return '\"'.repeat(48)", { value: '"'.repeat(48) }],
            ["return '\"'.repeat(48) + 'x'", { kind: "output-limit" }],
            ["return '\\u0001'.repeat(16)", { value: "\u0001".repeat(16) }],
            ["return '\\u2028'.repeat(32)", { value: "\u2028".repeat(32) }],
            ["return '\\u2028'.repeat(32) + 'x'", { kind: "output-limit" }],
            ["return Array(9).fill(1e20).slice(0, 4)", { value: [1e20, 1e20, 1e20, 1e20] }],
            ["return Array(5).fill(1e20)", { kind: "output-limit" }]
          ],
          python: [
            ["return 'x' * 96", { value: x(96) }],
            ["return 'x' * 97", { kind: "output-limit", message: /maxOutputBytes.*\b100\b/ }],
            ["print('l')\nreturn 'x' * 93", { value: x(93), logs: ["l"] }],
            ["print('l')\nreturn 'x' * 94", { kind: "output-limit" }],
            ["print('l')\nprint()\nreturn 'x' * 90", { value: x(90), logs: ["l", ""] }],
            ["print('l')\nprint()\nreturn 'x' * 91", { kind: "output-limit" }],
            ["print('x' * 96)", { noValue: true, logs: [x(96)] }],
            ["print('x' * 97)", { kind: "output-limit" }],
            ["return [123] * 24", { value: Array.from({ length: 24 }, () => 123) }],
            ["return {'a': 'x' * 97}", { kind: "output-limit" }],
            ["return '\\u00e9' * 48", { value: "\u00e9".repeat(48) }],
            ["return '\\u00e9' * 48 + 'x'", { kind: "output-limit" }],
            ["return '\\ud800' * 16", { value: "\ud800".repeat(16) }],
            ["return '\\ud800' * 16 + 'x'", { kind: "output-limit" }],
            ["return '\"' * 48", { value: '"'.repeat(48) }],
            ["return '\"' * 48 + 'x'", { kind: "output-limit" }],
            ["return '\\u0001' * 16", { value: "\u0001".repeat(16) }],
            ["return '\\u2028' * 32", { value: "\u2028".repeat(32) }],
            ["return '\\u2028' * 32 + 'x'", { kind: "output-limit" }],
            ["return [1.0] * 48", { value: Array.from({ length: 48 }, () => 1) }],
            ["return [1e20] * 4", { value: [1e20, 1e20, 1e20, 1e20] }],
            ["return [1e20] * 5", { kind: "output-limit" }]
          ]
        }
      },
      {
        id: "O4.prefix",
        claim: "over the cap: the prefix of the logs that fits, and the whole outcome within the cap",
        limits: { maxOutputBytes: 1000 },
        expect: { kind: "output-limit" },
        programs: {
          typescript: [
            "for (let i = 0; i < 200; i++) console.log('line ' + String(i).padStart(3, '0') + '.'.repeat(20))\nreturn 1",
            "for (let i = 0; i < 20; i++) console.log('line ' + String(i).padStart(3, '0') + '.'.repeat(20))\nreturn 'x'.repeat(700)",
            "for (let i = 0; i < 20; i++) console.log('line ' + String(i).padStart(3, '0') + '.'.repeat(20))\nthrow new Error('x'.repeat(900))",
            "for (let i = 0; ; i++) console.log('line ' + String(i).padStart(3, '0') + '.'.repeat(20))"
          ],
          python: [
            "for i in range(200):\n    print(f'line {i:03}' + '.' * 20)\nreturn 1",
            "for i in range(20):\n    print(f'line {i:03}' + '.' * 20)\nreturn 'x' * 700",
            "for i in range(20):\n    print(f'line {i:03}' + '.' * 20)\nraise ValueError('x' * 900)",
            "i = 0\nwhile True:\n    print(f'line {i:03}' + '.' * 20)\n    i += 1"
          ]
        },
        check: (outcome) => {
          outcome.logs.forEach((entry, i) => {
            const whole = `line ${String(i).padStart(3, "0")}${".".repeat(20)}`
            ensure(
              entry === whole || (i === outcome.logs.length - 1 && whole.startsWith(entry)),
              `the beginning of ${whole}`,
              entry
            )
          })
          ensure(outcome.logs.length > 15, "as many as fit", outcome.logs.length)
        }
      },
      {
        id: "O4.smallest",
        claim: "the smallest cap there may be",
        limits: { maxOutputBytes: 4 },
        programs: {
          typescript: [
            ["return 12", { value: 12 }],
            ["return ''", { value: "" }],
            ["return 123", { kind: "output-limit" }],
            ["", { noValue: true }],
            ["console.log('')", { noValue: true, logs: [""] }],
            ["console.log('x')", { kind: "output-limit" }],
            ["throw new Error('long')", { kind: "output-limit" }],
            ["process.exit(3)", { kind: "worker-exit" }]
          ],
          python: [
            ["return 12", { value: 12 }],
            ["return ''", { value: "" }],
            ["return 123", { kind: "output-limit" }],
            ["", { noValue: true }],
            ["print('')", { noValue: true, logs: [""] }],
            ["print('x')", { kind: "output-limit" }],
            ["raise ValueError('long')", { kind: "output-limit" }],
            ["import os\nos._exit(3)", { kind: "worker-exit" }]
          ]
        }
      }
    ]
  },
  {
    id: "O5",
    text: "An exception's message starts with `Name: message`, then the program's own frames, with a code frame of the line; no host path, no guest-internal frame; a thrown string is that string.",
    cases: [
      {
        id: "O5.frames",
        claim: "name and message first, then the program's own frames, innermost first, with a code frame",
        expect: { kind: "exception", messageNot: hostTrace },
        programs: {
          typescript: [
            [
              "interface Row { a: number }\nfunction inner(row: Row): never {\n  throw new RangeError('too far')\n}\n\n[{ a: 1 }].map((row: Row) => inner(row))",
              {
                message: [
                  /^RangeError: too far\n\s+at .*program\.ts:3:9/,
                  atTs(6, 30),
                  /throw new RangeError\('too far'\)/
                ]
              }
            ],
            [
              "enum E { A }\nnamespace N { export const n = 1 }\nclass C { constructor(private x: number, public y = 2) {} m(): never { throw new TypeError('m') } }\nawait null\nnew C(1).m()",
              { message: [/^TypeError: m\n/, atTs(3, 78), atTs(5, 10)] }
            ],
            [
              "const f = async () => {\n  await tools.slowly(1)\n  const nothing: any = undefined\n  return nothing.field\n}\nawait f()",
              { message: [/^TypeError: .*undefined/, atTs(4, 18), atTs(6)] }
            ],
            ["null!.x", { message: [/^TypeError: /, atTs(1, 7)] }],
            ["missing()", { message: [/^ReferenceError: missing is not defined\n/, atTs(1, 1)] }],
            ["#! node\nthrow new Error('third')", { message: [/^Error: third\n/, atTs(2, 7)] }],
            ["\uFEFFthrow new Error('bom')", { message: [/^Error: bom\n/, /program\.ts:1:[78](?!\d)/] }],
            ["const a = 1\r\nconst b = 2\r\nthrow new Error('crlf')\r\n", { message: [/^Error: crlf\n/, atTs(3, 7)] }],
            ["import { readFileSync } from 'node:fs'\nreadFileSync('')", { message: [/^Error: ENOENT/, atTs(2)] }],
            ["JSON.parse('{')", { message: [/^SyntaxError: /, atTs(1, 6)] }],
            [
              "function f(n: number): number { return f(n + 1) }\nf(0)",
              { message: [/^RangeError: Maximum call stack/, atTs(1)] }
            ],
            ["await Promise.reject(new Error('rejected'))", { message: [/^Error: rejected\n/, atTs(1, 22)] }]
          ],
          python: [
            [
              "def inner(row):\n    # far\n    raise IndexError('too far')\n\n[inner(row) for row in [1]]",
              { message: [/^IndexError: too far\n/, atPy(3), atPy(5), /raise IndexError\('too far'\)/] }
            ],
            [
              "async def f():\n    await tools.slowly(1)\n    nothing = None\n    return nothing.field\n\nawait f()",
              { message: [/^AttributeError: .*field/, atPy(4), atPy(6)] }
            ],
            ["None.x", { message: [/^AttributeError: /, atPy(1)] }],
            ["x = 1\nmissing()", { message: [/^NameError: name 'missing' is not defined/, atPy(2)] }],
            ["\uFEFFraise ValueError('bom')", { message: [/^ValueError: bom\n/, atPy(1)] }],
            ["a = 1\r\nb = 2\r\nraise ValueError('crlf')\r\n", { message: [/^ValueError: crlf\n/, atPy(3)] }],
            ["import json\njson.loads('{')", { message: [/^(?:json\.decoder\.)?JSONDecodeError: /, atPy(2)] }],
            ["def f(n):\n    return f(n + 1)\nf(0)", { message: [/^RecursionError: /, atPy(2)] }],
            [
              "class A:\n    def __getattr__(self, k):\n        raise KeyError(k)\nA().x",
              { message: [/^KeyError: 'x'\n/, atPy(3), atPy(4)] }
            ],
            [
              "import asyncio\nasync def f():\n    raise ValueError('in a task')\nawait asyncio.gather(f(), tools.slowly(1))",
              { message: [/^ValueError: in a task\n/, atPy(3)] }
            ]
          ]
        }
      },
      {
        id: "O5.own-errors",
        claim: "the name and the message that it has when it is thrown; a thrown string is that string",
        expect: { kind: "exception", messageNot: hostTrace },
        programs: {
          typescript: [
            ["class Bad extends Error { name = 'Worse' }\nthrow new Bad('mine')", { message: /^Worse: mine\n/ }],
            ["class Bad extends Error {}\nthrow new Bad('mine')", { message: /^(?:Bad|Error): mine\n/ }],
            [
              "const e = new Error('first'); e.message = 'second'; e.name = 'Third'; throw e",
              { message: /^Third: second\n/ }
            ],
            ["throw 'only words'", { message: /^only words$/ }],
            ["throw 'two\\nlines'", { message: /^two\nlines$/ }],
            ["throw ''", { message: /^$/ }],
            ["throw 42", { message: /^42$/ }],
            ["throw null", { message: /^null$/ }],
            ["throw undefined", { message: /^undefined$/ }],
            ["throw { code: 5, why: 'plain' }", { message: [/code: 5/, /plain/] }],
            ["throw Symbol('s')", { message: /Symbol\(s\)/ }],
            ["throw new Error('')", { message: /^Error\n/ }],
            [
              "throw new Error('outer', { cause: new TypeError('inner') })",
              { message: [/^Error: outer\n/, /TypeError: inner/] }
            ],
            [
              "throw new AggregateError([new Error('one'), new Error('two')], 'all')",
              { message: [/^AggregateError: all\n/, /one/, /two/] }
            ],
            ["throw new (class extends DOMException {})('gone', 'AbortError')", { message: /^AbortError: gone/ }],
            ["throw Object.assign(new Error('x'), { stack: undefined })", { message: /^Error: x/ }],
            [
              "const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { throw 1 } }); throw e",
              { message: /^Error: x/ }
            ],
            ["throw new Proxy(new Error('behind'), {})", { anyEnd: true }],
            ["throw Object.freeze(new Error('frozen'))", { message: /^Error: frozen\n/ }]
          ],
          python: [
            ["class Bad(Exception):\n    pass\nraise Bad('mine')", { message: /^Bad: mine\n/ }],
            ["raise KeyError('k')", { message: /^KeyError: 'k'\n/ }],
            ["raise ValueError", { message: /^ValueError\n/ }],
            ["raise ValueError()", { message: /^ValueError\n/ }],
            ["raise ValueError('two\\nlines')", { message: /^ValueError: two\nlines\n/ }],
            [
              "class Bad(Exception):\n    def __str__(self):\n        return 'own words'\nraise Bad(1, 2)",
              { message: /^Bad: own words\n/ }
            ],
            [
              "class Bad(Exception):\n    def __str__(self):\n        raise ValueError('worse')\nraise Bad()",
              { message: /^Bad/ }
            ],
            [
              "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('outer') from e",
              { message: [/^ValueError: outer\n/, /ZeroDivisionError: division by zero/] }
            ],
            [
              "raise ExceptionGroup('all', [ValueError('one'), TypeError('two')])",
              { message: [/^ExceptionGroup: all/, /one/, /two/] }
            ],
            ["e = ValueError('x')\ne.add_note('a note')\nraise e", { message: [/^ValueError: x\n/, /a note/] }],
            ["raise 'text'", { message: /^TypeError: / }],
            ["raise BaseException('base')", { message: /^BaseException: base/ }],
            ["raise KeyboardInterrupt('k')", { message: /^KeyboardInterrupt/ }],
            ["import asyncio\nraise asyncio.CancelledError('c')", { message: /^CancelledError/ }],
            ["raise StopIteration(1)", { message: /^(?:StopIteration|RuntimeError)/ }],
            ["raise GeneratorExit()", { message: /^(?:GeneratorExit|RuntimeError)/ }]
          ]
        }
      },
      {
        id: "O5.syntax",
        claim: "what does not parse says where, with the line",
        expect: { kind: "exception", messageNot: hostTrace },
        programs: {
          typescript: [
            ["const a = 1\nconst b = \nreturn a +", { message: [/^SyntaxError: /, /program\.ts:[23]/] }],
            ["const a: number = 1\nconst b: = 2", { message: [/^SyntaxError: /, atTs(2), /const b: = 2/] }],
            ["return '", { message: [/^SyntaxError: /, atTs(1)] }],
            ["let a = 1\nlet b = 2\nlet a = 3", { message: [/^SyntaxError: .*\ba\b/, atTs(3)] }],
            ["if (true) {\n  return 1", { message: [/^SyntaxError: /, /program\.ts:2/] }]
          ],
          python: [
            ["a = 1\nb = = 2", { message: [/^SyntaxError: /, atPy(2), /b = = 2/] }],
            ["if True:\n    x = 1\n  y = 2", { message: [/^IndentationError: /, atPy(3)] }],
            ["return '", { message: [/^SyntaxError: /, atPy(1)] }],
            ["def f():\n    x = 1\n    nonlocal x", { message: [/^SyntaxError: /, atPy(3)] }],
            ["f(1,\n  2", { message: [/^SyntaxError: .*never closed/, atPy(1)] }],
            ["if True:\n\tx = 1\n        y = 2", { message: /^TabError: / }]
          ]
        }
      },
      {
        id: "O5.kinds",
        claim: "a failure tells its line and column beside its message",
        programs: {
          typescript: { bad: "const a = 1\n  throw new Error('x')" },
          python: { bad: "a = 1\nraise ValueError('x')" }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const outcome = yield* t.run(t.program("bad"))
            ensure(outcome.reason?._tag === "Exception", "an Exception", outcome.reason?._tag)
            equal(outcome.reason.line, 2, "the line")
            ensure(
              outcome.reason.column === undefined || outcome.reason.column >= 1,
              "a column from 1",
              outcome.reason.column
            )
          })
      }
    ]
  }
]
