import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { HostProcess } from "./HostProcess.ts"

const folder = new URL("../attacks/", import.meta.url)
const attacks = readdirSync(folder).filter((name) => name.endsWith(".ts"))
const kinds = new Set(["exception", "timeout", "abort", "worker-exit", "invalid-output", "output-limit"])

/** Attacks that must not have their way: what an honest end of each is. */
const honest: { readonly [attack: string]: unknown } = {
  "object-setters.ts": { caught: true },
  "array-setters.ts": true,
  "array-iterator.ts": [1, 2],
  "array-methods.ts": [1, 2],
  "json.ts": "real",
  "to-json.ts": { a: ["real"] },
  "parent-port.ts": "real",
  "async-hooks.ts": "real",
  "delete-globals.ts": 1,
  "namespace.ts": 1,
  "replace-streams.ts": 1,
  "reflect.ts": { a: 1 },
  "promise-constructor.ts": 1,
  "error-constructor.ts": "refused"
}

/** Attacks whose only honest end is a failure of one kind. */
const honestKinds: { readonly [attack: string]: string } = {
  "error-stack-forged.ts": "exception",
  "error-huge.ts": "output-limit",
  "error-name-message.ts": "exception",
  "throw-proxy.ts": "exception",
  "string.ts": "exception",
  "regexp.ts": "exception",
  "stack-trace-limit.ts": "exception",
  "prepare-stack-trace.ts": "exception",
  "promise-species.ts": "exception",
  "exit-loop.ts": "timeout",
  "log-flood.ts": "output-limit",
  "write-flood.ts": "output-limit",
  "microtasks.ts": "timeout",
  "webassembly.ts": "timeout",
  "shared-memory.ts": "timeout"
}

describe("attacks on a host with worker threads", () => {
  let host: HostProcess
  beforeAll(async () => {
    host = await HostProcess.start()
  })
  afterAll(() => host.kill())

  it("are all here, and each says what it tries", () => {
    assert.isAtLeast(attacks.length, 60)
    for (const attack of attacks) {
      assert.match(readFileSync(new URL(attack, folder), "utf8"), /^\/\/ Tries to .+\n/u, attack)
    }
    for (const attack of Object.keys(honest)) assert.include(attacks, attack)
  })

  for (const attack of attacks) {
    const text = readFileSync(new URL(attack, folder), "utf8")
    it(`${attack}: ${text.slice("// Tries to ".length, text.indexOf("\n"))}`, async () => {
      const told = await host.run(text)
      if (!("outcome" in told)) {
        host = await HostProcess.start()
        assert.fail(`the host died: ${JSON.stringify(told)}`)
      }
      const { error, value } = told.outcome
      assert.isTrue(error === undefined || kinds.has(error.kind), JSON.stringify(error))
      if (error !== undefined) assert.notMatch(error.message, /file:\/\/|node_modules|guest-thread|guest\.[jt]s/u)
      if (attack in honest) assert.deepStrictEqual(value ?? error, honest[attack])
      if (attack in honestKinds)
        assert.strictEqual(error?.kind, honestKinds[attack], JSON.stringify(told.outcome).slice(0, 500))
      assert.strictEqual(told.next, 7)
      assert.deepStrictEqual(told.trouble, [])
      assert.isBelow(told.stalledMs, 2500)
      const { output } = host
      host.output = ""
      assert.strictEqual(output, "")
    })
  }

  it("leave nothing on the host's own output", async () => {
    await host.end()
    assert.strictEqual(host.output, "")
  })
})
