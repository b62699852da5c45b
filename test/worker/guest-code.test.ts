/**
 * Guest threads of the built library take over what V8 has compiled of their code. The bundles are made here as the build
 * makes them.
 */
import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { Script } from "node:vm"
import { MessageChannel, Worker } from "node:worker_threads"
import { afterAll, beforeAll } from "vitest"
import { bundle } from "../../scripts/bundle.ts"
import * as GuestCode from "../../src/backends/worker-thread/GuestCode.ts"

const folder = mkdtempSync(join(tmpdir(), "code-runtime-guest-code-"))
const home = pathToFileURL(`${folder}/`)
beforeAll(async () => {
  for (const name of ["guest-loader", "guest-thread"]) await bundle(`backends/worker-thread/${name}`, folder)
})
afterAll(() => rmSync(folder, { recursive: true }))

/** What a guest with some code says of one program. */
const said = async ({ entry, workerData }: GuestCode.GuestCode, program: string): Promise<string> => {
  const { port1, port2 } = new MessageChannel()
  const unread = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(entry, {
    env: {},
    stdout: true,
    stderr: true,
    workerData: { ...workerData, port: port2, unread },
    transferList: [port2]
  })
  const failed = once(worker, "exit").then(() => assert.fail("the guest ended"))
  const limits = { maxOutputBytes: 1000, maxBindingBytes: 1000, maxConcurrentCalls: 1 }
  port1.postMessage(`${JSON.stringify({ type: "start", program, columnOffset: 0, namespaces: [], ...limits })}\n`)
  let text = ""
  const whole = new Promise<string>((resolve) =>
    port1.on("message", (lines: string) => {
      text += lines
      if (text.includes("quiet") || text.includes("threw")) resolve(text)
    })
  )
  try {
    return await Promise.race([whole, failed])
  } finally {
    failed.catch(() => {})
    await worker.terminate()
    port1.close()
  }
}

/** The code of the first guest that is given what V8 has compiled, and those before it. */
const codes = async (next: () => GuestCode.GuestCode): Promise<ReadonlyArray<GuestCode.GuestCode>> => {
  const given: Array<GuestCode.GuestCode> = []
  for (;;) {
    const code = next()
    given.push(code)
    if (code.workerData.compiled !== undefined || given.length > 10) return given
    await code.settled?.()
  }
}

describe("the code of guest threads", () => {
  it("V8 takes what was compiled, and the guest does with it what it does without", async () => {
    const [first, ...later] = await codes(GuestCode.make(home, true))
    const last = later.at(-1)
    if (first === undefined || last?.workerData.compiled === undefined) return assert.fail("nothing was compiled")
    const { code, compiled } = last.workerData
    assert.strictEqual(
      new Script(code ?? "", { filename: "code-runtime", cachedData: compiled }).cachedDataRejected,
      false
    )
    const program = "(async () => { console.log('a'); return [new Error('here').stack.split('\\n')[1], 1] })"
    const plain = await said(first, program)
    assert.include(plain, `"text":"a"`)
    assert.include(plain, "at program.ts:1:")
    assert.strictEqual(await said(last, program), plain)
    const throwing = "(async () => { throw new TypeError('no') })"
    assert.strictEqual(await said(last, throwing), await said(first, throwing))
  })

  it("only one guest of a host waits for the thread that compiles", async () => {
    const next = GuestCode.make(home, true)
    const given = await codes(next)
    assert.lengthOf(
      given.filter(({ settled }) => settled !== undefined),
      1
    )
    assert.strictEqual(next().settled, undefined)
  })

  it("compiled code that is none is passed over: the guest compiles for itself", async () => {
    const first = GuestCode.make(home, true)()
    const broken = { ...first, workerData: { ...first.workerData, compiled: new Uint8Array(1000).fill(7) } }
    assert.include(await said(broken, "(async () => 7)"), `"value":7`)
  })

  it("a thread that cannot compile ends, and nobody waits for it in vain", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "code-runtime-guest-code-"))
    try {
      await bundle("backends/worker-thread/guest-thread", elsewhere)
      const next = GuestCode.make(pathToFileURL(`${elsewhere}/`), true)
      for (let i = 0; i < 6; i++) {
        const code = next()
        await code.settled?.()
        assert.strictEqual(code.workerData.compiled, undefined)
      }
    } finally {
      rmSync(elsewhere, { recursive: true })
    }
  })

  it("sources are run as they are", () => {
    const { entry, workerData } = GuestCode.make(home, false)()
    assert.isTrue(entry.pathname.endsWith("guest-thread.ts"))
    assert.deepStrictEqual(workerData, {})
  })
})
