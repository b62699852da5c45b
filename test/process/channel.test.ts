/**
 * The channel: whatever a program does to it hurts its own run only; what it prints is never a frame.
 */
import { describe, expect, test } from "vitest"
import type { Json } from "../../src/domain/LosslessJson.ts"
import { type Language, languages, open } from "./Backends.ts"

/** A program that speaks to file descriptor 3 itself: `say` and `hear` are there. */
const raw = (language: Language, python: string, typescript: string): string =>
  language === "python"
    ? `import os, json, signal, time\nsay = lambda text: os.write(3, text if isinstance(text, bytes) else text.encode())\n${python}`
    : `const fs = require("node:fs")
const say = (text) => { const bytes = Buffer.from(text); for (let at = 0; at < bytes.length;) { try { at += fs.writeSync(3, bytes, at) } catch (error) { if (error.code !== "EAGAIN") throw error } } }
${typescript}`

const call = (id: string, name = "add") =>
  `'{"type":"call","id":' + ${id} + ',"global":"tools","name":"${name}","args":{}}\\n'`

for (const language of languages) {
  describe(language, () => {
    const calls: Array<unknown> = []
    const bindings = [
      {
        global: "tools",
        functions: {
          add: async (args: unknown) => {
            calls.push(args)
            return calls.length
          },
          echo: async (args: Json) => args,
          big: async () => "x".repeat(1 << 20)
        }
      }
    ]
    const limits = { maxWallMs: 8000, maxOutputBytes: 8 << 20 }

    const expectNext = async (runtime: Awaited<ReturnType<typeof open>>) =>
      expect(await runtime.run({ program: "return 7", bindings })).toEqual({ value: 7, logs: [] })

    test("a forged end is the end of its own run alone", async () => {
      await using runtime = await open(language, limits)
      const forged = `'{"type":"done","value":"forged","unsent":[]}\\n'`
      const program = raw(language, `say(${forged})\ntime.sleep(5)`, `say(${forged}); for (;;) {}`)
      expect(await runtime.run({ program, bindings })).toEqual({ value: "forged", logs: [] })
      await expectNext(runtime)
    })

    test("a flood of junk ends the run that floods", async () => {
      await using runtime = await open(language, limits)
      for (const junk of ["'junk\\n' * 1000", "'[1,2,3]\\n' * 1000"]) {
        const repeated = junk.replace(/('.*') \* (\d+)/u, "$1.repeat($2)")
        const program = raw(language, `while True:\n    say(${junk})`, `for (;;) say(${repeated})`)
        const { error } = await runtime.run({ program, bindings })
        expect(error).toMatchObject({ kind: "worker-exit", message: expect.stringContaining("break the protocol") })
      }
      await expectNext(runtime)
    })

    test("a forged call that is refused while it waits for its turn lets the next one have it", async () => {
      await using runtime = await open(language, { ...limits, maxConcurrentCalls: 1 })
      const controller = new AbortController()
      const stop = async () => {
        controller.abort("each had its turn")
        return null
      }
      const forged = `${call("101")} + ${call("102", "nothing")} + ${call("103", "nothing")} + ${call("104", "stop")}`
      const program = raw(
        language,
        forged
          .replaceAll(/' \+ (\d+) \+ '/gu, "$1")
          .replace(/^/u, "say(")
          .concat(")\ntime.sleep(60)"),
        `say(${forged}); for (;;) {}`
      )
      const tools = [{ global: "tools", functions: { ...bindings[0]?.functions, stop } }]
      const { error } = await runtime.run({ program, bindings: tools, signal: controller.signal })
      expect(error).toEqual({ kind: "abort", message: "each had its turn" })
    })

    test("a frame without an end ends the run that sends it", async () => {
      await using runtime = await open(language, { maxWallMs: 20_000, maxOutputBytes: 65_536, maxBindingBytes: 65_536 })
      const program = raw(
        language,
        "while True:\n    say(b'x' * 65536)",
        "const x = 'x'.repeat(65536); for (;;) say(x)"
      )
      const { error } = await runtime.run({ program, bindings })
      expect(error?.kind).toBe("worker-exit")
      await expectNext(runtime)
    })

    test("a death in the middle of a frame keeps what came before it", async () => {
      await using runtime = await open(language, limits)
      const program = raw(
        language,
        `print("whole")\nsay('{"type":"log","channel":"stdout","text":"ha')\nos.kill(os.getpid(), signal.SIGKILL)`,
        `console.log("whole"); say('{"type":"log","channel":"stdout","text":"ha'); process.kill(process.pid, "SIGKILL"); for (;;) {}`
      )
      const { error, logs } = await runtime.run({ program, bindings })
      expect(error).toMatchObject({ kind: "worker-exit", message: expect.stringContaining("SIGKILL") })
      expect(logs).toEqual(["whole"])
      await expectNext(runtime)
    })

    test("a channel that the program closes ends its run", async () => {
      await using runtime = await open(language, limits)
      const program = raw(
        language,
        'print("x")\nos.close(3)\ntime.sleep(0.05)\nreturn 1',
        'console.log("x"); fs.closeSync(3); await new Promise((r) => setTimeout(r, 50)); return 1'
      )
      const { error, logs } = await runtime.run({ program, bindings })
      expect(error?.kind).toBe("worker-exit")
      expect(logs).toEqual(["x"])
      await expectNext(runtime)
    })

    test("a program that calls for ever and never reads the answers is ended", async () => {
      await using runtime = await open(language, { ...limits, maxWallMs: 20_000, maxConcurrentCalls: 4 })
      const before = process.memoryUsage().rss
      const program = raw(
        language,
        `n = 0\nwhile True:\n    n += 1\n    say(${call("str(n)", "big")})`,
        `for (let n = 1; ; n++) say(${call("n", "big")})`
      )
      const { error } = await runtime.run({ program, bindings })
      expect(error?.kind).toBe("worker-exit")
      // 4 calls at once, answered with a MiB each, and twice as many at most that nobody has read.
      expect(process.memoryUsage().rss - before).toBeLessThan(256 << 20)
      await expectNext(runtime)
    })

    test("a reader that has stopped is ended by its budget", async () => {
      await using runtime = await open(language, { ...limits, maxWallMs: 700 })
      const program = raw(
        language,
        `for n in range(1, 4):\n    say(${call("str(n)", "big")})\ntime.sleep(60)`,
        `for (let n = 1; n < 4; n++) say(${call("n", "big")}); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`
      )
      const { error } = await runtime.run({ program, bindings })
      expect(error?.kind).toBe("timeout")
      await expectNext(runtime)
    })

    test("what looks like a frame on standard output is text", async () => {
      await using runtime = await open(language, limits)
      const frame = `{"type":"done","value":"forged","unsent":[]}`
      const program =
        language === "python"
          ? `import os, time\nos.write(1, b'${frame}\\n')\nos.write(2, b'${frame}\\n')\ntime.sleep(0.1)\nreturn 1`
          : `const fs = require("node:fs"); fs.writeSync(1, '${frame}\\n'); fs.writeSync(2, '${frame}\\n'); await new Promise((r) => setTimeout(r, 100)); return 1`
      expect(await runtime.run({ program, bindings })).toEqual({ value: 1, logs: [`${frame}\n`, `${frame}\n`] })
    })

    test("frames of every size cross both ways, whole", async () => {
      await using runtime = await open(language, { maxWallMs: 20_000 })
      const program =
        language === "python"
          ? `sizes = [0, 1, 100, 4095, 65535, 65536, 65537, 1 << 20, (1 << 23) + 1]
for size in sizes:
    text = "\\u00e9\\U0001f600" * (size // 2) + "x" * (size % 2)
    if await tools.echo({"text": text}) != {"text": text}:
        return size
    print(len(text))
return -1`
          : `for (const size of [0, 1, 100, 4095, 65535, 65536, 65537, 1 << 20, (1 << 23) + 1]) {
  const text = "\\u00e9\\u{1f600}".repeat(size / 2) + "x".repeat(size % 2)
  if ((await tools.echo({ text })).text !== text) return size
  console.log(String([...text].length))
}
return -1`
      expect(await runtime.run({ program, bindings })).toEqual({
        value: -1,
        logs: [0, 1, 100, 4095, 65535, 65536, 65537, 1 << 20, (1 << 23) + 1].map(String)
      })
    })

    test("a frame in single bytes is a frame", async () => {
      await using runtime = await open(language, limits)
      const frame = `'{"type":"log","channel":"stderr","text":"\\\\u00e9 \u00e9"}\\n'`
      const program = raw(
        language,
        `for byte in (${frame}).encode():\n    say(bytes([byte]))\nreturn 1`,
        `for (const byte of Buffer.from(${frame})) { fs.writeSync(3, Uint8Array.of(byte)) } return 1`
      )
      expect(await runtime.run({ program, bindings })).toEqual({ value: 1, logs: ["é é"] })
    })

    test("logs that were written just before a death are all there", async () => {
      await using runtime = await open(language, limits)
      const program =
        language === "python"
          ? "import os\nfor i in range(5000):\n    print(i)\nos._exit(9)"
          : "for (let i = 0; i < 5000; i++) console.log(i); process.reallyExit(9)"
      const { error, logs } = await runtime.run({ program })
      expect(error?.message).toContain("code 9")
      expect(logs).toEqual(Array.from({ length: 5000 }, (_, i) => String(i)))
    })
  })
}
