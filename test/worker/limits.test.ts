/**
 * What a thread cannot keep its program from, each shown. Every program runs in a host of its own.
 */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync, rmdirSync } from "node:fs"
import { HostProcess } from "./HostProcess.ts"

const onItsOwnHost = async (use: (host: HostProcess) => Promise<void>): Promise<void> => {
  // What takes memory takes as long as the machine needs to give it.
  const host = await HostProcess.start(60_000)
  try {
    await use(host)
  } finally {
    host.kill()
  }
}

const told = async (host: HostProcess, program: string) => {
  const answer = await host.run(program)
  if (!("outcome" in answer)) return assert.fail(`the host died: ${JSON.stringify(answer)}`)
  assert.strictEqual(answer.next, 7)
  return answer.outcome
}

describe("what a worker thread cannot promise", () => {
  it("fs.writeSync writes to the host's own output (O3)", () =>
    onItsOwnHost(async (host) => {
      const outcome = await told(
        host,
        "const fs = await import('node:fs')\nfs.writeSync(1, 'to stdout ')\nfs.writeSync(2, 'to stderr')\nreturn 1"
      )
      assert.deepStrictEqual(outcome, { value: 1, logs: [] })
      await host.end()
      assert.include(host.output, "to stdout ")
      assert.include(host.output, "to stderr")
    }))

  it("an orphaned grandchild survives (B7)", () =>
    onItsOwnHost(async (host) => {
      const seconds = `2${Date.now() % 100_000}.7`
      const outcome = await told(
        host,
        `const { spawn } = await import('node:child_process')
const child = spawn('sh', ['-c', 'sleep ${seconds} & echo $!'], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
const pid = await new Promise((done) => child.stdout.once('data', (data) => done(Number(data))))
await new Promise((done) => child.once('exit', done))
return pid`
      )
      const pid = outcome.value
      if (typeof pid !== "number") return assert.fail(JSON.stringify(outcome))
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8")
      process.kill(pid, "SIGKILL")
      assert.include(command, seconds)
    }))

  it("the host's environment can be read, for all that its own is empty (B8)", () =>
    onItsOwnHost(async (host) => {
      const outcome = await told(
        host,
        "const fs = await import('node:fs')\nreturn [Object.keys(process.env).length, fs.readFileSync('/proc/self/environ', 'utf8').length > 0]"
      )
      assert.deepStrictEqual(outcome.value, [0, true])
    }))

  it("the working directory and temporary files are the host's (B7, B8)", () =>
    onItsOwnHost(async (host) => {
      const outcome = await told(
        host,
        "const fs = await import('node:fs'), os = await import('node:os')\nreturn [process.cwd(), fs.mkdtempSync(os.tmpdir() + '/left-')]"
      )
      if (!Array.isArray(outcome.value)) return assert.fail(JSON.stringify(outcome))
      const [directory, folder] = outcome.value
      assert.strictEqual(directory, process.cwd())
      assert.isTrue(typeof folder === "string" && existsSync(folder))
      rmdirSync(String(folder))
    }))

  for (const signal of ["SIGKILL", "SIGTERM"]) {
    it(`process.kill(process.pid, "${signal}") kills the host (B5)`, () =>
      onItsOwnHost(async (host) => {
        assert.deepStrictEqual(await host.run(`process.kill(process.pid, '${signal}'); await tools.never()`), {
          code: null,
          signal
        })
      }))
  }

  it("process.abort is refused by Node in a thread", () =>
    onItsOwnHost(async (host) => {
      const outcome = await told(host, "process.abort()")
      assert.strictEqual(outcome.error?.kind, "exception")
    }))

  it("bytes outside of the heap are not capped (B6)", () =>
    onItsOwnHost(async (host) => {
      const outcome = await told(
        host,
        "const all = []\nfor (let i = 0; i < 200; i++) all.push(Buffer.alloc(1 << 20, 1))\nreturn all.length"
      )
      assert.deepStrictEqual(outcome, { value: 200, logs: [] })
    }))

  it("one allocation far beyond the cap of the heap aborts the host (B6)", () =>
    onItsOwnHost(async (host) => {
      const death = await host.run(
        "const text = 'x'.repeat(400_000_000)\nconst flat = text.replace('x', 'y')\nreturn flat.charCodeAt(5) + [...flat].length"
      )
      assert.isTrue("signal" in death && death.signal === "SIGABRT", JSON.stringify(death).slice(0, 500))
    }))

  it("a rejection at the end of the stack is told by Node on the host's own stderr (O3)", () =>
    onItsOwnHost(async (host) => {
      await told(
        host,
        "const deep = (): any => { try { return deep() } catch { return Promise.reject(new Error('deep')) } }\ntry { deep().catch(() => {}) } catch {}\nreturn 1"
      )
      await host.end()
      assert.include(host.output, "PromiseRejectCallback")
    }))
})
