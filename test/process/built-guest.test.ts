/**
 * The guest of a process as the build makes it: a CommonJS file, which Node runs before it tells of its own flags.
 */
import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { Duplex } from "node:stream"
import { afterAll, beforeAll } from "vitest"
import { bundle } from "../../scripts/bundle.ts"
import { permissionFlags } from "../../src/backends/javascript-guest/NodePermission.ts"

const folder = mkdtempSync(join(tmpdir(), "code-runtime-built-guest-"))
beforeAll(() =>
  Promise.all([
    bundle("backends/node-process/guest-process", folder),
    bundle("backends/worker-thread/guest-thread", folder)
  ])
)
afterAll(() => rmSync(folder, { recursive: true }))

/** What the guest says of one program. */
const said = async (program: string): Promise<ReadonlyArray<unknown>> => {
  const flags = permissionFlags({ allowRead: ["*"], allowChildProcess: true, allowWorker: true })
  const guest = spawn(process.execPath, ["--no-warnings", ...flags, join(folder, "guest-process.cjs"), folder], {
    env: {},
    stdio: ["ignore", "ignore", "inherit", "pipe"]
  })
  const channel = guest.stdio[3]
  if (!(channel instanceof Duplex)) return assert.fail("there is no channel")
  const exited = once(guest, "exit")
  const limits = { maxOutputBytes: 1000, maxBindingBytes: 1000, maxConcurrentCalls: 1 }
  channel.write(`${JSON.stringify({ type: "start", program, columnOffset: 0, namespaces: [], ...limits })}\n`)
  let text = ""
  for await (const chunk of channel.setEncoding("utf8")) {
    text += chunk
    if (text.includes(`"quiet"`) || text.includes(`"threw"`)) break
  }
  // The guest ends with its channel.
  channel.destroy()
  await exited
  return text
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line))
}

const done = { type: "done", tentative: true, unsent: [] }

describe.runIf(process.platform === "linux")("the built guest of a process", () => {
  it("Node's warnings of the flags that it was started with are no logs of the program", async () => {
    assert.deepStrictEqual(await said("(async () => 1)"), [
      { type: "started" },
      { ...done, value: 1 },
      { type: "quiet" }
    ])
  })

  it("the program's own warnings are", async () => {
    const warns =
      "(async () => { process.emitWarning('careful'); await new Promise((go) => setTimeout(go, 1)); return 1 })"
    assert.deepStrictEqual(await said(warns), [
      { type: "started" },
      { type: "log", channel: "stderr", text: "Warning: careful" },
      { ...done, value: 1 },
      { type: "quiet" }
    ])
  })

  it("a program that replaces the functions of Node's modules loses none of its own words", async () => {
    const replaces = `(async () => {
      for (const name of ["fs", "util", "vm", "stream", "string_decoder", "net", "worker_threads"]) {
        const module = require(name)
        for (const key of Object.keys(module)) {
          if (typeof module[key] === "function") module[key] = () => { throw new Error(name + "." + key) }
        }
      }
      require("node:module").syncBuiltinESMExports()
      console.log("still", { here: true })
      return [1, "two"]
    })`
    assert.deepStrictEqual(await said(replaces), [
      { type: "started" },
      { type: "log", channel: "stdout", text: "still { here: true }" },
      { ...done, value: [1, "two"] },
      { type: "quiet" }
    ])
  })

  it("calls nothing through an object that a program can change", () => {
    for (const name of ["backends/node-process/guest-process", "backends/worker-thread/guest-thread"]) {
      const text = readFileSync(join(folder, `${basename(name)}.cjs`), "utf8")
      assert.deepStrictEqual(text.match(/\(0, node_\w+\.\w+\)/gu), null, name)
    }
  })

  it("what a program imports by name is what the guest has made of it", async () => {
    const imports = `(async () => {
      const { tmpdir } = await import("node:os")
      const { log } = await import("node:console")
      log("named")
      return [tmpdir(), require("os").tmpdir(), typeof require.resolve]
    })`
    assert.deepStrictEqual(await said(imports), [
      { type: "started" },
      { type: "log", channel: "stdout", text: "named" },
      { ...done, value: [folder, folder, "function"] },
      { type: "quiet" }
    ])
  })
})
