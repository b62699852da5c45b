/**
 * The Python guest by the rules of its language: how programs are read, what crosses, what is said, how runs end.
 *
 * Each version of CPython on this machine runs all of it; one is enough.
 */
import { describe, expect, test } from "vitest"
import { interpreters, run, without, type Drive, type Outcome } from "./GuestProcess.ts"

/** What a program comes to: its value, `nothing`, or the message that ends it. */
const nothing = Symbol("no value")

const verdict = ({ code, end }: Outcome): unknown => {
  if (end === undefined) return `exit ${code}`
  if (end.type === "done") return "value" in end ? end.value : nothing
  return end.type === "overflow" ? "overflow" : end.message
}

const framesOf = ({ end }: Outcome): ReadonlyArray<unknown> => (Array.isArray(end?.frames) ? end.frames : [])

const place = (frame: unknown, name: string): unknown =>
  typeof frame === "object" && frame !== null ? Reflect.get(frame, name) : undefined

type Case = readonly [name: string, program: string, expected: unknown, drive?: Drive]

const values: ReadonlyArray<Case> = [
  ["await and return", "x = await tools.add({'a': 1, 'b': 2})\nreturn [x, await tools.echo()]", [3, {}]],
  ["a bare last expression", "1 + 1", nothing],
  ["an empty program", "", nothing],
  ["a byte-order mark and CRLF", "\uFEFFa = 1\r\nif a:\r\n    return 'x\\\r\ny'", "xy"],
  ["return None", "try:\n    return (None)\nfinally:\n    pass", null],
  ["return of a call that gives None", "def f():\n    return\nreturn f()", null],
  ["a bare return", "if True:\n    return\nreturn 1", nothing],
  ["a return of a tuple", "return 1, 2", "value is a tuple; return list(x)"],
  ["nonlocal of a top-level name", "n = 0\ndef f():\n    nonlocal n\n    n += 1\nf()\nreturn n", 1],
  [
    "global in an inner function",
    "n: int = 1\ndef f():\n    global n\n    n += 1\nf()\nreturn [n, globals()['n']]",
    [2, 2]
  ],
  [
    "the body's own scope",
    "x = 1\nclass A:\n    y = [x + i for i in range(2)]\nreturn [A.y, 'x' in locals()]",
    [[1, 2], true]
  ],
  ["an injected name bound later", "x = await tools.add(a=1, b=1)\ntools = x\nreturn tools", 2],
  ["a builtin bound later", "max = max([1, 2])\nreturn max", 2],
  [
    "names of classes and functions",
    "class A:\n    def f(self): pass\nreturn [repr(A), A.f.__qualname__]",
    ["<class '__main__.A'>", "A.f"]
  ],
  ["pickle finds a class of the program", "import pickle\nclass A: x = 3\nreturn pickle.loads(pickle.dumps(A())).x", 3],
  [
    "inspect finds the source",
    "import inspect\ndef f():\n    return 1\nreturn inspect.getsource(f)",
    "def f():\n    return 1\n"
  ],
  ["import *", "from math import *\ne = e + 1\nreturn [floor(2.5), e > 3]", [2, true]],
  [
    "import * beside nonlocal",
    "from math import *\nn = 1\ndef f():\n    nonlocal n\n    n = floor(5.5)\nf()\nreturn n",
    5
  ],
  [
    "from __future__",
    "'''doc'''\nfrom __future__ import annotations\nclass A:\n    x: Nowhere\nreturn [__doc__, A.__annotations__]",
    ["doc", { x: "Nowhere" }]
  ],
  ["a fence", "\n```python\nreturn 1\n```\n", 1],
  ["a fence of tildes around a function", "~~~\nasync def main():\n    return 2\n~~~", 2],
  ["a fence inside a string of a fence", '````\nreturn """\n```\n"""\n````', "\n```\n"],
  ["a lambda", "(lambda: tools.add(a=1, b=2))", 3],
  ["an uncalled main", "import re\nP = re.compile('a')\ndef main():\n    return P.match('a').group()", "a"],
  ["a main that is a lambda", "main = lambda: 7", 7],
  ["a main that returns nothing", "async def main():\n    print('x')", nothing],
  ["a main that returns None", "async def main():\n    return None", null],
  ["a main that is used", "def main():\n    return 1\nf = main", nothing],
  ["a main beside a statement", "def main():\n    return 1\nprint('x')", nothing],
  [
    "asyncio.run at the top",
    "import asyncio\nasync def f():\n    return await asyncio.gather(tools.echo(1), tools.echo(2))\nreturn asyncio.run(f())",
    [1, 2]
  ],
  [
    "a loop that already runs",
    "import asyncio\nasync def f():\n    return 3\nreturn asyncio.get_event_loop().run_until_complete(f())",
    3
  ],
  [
    "asyncio imported under way",
    "x = await tools.add(a=1, b=1)\nm = __import__('async' 'io')\nreturn [x, *await m.gather(tools.echo(1), tools.slow(ms=5))]",
    [2, 1, "slept"]
  ],
  [
    "names by index",
    "return [await tools[n](n) for n in ['odd name', 'then', '__class__']]",
    ["odd name", "then", "__class__"]
  ],
  [
    "an unknown name",
    "try:\n    tools.nope\nexcept AttributeError as e:\n    return ['nope' in str(e), hasattr(tools, 'keys')]",
    [true, false]
  ],
  [
    "an error of a call",
    "try:\n    await tools.fail(message='m')\nexcept ToolError as e:\n    return [str(e), e.tool, e.__cause__]",
    ["m", "fail", null]
  ],
  [
    "an error without a class",
    "try:\n    await tools.fail()\nexcept Exception as e:\n    return [type(e).__name__, str(e)]",
    ["Exception", "refused"],
    { start: { namespaces: [{ global: "tools", names: ["fail"] }] } }
  ],
  ["two arguments", "try:\n    await tools.add({}, {})\nexcept TypeError as e:\n    return 'argument' in str(e)", true],
  [
    "a lossy argument",
    "try:\n    await tools.echo({'a': [1, {2}]})\nexcept TypeError as e:\n    return str(e)",
    "the argument of tools.echo is not lossless JSON: argument.a[1] is a set; pass list(x)"
  ],
  [
    "an argument at maxBindingBytes",
    "return len(await tools.echo([1.0] * 10))",
    10,
    { start: { maxBindingBytes: 21 } }
  ],
  [
    "an argument beyond it",
    "try:\n    await tools.echo([1.0] * 10)\nexcept ValueError as e:\n    return 'exceeds maxBindingBytes (20 bytes)' in str(e)",
    true,
    { start: { maxBindingBytes: 20 } }
  ],
  [
    "a call from a thread",
    "import asyncio\nloop = asyncio.get_running_loop()\nreturn await asyncio.to_thread(lambda: asyncio.run_coroutine_threadsafe(tools.echo(1), loop).result())",
    1
  ],
  [
    "a loop of a thread while ours is blocked",
    "import asyncio\nfrom concurrent.futures import ThreadPoolExecutor\nasync def f():\n    return await tools.echo(2)\nwith ThreadPoolExecutor() as pool:\n    return pool.submit(asyncio.run, f()).result()",
    2
  ],
  [
    "a cancelled call",
    "import asyncio\ntry:\n    await asyncio.wait_for(tools.slow(ms=60_000), 0.01)\nexcept asyncio.TimeoutError:\n    return await tools.slow(ms=100)",
    "slept"
  ],
  [
    "numbers of a double",
    "n = [2**53, 2**60, 10**22, 1.0, 5e-324]\nb = await tools.echo(n)\nreturn [x == y for x, y in zip(n, b)]",
    [true, true, true, true, true]
  ],
  ["half of a surrogate pair", "return ['\\ud83d', await tools.echo('\\ud83d')]", ["\ud83d", "\ud83d"]],
  [
    "a long integer",
    "return {'n': 2**53 + 1}",
    "value.n is 9007199254740993, an integer that no double holds exactly; return str(n)"
  ],
  ["minus zero", "return [-0.0]", "value[0] is -0.0, which JSON has no place for; return 0.0"],
  ["not a number", "return float('nan')", "value is nan, which JSON has no place for; return None"],
  [
    "a datetime",
    "from datetime import datetime\nreturn {'rows': [{'at': datetime(2024, 1, 1)}]}",
    "value.rows[0].at is a datetime; return at.isoformat()"
  ],
  [
    "a key that is no string",
    "return {'a b': {1: 2}}",
    'value["a b"] has the key 1, an int; keys are strings: use str(key)'
  ],
  [
    "a call without await",
    "return [tools.echo(1)]",
    "value[0] is a coroutine, the call of tools.echo that was not awaited; await it: await tools.echo(...)"
  ],
  ["a cycle", "a = {}\na['x'] = [a]\nreturn a", "value.x[0] is a cycle: it is inside itself; return a copy without it"],
  ["sharing that grows beyond the cap", "a = []\nfor _ in range(60):\n    a = [a, a]\nreturn a", "overflow"],
  ["a subclass of str", "class S(str): pass\nreturn S('x')", "value is a S, a subclass of str; return str(x)"],
  ["a value beyond the cap", "return 'x' * 200", "overflow", { start: { maxOutputBytes: 100 } }],
  ["sys.exit with a text", "import sys\nsys.exit('bye')", "exit 1"],
  [
    "sys.exit in a task",
    "import asyncio, sys\nasync def f():\n    sys.exit(9)\nt = asyncio.create_task(f())\nawait asyncio.sleep(5)",
    "exit 9"
  ],
  ["memory that ran out", "raise MemoryError", "exit 213"],
  ["input", "import sys\ntry:\n    input()\nexcept EOFError:\n    return sys.stdin.read()", ""],
  [
    "a forked child",
    "import os\nif os.fork() == 0:\n    print('child')\n    return 'child'\nos.wait()\nreturn 'parent'",
    "parent"
  ],
  [
    "multiprocessing by fork",
    "import multiprocessing\ndef f(x):\n    return x * 2\nwith multiprocessing.get_context('fork').Pool(2) as pool:\n    return pool.map(f, [1, 2])",
    [2, 4]
  ],
  [
    "an executor, a process and a socket",
    "import asyncio\np = await asyncio.create_subprocess_exec('/bin/echo', 'hi', stdout=-1)\nout, _ = await p.communicate()\nreturn [out.decode(), await asyncio.to_thread(lambda: 1)]",
    ["hi\n", 1]
  ],
  [
    "a signal that wakes the program",
    "import asyncio, signal\nloop = asyncio.get_running_loop()\nf = loop.create_future()\nloop.add_signal_handler(signal.SIGALRM, lambda: f.set_result(4))\nsignal.setitimer(signal.ITIMER_REAL, 0.05)\nreturn await f",
    4
  ],
  [
    "an exception of a signal handler",
    "import signal\ndef h(*_):\n    raise TimeoutError('late')\nsignal.signal(signal.SIGALRM, h)\nsignal.setitimer(signal.ITIMER_REAL, 0.05)\ntry:\n    await tools.never()\nexcept TimeoutError as e:\n    return str(e)",
    "late"
  ],
  [
    "a task that is awaited after it failed",
    "import asyncio\nasync def bad():\n    raise ValueError('x')\nt = asyncio.create_task(bad())\nawait tools.slow(ms=20)\ntry:\n    await t\nexcept ValueError:\n    return 1",
    1
  ],
  [
    "poisoned modules and builtins",
    "import builtins, json, os, sys\njson.dumps = os.write = os.read = None\nfor n in ('len', 'type', 'isinstance', 'str', 'id'):\n    setattr(builtins, n, None)\nsys.modules.clear()\nreturn await tools.echo({'a': [1]})",
    { a: [1] }
  ]
]

const failures: ReadonlyArray<
  readonly [name: string, program: string, message: string, ...lines: ReadonlyArray<number>]
> = [
  ["an error of an inner function", "def f():\n    raise IndexError('far')\n\nf()", "IndexError: far", 2, 4],
  ["an error of its own", "class Bad(Exception):\n    pass\nraise Bad('mine')", "Bad: mine", 3],
  ["a KeyError", "{}['k']", "KeyError: 'k'", 1],
  ["an error without a text", "raise ValueError", "ValueError", 1],
  [
    "a text that fails",
    "class Bad(Exception):\n    def __str__(self): return 1 / 0\nraise Bad",
    "Bad: <its text failed: ZeroDivisionError>",
    3
  ],
  [
    "an error of a library",
    "import json\njson.loads('{')",
    "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
    2
  ],
  ["a syntax error", "a = 1\nb = = 2", "SyntaxError: invalid syntax", 2],
  ["prose around a fence", "Here:\n```\nreturn 1\n```", "SyntaxError: invalid syntax", 1],
  ["a top-level yield", "x = 1\ny = (yield x)", "SyntaxError: 'yield' outside function", 2],
  [
    "an await in a plain function",
    "def f():\n    await tools.echo()",
    "SyntaxError: 'await' outside async function",
    2
  ],
  ["a return in a class", "class A:\n    return 1", "SyntaxError: 'return' outside function", 2],
  ["a null character", "x = 1\n\0", "SyntaxError: the program holds a null character", 2],
  [
    "import * from nowhere",
    "x = 1\nfrom nowhere_at_all import *",
    "ModuleNotFoundError: No module named 'nowhere_at_all'",
    2
  ],
  [
    "a callback",
    "import asyncio\nasyncio.get_running_loop().call_soon(lambda: 1 / 0)\nawait asyncio.sleep(9)",
    "ZeroDivisionError: division by zero",
    2
  ],
  [
    "a task that nobody keeps",
    "import asyncio\nasync def bad():\n    raise ValueError('floating')\nasyncio.create_task(bad())\nawait asyncio.sleep(9)",
    "ValueError: floating",
    3
  ],
  [
    "a task that nobody awaits",
    "import asyncio\nasync def bad():\n    raise ValueError('kept')\nt = asyncio.create_task(bad())\nawait tools.echo()\nreturn 1",
    "ValueError: kept",
    3
  ],
  ["a KeyboardInterrupt of the program", "raise KeyboardInterrupt", "KeyboardInterrupt", 1]
]

const stuck: ReadonlyArray<readonly [name: string, program: string, line: number]> = [
  ["an event", "import asyncio\nawait asyncio.Event().wait()", 2],
  ["a future, after a call", "import asyncio\nawait tools.echo()\nawait asyncio.get_running_loop().create_future()", 3],
  ["a coroutine", "import asyncio\nasync def f():\n    await asyncio.Event().wait()\nawait f()", 3],
  [
    "an abandoned call",
    "import asyncio\ntry:\n    await asyncio.wait_for(tools.never(), 0.01)\nexcept asyncio.TimeoutError: pass\nawait asyncio.Event().wait()",
    5
  ],
  ["idle threads of an executor", "import asyncio\nawait asyncio.to_thread(int)\nawait asyncio.Event().wait()", 3],
  ["a loop inside the loop", "import asyncio\nasync def f():\n    await asyncio.Event().wait()\nasyncio.run(f())", 3]
]

const hostile: Readonly<Record<string, string>> = {
  parentheses: "(".repeat(1_000_000),
  lists: `return ${"[".repeat(200_000)}${"]".repeat(200_000)}`,
  sums: `return ${"a+".repeat(400_000)}a`,
  attributes: `return a${".a".repeat(400_000)}`,
  calls: `f${"()".repeat(400_000)}`,
  signs: `return ${"-".repeat(900_000)}1`,
  lambdas: `x = ${"lambda:".repeat(100_000)}1`,
  "else-if": `if a: pass\n${"elif a: pass\n".repeat(70_000)}`,
  strings: `return f"${"{".repeat(100_000)}`,
  comprehensions: `return ${"[".repeat(60)}x${" for x in [1]]".repeat(60)}`
}

for (const { minor, python } of interpreters) {
  describe(`CPython 3.${minor}`, () => {
    for (const [name, program, expected, drive] of values) {
      test.concurrent(name, async () => {
        expect(verdict(await run(python, program, drive))).toEqual(expected)
      })
    }

    for (const [name, program, message, ...lines] of failures) {
      test.concurrent(`fails: ${name}`, async () => {
        const outcome = await run(python, program)
        expect(outcome.end).toMatchObject({ type: "threw", message })
        expect(framesOf(outcome).map((frame) => place(frame, "line"))).toEqual(lines)
      })
    }

    for (const [name, program, line] of stuck) {
      test.concurrent(`nothing is left to wait for: ${name}`, async () => {
        const outcome = await run(python, program)
        expect(verdict(outcome)).toContain("nothing left that could")
        expect(place(framesOf(outcome)[0], "line")).toBe(line)
      })
    }

    for (const [name, program] of Object.entries(hostile)) {
      test(`survives ${name}`, async () => {
        const { end } = await run(python, program)
        expect(["threw", "done"]).toContain(end?.type)
      })
    }

    test("print and the streams, in order", async () => {
      const program = [
        "import io, sys",
        "print('a', 1, sep='-')",
        "print('no end', end='')",
        "print()",
        "print('kept\\n')",
        "print('error', file=sys.stderr)",
        "print('elsewhere', file=io.StringIO())",
        "sys.stdout.write('as written\\n')",
        "sys.stdout.buffer.write('caf\\u00e9'.encode()[:4])",
        "sys.stdout.buffer.write('caf\\u00e9'.encode()[4:])",
        "sys.stdout.buffer.write(b'\\xe2')",
        "sys.__stderr__.write('low')"
      ].join("\n")
      const outcome = await run(python, program)
      expect(outcome.logs).toEqual(["a-1", "no end", "", "kept\n", "error", "as written\n", "caf", "é", "low", "�"])
      expect(outcome.channels.filter((name) => name === "stderr")).toHaveLength(2)
      expect(outcome.stray).toBe("")
    })

    test("calls that were never sent are told, with their lines", async () => {
      const program =
        "import asyncio\ntools.add(a=1, b=1)\nts = [asyncio.create_task(tools.never()) for _ in range(3)]\nawait asyncio.sleep(0)\nreturn 1"
      const { calls, end, logs } = await run(python, program, { start: { maxConcurrentCalls: 2 } })
      expect(calls.map(({ id, line }) => [id, line])).toEqual([
        [1, 3],
        [2, 3]
      ])
      expect(end).toEqual({
        type: "done",
        value: 1,
        unsent: [
          { global: "tools", name: "never", line: 3 },
          { global: "tools", name: "add", line: 2 }
        ]
      })
      expect(logs).toEqual([])
    })

    test("depth crosses both ways, whatever the recursion limit", async () => {
      const program =
        "import sys\nsys.setrecursionlimit(10**8)\nv = []\nfor _ in range(9999):\n    v = [v]\nb = await tools.echo(v)\nreturn b"
      const { end } = await run(python, program)
      let depth = 0
      for (let value = end?.value; Array.isArray(value); value = value[0]) depth++
      expect(depth).toBe(10_000)
    })

    test("columns count UTF-16 units, where the interpreter knows them", async () => {
      const outcome = await run(python, 'x = "\u{1F600}"; y = 1 / 0')
      expect(framesOf(outcome)).toEqual([minor >= 11 ? { line: 1, column: 15, endColumn: 20 } : { line: 1 }])
    })

    test("notes and causes are details", async () => {
      const program = [
        "try:",
        "    try:",
        "        1 / 0",
        "    except ZeroDivisionError as e:",
        "        raise KeyError('k') from e",
        "except KeyError as e:",
        "    x = ValueError('v')",
        "    x.__notes__ = ['a note']",
        "    raise x"
      ].join("\n")
      const { end } = await run(python, program)
      expect(end?.details).toBe(
        "a note\nWhile handling: KeyError: 'k' (program.py:5)\nCaused by: ZeroDivisionError: division by zero (program.py:3)"
      )
    })

    test("answers that arrive together are all read, whatever they hold", async () => {
      const program = [
        "import asyncio, time",
        "deep = []",
        "for _ in range(3000): deep = [deep]",
        "values = [1e17, 2.5, None, 'é\\n', {'a': [1]}, deep, 'x' * 100000] * 3",
        "tasks = [asyncio.create_task(tools.echo(each)) for each in values]",
        "await asyncio.sleep(0)",
        "time.sleep(0.2)",
        "return [type(each).__name__ for each in await asyncio.gather(*tasks)]"
      ].join("\n")
      const kinds = ["int", "float", "NoneType", "str", "dict", "list", "str"]
      expect(verdict(await run(python, program))).toEqual([...kinds, ...kinds, ...kinds])
    })

    test.each([false, true])(
      "a copy that nobody told of its fork neither calls nor logs (a loop: %s)",
      async (looped) => {
        const program = [
          looped ? "import asyncio" : "",
          "import ctypes, os",
          "pid = ctypes.CDLL(None).fork()",
          "if pid == 0:",
          "    print('from the copy')",
          "    try:",
          "        await tools.echo(1)",
          "    except RuntimeError as error:",
          "        os._exit(7)",
          "    os._exit(1)",
          "return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), await tools.echo(2)]"
        ].join("\n")
        const outcome = await run(python, program)
        expect([verdict(outcome), outcome.logs, outcome.stray, outcome.calls.length]).toEqual([
          [7, 2],
          [],
          "from the copy",
          1
        ])
      }
    )

    test("a fork leaves the calls that its parent put aside to its parent", async () => {
      const program = [
        "import asyncio, os",
        "async def apart():",
        "    pid = os.fork()",
        "    if pid == 0:",
        "        asyncio.run(asyncio.sleep(0.01))",
        "        os._exit(5)",
        "    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])",
        "return await asyncio.gather(*(tools.echo(i) for i in range(20)), apart())"
      ].join("\n")
      const outcome = await run(python, program)
      expect([verdict(outcome), outcome.calls.length]).toEqual([[...Array.from({ length: 20 }, (_, i) => i), 5], 20])
    })

    test.each([false, true])(
      "what asyncio only may need is whole for who asks for it (loaded before: %s)",
      async (warm) => {
        const program = [
          "import asyncio, subprocess, inspect, ssl, sys, threading",
          "subprocess.run = 'replaced before anything was read'",
          "found = []",
          "threads = [threading.Thread(target=lambda: found.append(inspect.isfunction(len))) for _ in range(4)]",
          "for each in threads: each.start()",
          "for each in threads: each.join()",
          "shell = await asyncio.create_subprocess_exec('/bin/echo', 'hi', stdout=subprocess.PIPE)",
          "out, _ = await shell.communicate()",
          "from asyncio.sslproto import SSLProtocol",
          "kinds = [type(sys.modules[each]).__name__ for each in ('ssl', 'inspect', 'subprocess', 'asyncio.sslproto')]",
          "return [subprocess.run, found, out.decode(), SSLProtocol.__name__, ssl.SSLContext.__name__, kinds, vars(ssl)['__doc__'][:10]]"
        ].join("\n")
        expect(verdict(await run(python, program, { warm }))).toEqual([
          "replaced before anything was read",
          [false, false, false, false],
          "hi\n",
          "SSLProtocol",
          "SSLContext",
          ["module", "module", "module", "module"],
          "This modul"
        ])
      }
    )

    test("a program without asyncio, and one that joins it under way, in a guest that has loaded it", async () => {
      const lean = await run(python, "import sys\nreturn [await tools.echo(1), 'async' + 'io' in sys.modules]", {
        warm: true
      })
      const program = "await tools.echo(1)\nname = 'async' + 'io'\nreturn await __import__(name).gather(tools.echo(2))"
      expect([verdict(lean), verdict(await run(python, program, { warm: true }))]).toEqual([[1, false], [2]])
    })

    test("frames that arrive byte by byte, to a guest that has loaded asyncio", async () => {
      const drive = { byteByByte: true, warm: true }
      const outcome = await run(
        python,
        "import asyncio\nreturn await asyncio.gather(tools.echo('é'), tools.echo(2))",
        drive
      )
      expect(verdict(outcome)).toEqual(["é", 2])
      expect(outcome.types).toEqual(["started", "call", "call", "done"])
    })

    test("the guest ends with its host", async () => {
      const lean = await run(python, "await tools.never()", { hangUp: true })
      const looped = await run(python, "import asyncio\nawait asyncio.gather(tools.never())", { hangUp: true })
      expect([lean.end, lean.signal, looped.end, looped.signal]).toEqual([undefined, null, undefined, null])
    })
  })
}

if (interpreters.length === 0) test.skip(without, () => undefined)
