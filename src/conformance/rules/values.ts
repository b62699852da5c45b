/** V: what crosses between a program and its host. */
import * as Effect from "effect/Effect"
import type { Json } from "../../domain/Json.ts"
import { code, ensure, equal, place, type Rule } from "../Case.ts"
import { depthOf, nest } from "../Host.ts"

const everything: Json = {
  nothing: null,
  flags: [true, false],
  numbers: [0, 1, -1, 0.1, 1e21, 5e-324, 1.7976931348623157e308, 9007199254740991, 123456789012345680000],
  text: 'caf\u00e9 \u{1F600} \ud83d \udc00\ud83d \u0000\u001f\u007f \u2028\u2029 " \\ / \r\n\t',
  empty: ["", [], {}, [[]], [{}], { "": {} }],
  keys: { " ": 1, "0": 2, "-1": 3, "\ud800": 4, constructor: 5, toString: 6, "\u0000": 7, "\u2028": 8 }
}

export const values: ReadonlyArray<Rule> = [
  {
    id: "V1",
    text: "Lossless JSON only; no cycles; sharing is allowed and metered as often as it is written.",
    cases: [
      {
        id: "V1.round-trip",
        claim: "every lossless value crosses both ways, unchanged",
        bindings: (host) => [
          {
            global: "data",
            functions: {
              get: host.record("get", () => Effect.succeed(everything)),
              echo: host.functions.echo ?? (() => Effect.succeed(null))
            }
          }
        ],
        expect: { value: [everything, everything] },
        programs: {
          typescript: ["const value = await data.get()\nreturn [value, await data.echo(value)]"],
          python: ["value = await data.get()\nreturn [value, await data.echo(value)]"]
        },
        check: (_outcome, host) =>
          equal(host.calls.find((call) => call.name === "echo")?.args, everything, "the argument")
      },
      {
        id: "V1.plain",
        claim: "plain objects of either prototype, frozen ones, shared ones",
        programs: {
          typescript: [
            ["return Object.assign(Object.create(null), { a: 1 })", { value: { a: 1 } }],
            [
              "return [Object.freeze({ a: 1 }), Object.seal([1]), Object.preventExtensions({})]",
              { value: [{ a: 1 }, [1], {}] }
            ],
            [
              "const s = { a: [1] }\nreturn [s, s, { s, t: s.a }]",
              { value: [{ a: [1] }, { a: [1] }, { s: { a: [1] }, t: [1] }] }
            ],
            [
              'return await tools.echo(JSON.parse(\'{"__proto__":{"polluted":1}}\'))',
              { value: JSON.parse('{"__proto__":{"polluted":1}}') }
            ],
            [
              'const back: any = await tools.echo(JSON.parse(\'{"__proto__":{"polluted":1}}\'))\nreturn [Object.keys(back), back.polluted === undefined, ({} as any).polluted === undefined]',
              { value: [["__proto__"], true, true] }
            ],
            ["return { __proto__: null, a: 1 }", { value: { a: 1 } }],
            ["class A { n = 1 }\nreturn { ...new A() }", { value: { n: 1 } }],
            ["const a: number[] = []\na[2] = 3; a[0] = 1; a[1] = 2\nreturn a", { value: [1, 2, 3] }],
            ["return [1e400 > 1, 0 * -1 === 0, 2 ** 53, 0.1 + 0.2]", { value: [true, true, 2 ** 53, 0.1 + 0.2] }],
            ["return JSON.stringify(await tools.echo({ b: 1, a: 2, 10: 3 }))", { value: '{"10":3,"b":1,"a":2}' }]
          ],
          python: [
            [
              "s = {'a': [1]}\nreturn [s, s, {'s': s, 't': s['a']}]",
              { value: [{ a: [1] }, { a: [1] }, { s: { a: [1] }, t: [1] }] }
            ],
            [
              "return await tools.echo({'__proto__': {'polluted': 1}})",
              { value: JSON.parse('{"__proto__":{"polluted":1}}') }
            ],
            ["return [True, False, None, 0, 1.5, 'x', [], {}]", { value: [true, false, null, 0, 1.5, "x", [], {}] }],
            ["return list((await tools.echo({'b': 1, 'a': 2})).keys())", { value: ["b", "a"] }],
            [
              "v = await tools.echo([1, 1.5, True, None, 'x', {'a': []}])\nreturn [type(x).__name__ for x in v]",
              { value: ["int", "float", "bool", "NoneType", "str", "dict"] }
            ]
          ]
        }
      },
      {
        id: "V1.lossy",
        claim: "everything else is invalid-output that says where",
        expect: { kind: "invalid-output" },
        programs: {
          typescript: [
            ["return NaN", { message: /^value is NaN/ }],
            ["return [0, -Infinity]", { message: place(1) }],
            ["return { z: [-0] }", { message: [place("z", 0), /-0/] }],
            ["return { a: undefined }", { message: place("a") }],
            ["return [undefined]", { message: place(0) }],
            ["return [1, , 2]", { message: [place(1), /hole/] }],
            ["return new Array(3)", { message: place(0) }],
            ["const a: any[] = []; a.length = 4294967295; return a", { message: place(0) }],
            ["return Object.assign([1, 2], { extra: 1 })", { message: /extra/ }],
            ["return Object.assign([1, 2], { '-1': 1 })", { message: /-1/ }],
            ["return Object.assign([1], { [Symbol('s')]: 1 })", {}],
            ["return 'ab'.match(/b/)", { message: /index/ }],
            ["return { f: () => 1 }", { message: [place("f"), /function/] }],
            ["return class A {}", { message: /function/ }],
            ["return [Symbol.iterator]", { message: [place(0), /symbol/] }],
            ["return { [Symbol('k')]: 1 }", { message: /symbol/ }],
            ["return { n: 1n }", { message: [place("n"), /bigint/] }],
            ["return [new Map()]", { message: [place(0), /Map/] }],
            ["return { s: new Set() }", { message: [place("s"), /Set/] }],
            ["return /x/", { message: /RegExp/ }],
            ["return new Uint8Array(1)", { message: /Uint8Array/ }],
            ["return Buffer.from('x')", { message: /Buffer/ }],
            ["return new ArrayBuffer(1)", { message: /ArrayBuffer/ }],
            ["return new (class Point { x = 1 })()", { message: /Point/ }],
            ["return Object.create({ a: 1 })", {}],
            ["return new (class extends Array {})()", {}],
            ["return Object.setPrototypeOf([1], null)", {}],
            ["return new Error('x')", { message: /Error/ }],
            ["return [Promise.resolve(1)]", { message: [place(0), /await/] }],
            ["return [new String('x')]", { message: place(0) }],
            ["return [new Proxy(function () {}, {})]", { message: place(0) }],
            ["const o: any = { a: {} }; o.a.b = o; return o", { message: [place("a", "b"), /cycle/] }],
            ["const a: any[] = []; a.push(a); return a", { message: place(0) }],
            ["return { get g() { return 1 } }", { message: place("g") }],
            ["return { set s(x: number) {} }", { message: place("s") }],
            ["return Object.defineProperty({}, 'h', { value: 1 })", { message: place("h") }],
            [
              "const a = [1]; Object.defineProperty(a, 0, { get() { return 1 }, enumerable: true }); return a",
              { message: place(0) }
            ],
            ["return (function (..._a: number[]) { return arguments } as any)(1)", {}],
            ["return globalThis", {}],
            ["return tools", { message: place("echo") }],
            ["return new Date(NaN)", { message: /Date/ }],
            ["return Math", {}],
            ["return JSON", {}]
          ]
        }
      },
      {
        id: "V1.sharing-metered",
        claim: "a value that shares is as long as it is written: over the cap it is output-limit, without hanging",
        limits: { maxOutputBytes: 100_000, maxBindingBytes: 100_000 },
        programs: {
          typescript: [
            ["let v: any = ['x']\nfor (let i = 0; i < 60; i++) v = [v, v]\nreturn v", { kind: "output-limit" }],
            ["let v: any = { a: 1 }\nfor (let i = 0; i < 60; i++) v = { v, w: v }\nreturn v", { kind: "output-limit" }],
            ["const s = 'x'.repeat(60_000)\nreturn [s, s]", { kind: "output-limit" }],
            [
              "let v: any = ['x']\nfor (let i = 0; i < 60; i++) v = [v, v]\nawait tools.count(v)",
              { kind: "exception", message: /maxBindingBytes/ }
            ]
          ],
          python: [
            ["v = ['x']\nfor i in range(60):\n    v = [v, v]\nreturn v", { kind: "output-limit" }],
            ["v = {'a': 1}\nfor i in range(60):\n    v = {'v': v, 'w': v}\nreturn v", { kind: "output-limit" }],
            ["s = 'x' * 60_000\nreturn [s, s]", { kind: "output-limit" }],
            [
              "v = ['x']\nfor i in range(60):\n    v = [v, v]\nawait tools.count(v)",
              { kind: "exception", message: /maxBindingBytes/ }
            ]
          ]
        },
        check: (_outcome, host) => equal(host.called("count"), 0, "calls")
      }
    ]
  },
  {
    id: "V2",
    text: "In Python: None, bool, int and float that a double holds exactly, str, list, dict with str keys; exact types.",
    only: ["python"],
    cases: [
      {
        id: "V2.numbers",
        claim: "numbers that a double holds exactly cross whole",
        programs: {
          python: [
            [
              "return [2**53, -(2**53), 2**53 + 2, 2**62, 10**22, 2**1023, 1.0, -1.5, 5e-324, 1e21, 0.0]",
              { value: [2 ** 53, -(2 ** 53), 2 ** 53 + 2, 2 ** 62, 1e22, 2 ** 1023, 1, -1.5, 5e-324, 1e21, 0] }
            ],
            [
              "a = [2**60, 10**22, 2**1000, 0.1, 1e300]\nreturn [x == y for x, y in zip(a, await tools.echo(a))]",
              { value: [true, true, true, true, true] }
            ],
            ["n = await tools.add(a=1, b=2)\nreturn [n, type(n).__name__]", { value: [3, "int"] }]
          ]
        }
      },
      {
        id: "V2.lossy",
        claim: "everything else is invalid-output that says where",
        expect: { kind: "invalid-output" },
        programs: {
          python: [
            ["return float('nan')", { message: /nan/i }],
            ["return [1, float('-inf')]", { message: place(1) }],
            ["return {'z': [-0.0]}", { message: [place("z", 0), /-0/] }],
            ["return [2**53 + 1]", { message: place(0) }],
            ["return {'n': 10**400}", { message: place("n") }],
            ["return -(10**5000)", {}],
            ["return (1, 2)", { message: /tuple/ }],
            ["return [{1, 2}]", { message: [place(0), /set/] }],
            ["return frozenset()", { message: /frozenset/ }],
            ["return b'x'", { message: /bytes/ }],
            ["return [bytearray(b'x')]", { message: place(0) }],
            ["return {'a': {1: 2}}", { message: [place("a"), /key/] }],
            ["return {None: 1}", { message: /key/ }],
            ["return {True: 1}", { message: /key/ }],
            ["return {(1, 2): 1}", { message: /key/ }],
            ["return {b'x': 1}", { message: /key/ }],
            ["class S(str):\n    pass\nreturn {S('k'): 1}", { message: /key/ }],
            ["class S(str):\n    pass\nreturn [S('x')]", { message: place(0) }],
            ["class I(int):\n    pass\nreturn [I(1)]", { message: place(0) }],
            ["class F(float):\n    pass\nreturn [F(1.5)]", { message: place(0) }],
            ["class L(list):\n    pass\nreturn {'l': L()}", { message: place("l") }],
            ["class D(dict):\n    pass\nreturn D()", { message: /\bD\b/ }],
            ["from enum import IntEnum\nclass E(IntEnum):\n    A = 1\nreturn E.A", {}],
            ["from collections import defaultdict, OrderedDict\nreturn [OrderedDict()]", { message: /OrderedDict/ }],
            ["from collections import namedtuple\nreturn namedtuple('P', 'x')(1)", {}],
            ["from decimal import Decimal\nreturn {'d': Decimal(1)}", { message: [place("d"), /Decimal/] }],
            ["from datetime import date\nreturn [date(2020, 1, 1)]", { message: [place(0), /date/] }],
            ["import pathlib\nreturn pathlib.PurePosixPath('/a')", {}],
            ["return 1j", { message: /complex/ }],
            ["return range(3)", { message: /range/ }],
            ["return (x for x in [1])", { message: /generator/ }],
            ["return {'a': 1}.keys()", { message: /dict_keys/ }],
            ["return ...", { message: /ellipsis/i }],
            ["return print", {}],
            ["return int", {}],
            ["import math\nreturn math", { message: /module/ }],
            ["return ValueError('x')", { message: /ValueError/ }],
            ["a = []\na.append(a)\nreturn a", { message: [place(0), /cycle/] }],
            ["a = {'b': {}}\na['b']['c'] = a\nreturn a", { message: place("b", "c") }],
            ["return tools", {}],
            ["return object()", { message: /object/ }],
            ["return memoryview(b'x')", { message: /memoryview/ }]
          ]
        }
      },
      {
        id: "V2.arguments",
        claim: "the same rule for arguments",
        programs: {
          python: [
            [
              "said = []\nfor bad in [(1,), {1}, b'x', float('nan'), -0.0, 2**53 + 1, {1: 2}, [object()]]:\n    try:\n        await tools.count(bad)\n        said.append('ran')\n    except Exception as e:\n        said.append('argument' in str(e))\nreturn said",
              { value: Array.from({ length: 8 }, () => true) }
            ],
            [
              "await tools.count(rows=[1, {'at': (1,)}])",
              { kind: "exception", message: [place("rows", 1, "at"), /tuple/] }
            ]
          ]
        },
        check: (_outcome, host) => equal(host.called("count"), 0, "calls")
      }
    ]
  },
  {
    id: "V3",
    text: "An offence names its place and the remedy.",
    cases: [
      {
        id: "V3.remedies",
        claim: "each common offence has its own remedy",
        expect: { kind: "invalid-output" },
        programs: {
          typescript: [
            [
              "return { rows: [1, 2, 3, { at: new Date(0) }] }",
              { message: "value.rows[3].at is a Date; return at.toISOString()" }
            ],
            ["return new Date(0)", { message: "value is a Date; return value.toISOString()" }],
            ["return { 'a b': [new Map()] }", { message: [/^value\["a b"\]\[0\] is a Map; /, /Object\.fromEntries/] }],
            ["return { done: tools.echo(1) }", { message: /^value\.done is a Promise; await it/ }],
            ["return [new Set([1])]", { message: /^value\[0\] is a Set; return \[\.\.\./ }],
            ["return { n: 5n }", { message: /^value\.n is a bigint; return String\((?:value\.)?n\)/ }],
            ["return { u: undefined }", { message: /^value\.u is undefined; .*null/ }],
            ["return new (class Point { x = 1 })()", { message: /^value is a Point; .*plain object/ }],
            ["return { [`${'k'.repeat(5000)}`]: NaN }", { message: /^.{1,300}$/s }],
            ["return { ['line\\nbreak']: NaN }", { message: /^value\["line\\nbreak"\] is NaN/ }]
          ],
          python: [
            [
              "from datetime import datetime\nreturn {'rows': [1, 2, 3, {'at': datetime(2020, 1, 1)}]}",
              { message: [place("rows", 3, "at"), /^value/, /is a datetime; /, /isoformat\(\)/] }
            ],
            ["return {'a b': [(1, 2)]}", { message: [place("a b", 0), /is a tuple; .*list\(/] }],
            ["return {'done': tools.echo(1)}", { message: [place("done"), /await/] }],
            ["return [{3, 1}]", { message: [place(0), /is a set; .*(?:list|sorted)\(/] }],
            ["return {'a': {1: 2}}", { message: [place("a"), /str/] }],
            ["return b'x'", { message: /^value is (?:a )?bytes(?: object)?; .*decode/ }],
            ["return {'n': float('nan')}", { message: [place("n"), /None/] }],
            ["return {'k' * 5000: float('nan')}", { message: /^.{1,300}$/s }],
            [
              "class Point:\n    pass\nreturn [Point()]",
              { message: [place(0), /is a Point; .*(?:vars|__dict__|dict)/] }
            ]
          ]
        }
      },
      {
        id: "V3.deep",
        claim: "a place at any depth is told, in few words",
        expect: { kind: "invalid-output", message: [/NaN|nan/, /^.{1,2000}$/s] },
        programs: {
          typescript: [
            "let v: any = NaN\nfor (let i = 0; i < 100_000; i++) v = [v]\nreturn v",
            "let v: any = NaN\nfor (let i = 0; i < 50_000; i++) v = { deep: v }\nreturn v"
          ],
          python: [
            "v = float('nan')\nfor i in range(100_000):\n    v = [v]\nreturn v",
            "v = float('nan')\nfor i in range(50_000):\n    v = {'deep': v}\nreturn v"
          ]
        }
      }
    ]
  },
  {
    id: "V4",
    text: "Depth is unbounded: 100,000 nested arrays cross in both directions.",
    cases: [
      {
        id: "V4.completion",
        claim: "as a completion, lists and objects",
        programs: {
          typescript: {
            lists: "let v: any = []\nfor (let i = 1; i < 100_000; i++) v = [v]\nreturn v",
            objects: "let v: any = {}\nfor (let i = 1; i < 100_000; i++) v = { a: v }\nreturn v"
          },
          python: {
            lists: "v = []\nfor i in range(1, 100_000):\n    v = [v]\nreturn v",
            objects: "v = {}\nfor i in range(1, 100_000):\n    v = {'a': v}\nreturn v"
          }
        },
        steps: (t) =>
          Effect.gen(function* () {
            const lists = yield* t.run(t.program("lists"))
            equal(depthOf(lists.value), 100_000, "depth")
            const objects = yield* t.run(t.program("objects"))
            let depth = 0
            for (let v: unknown = objects.value; typeof v === "object" && v !== null; v = Reflect.get(v, "a")) depth++
            equal(depth, 100_000, "depth of objects")
          })
      },
      {
        id: "V4.calls",
        claim: "as an argument and as a result",
        expect: { value: [100_000, 100_000] },
        programs: {
          typescript: [
            code`
              let v: any = []
              for (let i = 1; i < 100_000; i++) v = [v]
              const there = await tools.depth(v)
              let back: any = await tools.deep({ depth: 100_000 }), depth = 0
              while (Array.isArray(back)) { depth++; back = back[0] }
              return [there, depth]
            `
          ],
          python: [
            code`
              v = []
              for i in range(1, 100_000):
                  v = [v]
              there = await tools.depth(v)
              back = await tools.deep(depth=100_000)
              depth = 0
              while isinstance(back, list):
                  depth += 1
                  back = back[0] if back else None
              return [there, depth]
            `
          ]
        }
      },
      {
        id: "V4.echo",
        claim: "there and back unchanged, and a cycle that deep is found",
        programs: {
          typescript: [
            ["const v = await tools.deep({ depth: 100_000 })\nreturn await tools.echo(v)", {}],
            [
              "const root: any[] = []\nlet v = root\nfor (let i = 0; i < 100_000; i++) { const inner: any[] = []; v.push(inner); v = inner }\nv.push(root)\nreturn root",
              { kind: "invalid-output", message: /cycle/ }
            ]
          ],
          python: [
            ["v = await tools.deep(depth=100_000)\nreturn await tools.echo(v)", {}],
            [
              "root = []\nv = root\nfor i in range(100_000):\n    inner = []\n    v.append(inner)\n    v = inner\nv.append(root)\nreturn root",
              { kind: "invalid-output", message: /cycle/ }
            ]
          ]
        },
        check: (outcome) => {
          if (outcome.kind === undefined) ensure(depthOf(outcome.value) === depthOf(nest(100_000)), "the same depth")
        }
      }
    ]
  },
  {
    id: "V5",
    text: "Getters, proxies and toJSON of the program never run in the host, and never change a frame.",
    cases: [
      {
        id: "V5.to-json",
        claim: "toJSON, on prototypes and on values, changes nothing",
        programs: {
          typescript: [
            [
              "for (const p of [Object, Array, String, Number, Boolean]) (p.prototype as any).toJSON = () => 'forged'\nreturn [await tools.echo({ a: [1, 'x', true] }), { b: [2] }]",
              { value: [{ a: [1, "x", true] }, { b: [2] }] }
            ],
            ["return { toJSON: () => 'forged' }", { kind: "invalid-output", message: place("toJSON") }],
            ["return { toJSON: 'data', a: 1 }", { value: { toJSON: "data", a: 1 } }],
            [
              "JSON.stringify = () => 'forged'; JSON.parse = () => 'forged'\nreturn await tools.echo({ a: 1 })",
              { value: { a: 1 } }
            ]
          ],
          python: [
            [
              "import json\njson.dumps = lambda *a, **k: 'forged'\njson.loads = lambda *a, **k: 'forged'\njson.encoder = json.decoder = None\nreturn [await tools.echo({'a': 1}), {'b': 2}]",
              { value: [{ a: 1 }, { b: 2 }] }
            ],
            [
              "import builtins\nfor name in ('len', 'isinstance', 'type', 'str', 'repr', 'list', 'dict', 'float', 'int', 'getattr', 'iter', 'sorted', 'id'):\n    setattr(builtins, name, lambda *a, **k: 'forged')\nreturn [await tools.echo({'a': [1, 1.5, 'x']}), {'b': 2}]",
              { value: [{ a: [1, 1.5, "x"] }, { b: 2 }] }
            ]
          ]
        }
      },
      {
        id: "V5.getters-and-proxies",
        claim: "getters, proxies and overridden methods are judged in the guest, and are no way to forge",
        programs: {
          typescript: [
            [
              "let ran = 0\nconst o = { get g() { ran++; return 1 } }\ntry { await tools.count(o) } catch {}\nreturn ran",
              { value: 0 }
            ],
            ["return new Proxy({ a: 1 }, { get() { throw new Error('a trap ran') } })", { anyEnd: true }],
            [
              "return new Proxy({}, { ownKeys() { throw new Error('trapped') } })",
              { kind: ["exception", "invalid-output"] }
            ],
            [
              "return new Proxy([], { getPrototypeOf() { throw new Error('trapped') } })",
              { kind: ["exception", "invalid-output"] }
            ],
            [
              "const { proxy, revoke } = Proxy.revocable({}, {})\nrevoke()\nreturn { proxy }",
              { kind: ["exception", "invalid-output"] }
            ],
            [
              "let n = 0\nreturn new Proxy({ a: 1 }, { getOwnPropertyDescriptor: () => ({ value: n++ ? () => 1 : 1, enumerable: true, configurable: true }) })",
              { anyEnd: true }
            ],
            [
              "let n = 0\nreturn await tools.echo(new Proxy([1], { getOwnPropertyDescriptor: (t: any, k) => (n++, k === '0' ? { value: n > 1 ? -0 : 1, enumerable: true, configurable: true, writable: true } : Reflect.getOwnPropertyDescriptor(t, k)) })).catch((e: any) => 'refused')",
              { anyEnd: true }
            ]
          ],
          python: [
            [
              "class D(dict):\n    def items(self):\n        return [('forged', 1)]\nreturn D(a=1)",
              { kind: "invalid-output" }
            ],
            [
              "class S(str):\n    def __str__(self):\n        return 'forged'\n    __repr__ = __str__\nreturn S('x')",
              { kind: "invalid-output" }
            ],
            [
              "class L(list):\n    def __iter__(self):\n        return iter(['forged'])\ntry:\n    await tools.count(L())\nexcept Exception:\n    return 'refused'",
              { value: "refused" }
            ],
            [
              "class A:\n    @property\n    def __dict__(self):\n        print('ran')\n    @property\n    def __class__(self):\n        print('ran')\n        return dict\nreturn A()",
              { kind: "invalid-output", logs: [] }
            ],
            [
              "class M(type):\n    def __eq__(a, b):\n        return True\n    __hash__ = type.__hash__\nclass A(metaclass=M):\n    pass\nreturn A()",
              { kind: "invalid-output" }
            ]
          ]
        },
        check: (_outcome, host) => equal(host.called("count"), 0, "calls")
      },
      {
        id: "V5.poisoned-prototypes",
        claim: "properties that the program plants are in no frame",
        expect: { value: [{ a: 1 }, 3] },
        programs: {
          typescript: [
            "for (const key of ['type', 'value', 'id', 'global', 'name', 'args', 'unsent', 'line', 'frames']) Object.defineProperty(Object.prototype, key, { value: 'forged', configurable: true, writable: true })\nreturn [await tools.echo({ a: 1 }), await tools.add({ a: 1, b: 2 })]",
            "for (const key of ['type', 'value', 'id', 'args', '0', '1']) Object.defineProperty(Object.prototype, key, { __proto__: null, set() { throw new Error('a setter ran') }, get() { return undefined }, configurable: true } as any)\nreturn [await tools.echo({ a: 1 }), await tools.add({ a: 1, b: 2 })]",
            "for (let i = 0; i < 5; i++) Object.defineProperty(Array.prototype, i, { __proto__: null, set() { throw new Error('an index setter ran') }, configurable: true } as any)\nreturn [await tools.echo({ a: 1 }), await tools.add({ a: 1, b: 2 })]",
            "Array.prototype[Symbol.iterator] = function* () { yield 'forged' } as any\nArray.prototype.push = Array.prototype.join = Array.prototype.map = () => 'forged' as any\nreturn [await tools.echo({ a: 1 }), await tools.add({ a: 1, b: 2 })]",
            "String.prototype.slice = String.prototype.indexOf = String.prototype.charCodeAt = RegExp.prototype.test = RegExp.prototype.exec = (() => 'forged') as any\nreturn [await tools.echo({ a: 1 }), await tools.add({ a: 1, b: 2 })]",
            "Map.prototype.get = Map.prototype.set = Map.prototype.delete = Set.prototype.has = (() => 'forged') as any\nReflect.apply = Reflect.ownKeys = Object.keys = Object.getPrototypeOf = (() => { throw new Error('forged') }) as any\nreturn [await tools.echo({ a: 1 }), await tools.add({ a: 1, b: 2 })]",
            "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = (() => { throw new Error('forged') }) as any\nreturn [await tools.echo({ a: 1 }), await tools.add({ a: 1, b: 2 })]",
            "Buffer.byteLength = Buffer.from = (() => -1) as any; Number.isFinite = (() => true) as any; Array.isArray = (() => false) as any; (globalThis as any).String = (globalThis as any).Promise = (globalThis as any).Error = undefined\nreturn [await tools.echo({ a: 1 }), await tools.add({ a: 1, b: 2 })]",
            // Node's lists are reached from every turn of the loop: a guest that waits for many answers sets off none itself.
            "for (const key of ['0', '1']) Object.defineProperty(Object.prototype, key, { __proto__: null, set() { throw new Error('a setter ran') }, get() { return undefined }, configurable: true } as any)\nfor (let i = 0; i < 200; i++) { await tools.echo({ a: i }); for (let n = 0; n < 40; n++) await null }\nreturn [await tools.echo({ a: 1 }), await tools.add({ a: 1, b: 2 })]",
            "for (const key of ['get', 'set', 'error', 'errno', 'code', 'syscall', 'offset', 'length', 'position', 'signal', 'done']) Object.defineProperty(Object.prototype, key, { __proto__: null, value: 1, configurable: true, writable: true } as any)\nconsole.log('l')\nconst message = await tools.fail({ message: 'm' }).catch((e: any) => `${e instanceof ToolError} ${e.message} ${e.tool}`)\nreturn [await tools.echo({ a: 1 }), message === 'true m fail' ? 3 : message]"
          ],
          python: [
            "import builtins, sys\nbuiltins.print = builtins.open = builtins.__build_class__ = None\nsys.stdout.write = None\nreturn [await tools.echo({'a': 1}), await tools.add(a=1, b=2)]",
            "import os, io, socket\nos.write = os.read = io.open = lambda *a: 0\nreturn [await tools.echo({'a': 1}), await tools.add(a=1, b=2)]"
          ]
        }
      }
    ]
  },
  {
    id: "V6",
    text: "return null gives null; return, return undefined and falling off the end give no value; Python likewise.",
    cases: [
      {
        id: "V6.null",
        claim: "an explicit null is a value",
        expect: { value: null },
        programs: {
          typescript: [
            "return null",
            "return await tools.echo(null)",
            "return Promise.resolve(null)",
            "const f = () => null\nreturn f()"
          ],
          python: [
            "return None",
            "return (None)",
            "return await tools.echo(None)",
            "x = None\nreturn x",
            "def f():\n    pass\nreturn f()",
            "try:\n    return None\nfinally:\n    pass",
            "if True:\n    return None\nreturn"
          ]
        }
      },
      {
        id: "V6.none",
        claim: "nothing is no value",
        expect: { noValue: true },
        programs: {
          typescript: [
            "return",
            "return undefined",
            "return void 0",
            "1",
            "if (true) return\nreturn 1",
            "return Promise.resolve()",
            "async function main() {}",
            "() => {}",
            "return await (async () => {})()"
          ],
          python: ["return", "1", "if True:\n    return\nreturn 1", "try:\n    return\nfinally:\n    x = 1"]
        }
      },
      {
        id: "V6.inside",
        claim: "null inside values and calls stays null",
        expect: { value: [null, { a: null }, [null]] },
        programs: {
          typescript: ["return [await tools.echo(null), await tools.echo({ a: null }), [null]]"],
          python: ["return [await tools.echo(None), await tools.echo(a=None), [None]]"]
        }
      }
    ]
  }
]
