/**
 * B6: programs that want more memory than they may have end alone, as what they are, and the host runs the next.
 */
import { expect, test } from "vitest"
import { languages, open } from "./Backends.ts"

const hungry: { readonly [language in (typeof languages)[number]]: { readonly [name: string]: string } } = {
  typescript: {
    "an array that grows": "const a = []; for (;;) a.push(a.length)",
    objects: "const a = []; for (;;) a.push({ text: 'x' + a.length })",
    strings: "const a = []; for (let i = 0; ; i++) a.push(('x' + i).repeat(100_000).split('').reverse().join(''))",
    "typed arrays": "const a = []; for (;;) a.push(new Float64Array(1 << 20).fill(1))",
    "one typed array": "return new Uint8Array(2 ** 31).fill(1).length",
    buffers: "const a = []; for (;;) a.push(Buffer.alloc(1 << 20, 1))",
    "a buffer in a promise":
      "await (async () => { const a = []; for (;;) { a.push(Buffer.alloc(1 << 22, 1)); await null } })()",
    "WebAssembly memory":
      "const m = new WebAssembly.Memory({ initial: 1, maximum: 65536 }); m.grow(40000); new Uint8Array(m.buffer).fill(1); return 1",
    maps: "const m = new Map(); for (let i = 0; ; i++) m.set(i, [i])"
  },
  python: {
    "a list that grows": "a = []\nwhile True:\n    a.append(len(a))",
    dictionaries: 'a = []\nwhile True:\n    a.append({"text": "x" + str(len(a))})',
    strings: 'a = []\nwhile True:\n    a.append("x" * 100_000 + str(len(a)))',
    bytes: 'a = []\nwhile True:\n    a.append(b"x" * (1 << 20))',
    "one bytes": 'return len(b"x" * (1 << 33))',
    "a string that doubles": 'a = "x"\nwhile True:\n    a += a',
    "shared memory":
      "import mmap\na = []\nwhile True:\n    m = mmap.mmap(-1, 1 << 22)\n    m.write(b'x' * (1 << 22))\n    a.append(m)",
    "bytes in a task":
      "import asyncio\nasync def eat():\n    a = []\n    while True:\n        a.append(bytes(1 << 20))\n        await asyncio.sleep(0)\nawait asyncio.gather(eat(), eat())"
  }
}

for (const language of languages) {
  for (const [name, program] of Object.entries(hungry[language])) {
    test(`${language}: ${name}`, async () => {
      await using runtime = await open(language, { maxMemoryMb: 96, computeMs: 25_000 })
      const print = language === "python" ? 'print("before")\n' : 'console.log("before");'
      const { error, logs } = await runtime.run({ program: print + program })
      expect(error?.kind).toBe("worker-exit")
      expect(error?.message).toContain("ran out of memory: its guest may use 96 MiB (maxMemoryMb)")
      expect(logs).toEqual(["before"])
      expect(await runtime.run({ program: "return 7" })).toEqual({ value: 7, logs: [] })
    })
  }

  test(`${language}: what fits is not refused, and a refusal can be caught`, async () => {
    await using runtime = await open(language, { maxMemoryMb: 96 })
    const programs =
      language === "python"
        ? ["return len(bytes(60 << 20))", "try:\n    bytes(1 << 30)\nexcept MemoryError:\n    return 'caught'"]
        : [
            "return Buffer.alloc(60 << 20, 1).length",
            "try { new Uint8Array(2 ** 32); return 1 } catch (error) { return 'caught' }"
          ]
    expect((await runtime.run({ program: programs[0] ?? "" })).value).toBe(60 << 20)
    expect((await runtime.run({ program: programs[1] ?? "" })).value).toBe("caught")
  })

  test(`${language}: an exit by a signal or a code of its own is no lack of memory`, async () => {
    await using runtime = await open(language)
    const abort = language === "python" ? "import os\nos.abort()" : "process.abort()"
    const { error } = await runtime.run({ program: abort })
    expect(error).toMatchObject({ kind: "worker-exit", message: expect.stringContaining("SIGABRT") })
  })
}
