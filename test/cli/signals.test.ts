import { assert, describe, it } from "@effect/vitest"
import { makeFolder, start } from "./CommandLine.ts"

const folder = makeFolder({
  "spins.ts": "console.log('spinning')\nwhile (true) {}",
  "waits.ts": "console.log('waiting')\nawait tools.never()",
  "tools.mjs": "export const tools = { never: () => new Promise(() => {}) }\nprocess.stderr.write('loaded\\n')",
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
    await says("waiting")
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
