/**
 * The host's end of a pipe: what arrives is whole text, what is written arrives whole and in order.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { Answers } from "../../src/backends/process/Answers.ts"
import { texts } from "../../src/backends/process/Pipe.ts"

const folder = mkdtempSync(join(tmpdir(), "effect-code-runtime-test-"))
afterAll(() => rmSync(folder, { recursive: true }))

/** Both ends of a new unix socket. */
const pair = (name: string): Promise<{ readonly ours: Socket; readonly theirs: Socket }> =>
  new Promise((resolve) => {
    const path = join(folder, name)
    const ours = new Socket()
    const server = createServer({ pauseOnConnect: true }, (theirs) => {
      server.close()
      resolve({ ours, theirs })
    })
    server.listen(path, () => ours.connect(path))
  })

const closed = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once("close", () => resolve()))

test("a character that arrives in two reads is one character", async () => {
  const { ours, theirs } = await pair("reading")
  const told: Array<string> = []
  const arrived = Promise.withResolvers<void>()
  const socket = texts(theirs, (text) => {
    told.push(text)
    if (told.join("").length === 2) arrived.resolve()
    else ours.write(Buffer.from("é").subarray(1))
  })
  const bothClosed = Promise.all([closed(socket), closed(theirs)])
  ours.write(Buffer.from("aé").subarray(0, 2))
  await arrived.promise
  expect(told).toEqual(["a", "é"])
  ours.destroy()
  // Whoever waits for the socket that was replaced hears of its end too.
  await bothClosed
})

test("texts arrive whole and in order while the reader is slow", async () => {
  const { ours, theirs } = await pair("writing")
  const answers = new Answers(ours, 1_000_000)
  let expected = ""
  for (let i = 0; i < 500; i++) {
    // Short enough to be written past the stream, and so long that the kernel takes a part of one.
    const text = `${i} ${"é€".repeat(i % 100 === 99 ? 20_000 : 8000 - i)}\n`
    expected += text
    expect(answers.write(text)).toBe(true)
  }
  ours.end()
  let received = ""
  theirs.setEncoding("utf8")
  for await (const text of theirs) received += String(text)
  expect(received.length).toBe(expected.length)
  expect(received === expected).toBe(true)
})

test("a reader that leaves too many answers unread is found out, one that reads is not", async () => {
  const { ours, theirs } = await pair("counting")
  const answers = new Answers(ours, 4)
  const text = `${"x".repeat(100_000)}\n`
  let written = 0
  while (answers.write(text)) written++
  expect(written).toBeGreaterThanOrEqual(9)
  expect(written).toBeLessThan(40)
  const drained = Promise.withResolvers<void>()
  let received = 0
  theirs.on("data", (bytes: Buffer) => {
    received += bytes.length
    if (received === written * text.length) drained.resolve()
  })
  theirs.resume()
  await drained.promise
  ours.destroy()
  await closed(theirs)
})
