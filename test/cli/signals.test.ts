import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { makeFolder, start } from "./CommandLine.ts"

const folder = makeFolder({
  "spins.ts": "console.log('spinning')\nwhile (true) {}",
  "waits.ts": "console.log('waiting')\nawait tools.never()",
  "blocked.ts": "import { execSync } from 'node:child_process'\nconsole.log('blocked')\nexecSync('sleep 3600')",
  "tools.mjs": `
    process.stderr.write("loaded\\n")
    export const tools = {
      never: () => {
        process.stderr.write("called\\n")
        return new Promise(() => {})
      }
    }
  `,
  "hangs.mjs": "process.stderr.write('hanging\\n')\nawait new Promise(() => {})"
})

describe.concurrent("signals", () => {
  it("Ctrl-C aborts a spinning program and shows what it printed: 130", async () => {
    const { child, ended, says } = start(folder, ["run", "spins.ts"])
    await says("spinning")
    child.kill("SIGINT")
    assert.deepStrictEqual(await ended, { code: 130, stdout: "", stderr: "spinning\nabort: interrupted by SIGINT\n" })
  })

  it("Ctrl-C aborts a program that waits for a call", async () => {
    const { child, ended, says } = start(folder, ["run", "waits.ts", "--bindings", "tools.mjs"])
    await says("called")
    child.kill("SIGINT")
    const { code, stderr } = await ended
    assert.strictEqual(code, 130)
    assert.include(stderr, "abort: interrupted by SIGINT\nwarning: tools.never, line 2, was still open")
  })

  it("--json tells of the abort in the result", async () => {
    const { child, ended, says } = start(folder, ["run", "spins.ts", "--json", "--logs"])
    await says("spinning")
    child.kill("SIGINT")
    const { code, stdout } = await ended
    assert.strictEqual(code, 130)
    assert.include(stdout, '"logs":["spinning"],"error":{"kind":"abort","message":"interrupted by SIGINT"}')
  })

  it("a second signal waits for nothing, not even for a thread that cannot be ended", async () => {
    const { child, ended, says } = start(folder, ["run", "blocked.ts"])
    await says("blocked")
    child.kill("SIGINT")
    const exited = once(child, "exit")
    // The first one is handled in a turn of the event loop; both at once would count as one.
    const again = setInterval(() => child.kill("SIGINT"), 100)
    const [code, signal] = await exited
    clearInterval(again)
    assert.deepStrictEqual([code, signal], [null, "SIGINT"])
    // What the thread started outlives it; its end closes the pipes.
    process.kill(-(child.pid ?? 0), "SIGKILL")
    await ended
  })

  it("SIGTERM likewise: 143", async () => {
    const { child, ended, says } = start(folder, ["run", "spins.ts"])
    await says("spinning")
    child.kill("SIGTERM")
    const { code, stderr } = await ended
    assert.strictEqual(code, 143)
    assert.include(stderr, "abort: interrupted by SIGTERM")
  })

  it("a signal ends the wait for standard input", async () => {
    const { child, ended, says } = start(folder, ["run", "-", "--bindings", "tools.mjs"])
    await says("loaded")
    child.kill("SIGINT")
    assert.strictEqual((await ended).code, 130)
  })

  it("a signal ends the wait for a module of bindings that hangs", async () => {
    const { child, ended, says } = start(folder, ["run", "spins.ts", "--bindings", "hangs.mjs"])
    await says("hanging")
    child.kill("SIGHUP")
    assert.strictEqual((await ended).code, 129)
  })
})
