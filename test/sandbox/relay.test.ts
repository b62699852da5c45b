/**
 * The first process of a container, without an engine: what a guest writes comes out in the order in which it wrote it.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const fileOf = (name: string): string =>
  fileURLToPath(new URL(`../../src/backends/sandbox/oci/${name}`, import.meta.url))
const tags = ["exit", "stdout", "stderr", "channel"] as const

/** What a carrying process sends, message by message, where its guest has these instructions. */
const carried = async (command: string, args: ReadonlyArray<string>, instructions: string): Promise<Array<string>> => {
  const relay = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] })
  const parts: Array<Buffer> = []
  relay.stdout.on("data", (bytes: Buffer) => parts.push(bytes))
  relay.stdin.write(instructions)
  await once(relay, "close")
  const all = Buffer.concat(parts)
  const messages: Array<string> = []
  for (let at = 0; at < all.length;) {
    const end = at + 5 + all.readUInt32BE(at + 1)
    const tag = tags[all[at] ?? -1]
    if (tag !== undefined) messages.push(`${tag} ${all.toString("utf8", at + 5, end)}`)
    at = end
  }
  return messages
}

const relay = readFileSync(fileOf("relay.cjs"), "utf8")
const typescript = (guest: string) => {
  const instructions = JSON.stringify({ args: ["-e", guest], env: {}, files: [] })
  return carried(process.execPath, ["-e", relay, String(instructions.length)], instructions)
}
const python = (guest: string) => carried("python3", [fileOf("relay.py"), String(guest.length), "source", ""], guest)

// A pause between two frames: how far the first has come when the second follows.
const pauses = Array.from({ length: 8 }, (_, index) => index * 60)
const first = { started: '{"type":"started"}', call: '{"type":"call","id":1,"global":"tools","name":"f","args":[]}' }
const done = '{"type":"done","unsent":[]}'
const log = '{"type":"log","channel":"stdout","text":"l"}'

const checkLog = (frame: string, messages: ReadonlyArray<string>) => {
  const text = messages.join("\n")
  assert.isAbove(text.indexOf(log), text.indexOf(frame), text)
  assert.isAbove(text.indexOf("stderr words"), text.indexOf(log), text)
  assert.strictEqual(messages.at(-1), "exit signal 6 0")
}
const checkWords = (messages: ReadonlyArray<string>) => {
  const text = messages.join("\n")
  assert.isAbove(text.indexOf("stdout words"), -1, text)
  assert.isAbove(text.indexOf(done), text.indexOf("stdout words"), text)
}
const checkMuch = (messages: ReadonlyArray<string>) => {
  const kinds = messages.map((message) => message.slice(0, message.indexOf(" ")))
  assert.strictEqual(kinds.indexOf("channel"), kinds.length - 2)
  assert.strictEqual(messages.join("").split("~").length - 1, 200_000)
}

describe("a carrying process of a container", () => {
  for (const [name, frame] of Object.entries(first)) {
    describe(`incident: V8's words on an abort came before a log, since the frame before it (${name}) waited`, () => {
      it("of TypeScript programs", async () => {
        for (const us of pauses) {
          checkLog(
            frame,
            await typescript(`const { writeSync } = require("fs")
              writeSync(3, '${frame}\\n')
              for (const end = process.hrtime.bigint() + ${us * 1000}n; process.hrtime.bigint() < end;);
              writeSync(3, '${log}\\n')
              writeSync(2, "words")
              process.kill(process.pid, "SIGABRT")`)
          )
        }
      })
      it("of Python programs", async () => {
        for (const us of pauses) {
          checkLog(
            frame,
            await python(
              [
                "import os, time",
                `os.write(3, b'${frame}\\n')`,
                `end = time.monotonic_ns() + ${us * 1000}`,
                "while time.monotonic_ns() < end: pass",
                `os.write(3, b'${log}\\n')`,
                "os.write(2, b'words')",
                "os.kill(os.getpid(), 6)"
              ].join("\n")
            )
          )
        }
      })
    })
  }
  describe("output that a program wrote between a call and its last frame is carried before the latter", () => {
    it("of TypeScript programs", async () => {
      for (const us of pauses) {
        checkWords(
          await typescript(`const { writeSync } = require("fs")
            writeSync(3, '${first.call}\\n')
            for (const end = process.hrtime.bigint() + ${us * 1000}n; process.hrtime.bigint() < end;);
            writeSync(1, "words")
            writeSync(3, '${done}\\n')`)
        )
      }
    })
    it("of Python programs", async () => {
      for (const us of pauses) {
        checkWords(
          await python(
            [
              "import os, time",
              `os.write(3, b'${first.call}\\n')`,
              `end = time.monotonic_ns() + ${us * 1000}`,
              "while time.monotonic_ns() < end: pass",
              "os.write(1, b'words')",
              `os.write(3, b'${done}\\n')`
            ].join("\n")
          )
        )
      }
    })
  })
  describe("output that a program wrote before its last frame is carried before it", () => {
    it("of TypeScript programs", async () =>
      checkMuch(
        await typescript(`const { writeSync } = require("fs")
          for (const to of [1, 2]) for (let left = 100_000; left > 0;) left -= writeSync(to, "~".repeat(left))
          writeSync(3, '${done}\\n')`)
      ))
    it("of Python programs", async () =>
      checkMuch(
        await python(
          [
            "import os",
            "for to in (1, 2):",
            "    left = 100000",
            "    while left: left -= os.write(to, b'~' * left)",
            `os.write(3, b'${done}\\n')`
          ].join("\n")
        )
      ))
  })
})
