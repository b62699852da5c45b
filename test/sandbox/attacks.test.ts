/**
 * Attempts to leave the sandbox, a file each in `test/attacks/sandbox`. Each runs twice by the same means: in a plain
 * process, where it must reach what it is after, and in the sandbox, where it must not. A third run shows that the
 * attempt harmed nobody.
 */
import { PromiseAdapter, Sandbox } from "effect-code-runtime"
import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { find } from "../../src/backends/sandbox/ControlGroup.ts"
import * as Host from "./Host.ts"

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const folder = fileOf("../attacks/sandbox/")
const prelude = readFileSync(fileOf("./prelude.py"), "utf8")

interface Attack {
  readonly name: string
  readonly vector: string
  /** Who can make the attempt outside: anybody, `root`, anybody with control groups (`group`) or with a module of the kernel (`kernel`). */
  readonly control: string
  readonly program: string
}

const attacks: ReadonlyArray<Attack> = readdirSync(folder)
  .filter((name) => name.endsWith(".py"))
  .map((name) => {
    const text = readFileSync(join(folder, name), "utf8")
    return {
      name: name.slice(0, -3),
      vector: /^# vector: (.*)$/mu.exec(text)?.[1] ?? "",
      control: /^# control: (.*)$/mu.exec(text)?.[1] ?? "anybody",
      program: prelude + text
    }
  })

let host: Host.Host
const options = { language: "python", maxMemoryMb: 64, maxWallMs: 20_000, standbyMs: 60_000, writableMb: 16 } as const
/** Guests of both kinds: forks of a zygote, and interpreters of their own. */
let runtimes: ReadonlyArray<Awaited<ReturnType<typeof PromiseAdapter.make>>> = []

beforeAll(async () => {
  host = await Host.open()
  const kinds = [{ zygote: true }, { zygote: false }]
  runtimes = await Promise.all(kinds.map((kind) => PromiseAdapter.make(Sandbox.layer({ ...options, ...kind }))))
})
afterAll(async () => {
  for (const runtime of runtimes) await runtime.dispose()
  await host.close()
})

/** The same program in a plain process of this user, in an empty folder. */
const outside = (program: string): Promise<unknown> => {
  const cwd = mkdtempSync(join(tmpdir(), "sandbox-control-"))
  return new Promise<unknown>((resolve, reject) => {
    execFile(
      "/usr/bin/python3",
      [fileOf("./control.py"), program, JSON.stringify(host.target)],
      { cwd, timeout: 60_000 },
      (error, stdout, stderr) =>
        error === null ? resolve(JSON.parse(stdout)) : reject(new Error(`${error.message}\n${stderr}`))
    )
  }).finally(() => rmSync(cwd, { recursive: true, force: true }))
}

describe("attempts to leave the sandbox", () => {
  it.for(attacks)("$name: $vector", { timeout: 120_000 }, async ({ control, program, vector }, context) => {
    assert.notStrictEqual(vector, "", "the first line names the vector")
    const bindings = [{ global: "tools", functions: { target: async () => ({ ...host.target }) } }]
    for (const runtime of runtimes) {
      const inside = await runtime.run({ program, bindings })
      assert.notStrictEqual(inside.value, true, "it reached what it was after")
      assert.isTrue(inside.error !== undefined || inside.value === false, JSON.stringify(inside))
      // A mistake in the attempt itself would refuse it too.
      assert.notMatch(inside.error?.message ?? "", /^(?:NameError|SyntaxError|AttributeError|TypeError|KeyError)/u)
      assert.deepStrictEqual(await runtime.run({ program: "return 7" }), { value: 7, logs: [] })
    }
    context.skip(control === "root" && process.geteuid?.() !== 0, "only root can make the same attempt outside")
    context.skip(control === "group" && find() === undefined, "this host makes no control groups")
    const reached = await outside(program)
    context.skip(control === "kernel" && /Errno 9[57]/u.test(String(reached)), "this host's kernel has no such sockets")
    assert.strictEqual(reached, true, "the same attempt outside")
  })
})
