/**
 * What sandboxes are on the host while they run, and what is left of them however they end.
 */
import { PromiseAdapter, Sandbox } from "effect-code-runtime"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, assert, describe, it } from "vitest"
import * as ControlGroup from "../../src/backends/sandbox/ControlGroup.ts"
import { tree } from "../../src/backends/sandbox/ProcessTree.ts"

const condition = "--conditions=@effect-code-runtime/source"
const subHost = fileURLToPath(new URL("./sub-host.ts", import.meta.url))

const read = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

const isAlive = (pid: number): boolean =>
  !["", "Z", "X"].includes(/^State:\s+(\S)/mu.exec(read(`/proc/${pid}/status`))?.[1] ?? "")
/** Living descendants of a process; its own number is left out. */
const below = (pid: number): ReadonlyArray<number> => tree(pid).slice(1).filter(isAlive)
const argsOf = (pid: number): string => read(`/proc/${pid}/cmdline`).replaceAll("\0", " ")
/** The processes inside sandboxes of this host: those with a user namespace of their own. */
const insiders = (pid: number = process.pid): ReadonlyArray<number> =>
  below(pid).filter((each) => readlinkSync(`/proc/${each}/ns/pid`) !== readlinkSync("/proc/self/ns/pid"))

const until = async (holds: () => boolean): Promise<void> => {
  const end = performance.now() + 10_000
  while (!holds()) {
    if (performance.now() > end) throw new Error("it did not come")
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** The groups of a host's sandboxes. */
const groupsOf = (pid: number): ReadonlyArray<string> => {
  const place = ControlGroup.find()
  if (place === undefined) return []
  return [place.memory, place.pids, place.cpu].flatMap((folder) =>
    folder === undefined
      ? []
      : readdirSync(folder).filter((name) => name.startsWith(`effect-code-runtime-sandbox-${pid}-`))
  )
}

const waiting = {
  typescript: "await tools.mark({}); await tools.never({}); return 1",
  python: "await tools.mark({})\nawait tools.never({})\nreturn 1"
}

/** A program that sends a line of its own; the channel may be full for a moment; then the line is tried again. */
const forge = (language: string, line: string, times: number, seconds: number) =>
  language === "python"
    ? `import os, time\nfor _ in range(${times}):\n    os.write(3, ${JSON.stringify(`${line}\n`)}.encode())\ntime.sleep(${seconds})`
    : `const fs = await import('node:fs')
       for (let i = 0; i < ${times};) try { fs.writeSync(3, ${JSON.stringify(`${line}\n`)}); i++ } catch {}
       await new Promise((resolve) => setTimeout(resolve, ${seconds * 1000}))`

const languages = ["typescript", "python"] as const

describe.for(languages)("a sandbox of %s", (language) => {
  let marked: (() => void) | undefined
  let runtime: Awaited<ReturnType<typeof PromiseAdapter.make>>
  const bindings = [
    {
      global: "tools",
      functions: {
        mark: async () => {
          marked?.()
          return null
        },
        never: (_: unknown, { signal }: { readonly signal: AbortSignal }) =>
          new Promise<null>((resolve) => signal.addEventListener("abort", () => resolve(null)))
      }
    }
  ]
  /** Starts a run and waits until its program has begun. */
  const begin = async (program: string = waiting[language]) => {
    const begun = new Promise<void>((resolve) => (marked = resolve))
    const controller = new AbortController()
    const outcome = runtime.run({ program, bindings, signal: controller.signal })
    await begun
    return { controller, outcome }
  }
  afterEach(async () => {
    await runtime.dispose()
    assert.deepStrictEqual(
      below(process.pid).filter((pid) => argsOf(pid).includes("/guest/")),
      []
    )
    assert.deepStrictEqual(groupsOf(process.pid), [])
  })
  const make = async (options: Partial<Sandbox.Options> = {}) => {
    runtime = await PromiseAdapter.make(Sandbox.layer({ standby: 0, ...options, language }))
  }

  it("is never root, has no capability, and every namespace of its own", async () => {
    await make()
    const { controller, outcome } = await begin()
    const inside = insiders()
    assert.isAtLeast(inside.length, 2)
    for (const pid of inside) {
      const status = read(`/proc/${pid}/status`)
      assert.notMatch(status, /^Uid:.*\t0\b/mu)
      assert.match(status, /^NoNewPrivs:\t1$/mu)
      assert.match(status, /^Seccomp:\t2$/mu)
      assert.match(status, /^CapEff:\t0+$/mu)
      assert.match(status, /^CapBnd:\t0+$/mu)
      for (const space of ["user", "pid", "net", "ipc", "uts", "mnt", "cgroup"]) {
        assert.notStrictEqual(readlinkSync(`/proc/${pid}/ns/${space}`), readlinkSync(`/proc/self/ns/${space}`), space)
      }
    }
    controller.abort("enough")
    assert.strictEqual((await outcome).error?.kind, "abort")
    assert.isFalse(inside.some(isAlive))
  })

  it("is counted as a whole by the kernel from its first moment, where the host makes control groups", async (context) => {
    context.skip(ControlGroup.find() === undefined, "this host makes no control groups")
    await make()
    const { controller, outcome } = await begin()
    const inside = insiders()
    assert.isAtLeast(inside.length, 2)
    for (const pid of inside) assert.include(read(`/proc/${pid}/cgroup`), `effect-code-runtime-sandbox-${process.pid}-`)
    controller.abort("enough")
    await outcome
  })

  it("has two descriptors of the host beside its channel: standard output and error", async () => {
    await make()
    const { controller, outcome } = await begin()
    const guest = insiders().at(-1) ?? 0
    const kinds = readdirSync(`/proc/${guest}/fd`).map((fd) => readlinkSync(`/proc/${guest}/fd/${fd}`))
    assert.strictEqual(readlinkSync(`/proc/${guest}/fd/0`), "/dev/null")
    for (const kind of kinds) assert.match(kind, /^(?:socket|pipe|anon_inode):|^\/dev\/null$/u)
    controller.abort("enough")
    await outcome
  })

  it("ends with the bubblewrap that somebody kills, and the next run works", async () => {
    await make()
    const { outcome } = await begin()
    const inside = insiders()
    const outer = below(process.pid).find((pid) => argsOf(pid).includes("/guest/start") && !inside.includes(pid))
    assert.isDefined(outer)
    process.kill(outer ?? 0, "SIGKILL")
    const { error } = await outcome
    assert.strictEqual(error?.kind, "worker-exit")
    assert.match(error?.message ?? "", /SIGKILL/u)
    assert.isFalse(inside.some(isAlive))
    assert.strictEqual((await runtime.run({ program: "return 7" })).value, 7)
  })

  it.for([true, false])("ends with its interpreter, children and all (control group: %s)", async (cgroup) => {
    await make({ cgroup })
    const nap = `60.${process.pid}`
    const program =
      language === "python"
        ? `import os, subprocess\nsubprocess.Popen(['sleep', '${nap}'], start_new_session=True)\nos._exit(3)`
        : `const { spawn } = await import('node:child_process'); spawn('sleep', ['${nap}'], { detached: true, stdio: 'ignore' }); process.exit(3)`
    for (let i = 0; i < 5; i++) {
      const { error } = await runtime.run({ program })
      assert.match(error?.message ?? "", /code 3/u)
      assert.deepStrictEqual(insiders(), [])
      // Those whose parent is gone are no descendants any more.
      const left = readdirSync("/proc").filter((name) => argsOf(Number(name)) === `sleep ${nap} `)
      assert.deepStrictEqual(left, [])
    }
  })

  it("leaves nothing after many runs of every kind, some at once", { timeout: 120_000 }, async () => {
    await make({ standby: 1, maxConcurrentRuns: 3, maxWallMs: 20_000 })
    const programs =
      language === "python"
        ? [
            "return 1",
            "raise ValueError('x')",
            "import os\nos._exit(3)",
            "import subprocess\nsubprocess.Popen(['sleep', '60'], start_new_session=True)\nreturn 1",
            "open('f', 'w').write('x')\nreturn 1"
          ]
        : [
            "return 1",
            "throw new Error('x')",
            "process.exit(3)",
            "(await import('node:child_process')).spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }).unref(); return 1",
            "(await import('node:fs')).writeFileSync('f', 'x'); return 1"
          ]
    const runs = Array.from({ length: 40 }, (_, index) =>
      runtime.run({ program: programs[index % programs.length] ?? "" })
    )
    const outcomes = await Promise.all(runs)
    assert.strictEqual(outcomes.filter(({ value }) => value === 1).length, 24)
    assert.strictEqual(outcomes.filter(({ error }) => error?.kind === "worker-exit").length, 8)
    await runtime.dispose()
    assert.deepStrictEqual(insiders(), [])
  })

  it("forges no frame that reaches beyond its own run", async () => {
    await make()
    const junk = await runtime.run({ program: forge(language, '{"type":"nothing"}', 2000, 30) })
    assert.strictEqual(junk.error?.kind, "worker-exit")
    assert.match(junk.error?.message ?? "", /protocol/u)
  })

  it.for([true, false])("says memory when it is used up (control group: %s)", { timeout: 120_000 }, async (cgroup) => {
    await make({ cgroup, maxMemoryMb: 64 })
    const programs =
      language === "python"
        ? [
            "kept = []\nwhile True:\n    kept.append(b'x' * (1 << 20))",
            "kept = []\nwhile True:\n    kept.append({'a': str(len(kept))})"
          ]
        : [
            "const all = []; for (;;) all.push(Buffer.alloc(1 << 20, 1))",
            "const all = []; for (;;) all.push({ a: `${all.length}` })"
          ]
    for (const program of programs) {
      const { error } = await runtime.run({ program })
      assert.strictEqual(error?.kind, "worker-exit", JSON.stringify(error))
      assert.match(error?.message ?? "", /memory/u)
    }
    assert.strictEqual((await runtime.run({ program: "return 7" })).value, 7)
  })
})

describe("the meters of a sandbox", () => {
  it.for([true, false])("count the work of children (control group: %s)", { timeout: 120_000 }, async (cgroup) => {
    const limits = { computeMs: 500, maxWallMs: 20_000, standby: 0 }
    const runtime = await PromiseAdapter.make(Sandbox.layer({ language: "python", cgroup, ...limits }))
    const child = "import os, time\nif os.fork() == 0:\n    while True: pass\ntime.sleep(60)"
    const bomb = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
    for (const program of [child, bomb]) {
      const { error } = await runtime.run({ program })
      assert.strictEqual(error?.kind, "timeout")
      assert.match(error?.message ?? "", /computeMs/u)
      assert.deepStrictEqual(insiders(), [])
      assert.strictEqual((await runtime.run({ program: "return 7" })).value, 7)
    }
    await runtime.dispose()
  })
})

const start = (language: string, program: string, before: ReadonlyArray<string> = []): ChildProcess => {
  const words = [
    ...before,
    process.execPath,
    condition,
    subHost,
    JSON.stringify({ language, standby: 1, standbyMs: 60_000 }),
    program
  ]
  const [file = "", ...args] = words
  return spawn(file, args, { stdio: ["ignore", "pipe", "inherit"] })
}
const output = async (child: ChildProcess): Promise<string> => {
  let text = ""
  child.stdout?.on("data", (bytes: Buffer) => (text += bytes.toString()))
  await new Promise((resolve) => child.once("close", resolve))
  return text
}

describe("a host in a process of its own", () => {
  it.for(languages)("leaves nothing when it is killed in mid-run: %s", { timeout: 120_000 }, async (language) => {
    const child = start(
      language,
      waiting[language].replace("await tools.never({})", language === "python" ? "while True: pass" : "for (;;) {}")
    )
    await new Promise((resolve) => child.stdout?.once("data", resolve))
    const pid = child.pid ?? 0
    await until(() => insiders(pid).length >= 4)
    const inside = below(pid)
    const ended = new Promise((resolve) => child.once("exit", resolve))
    child.kill("SIGKILL")
    await ended
    await until(() => !inside.some(isAlive))
    // Empty groups cannot remove themselves: the next host does.
    const next = await output(start(language, "return 7"))
    assert.include(next, '"value":7')
    assert.deepStrictEqual(groupsOf(pid), [])
  })

  it("leaks no descriptor that it inherited itself", { timeout: 120_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "sandbox-descriptor-"))
    const secret = join(folder, "secret")
    writeFileSync(secret, "inherited secret")
    const look = `
import os
found = []
for number in range(4, 200):
    try:
        found.append(os.pread(number, 100, 0).decode())
    except (OSError, UnicodeDecodeError):
        pass
`
    const before = ["bash", "-c", 'exec 77<"$0"; exec "$@"', secret]
    assert.notInclude(await output(start("python", `${look}\nreturn found`, before)), "inherited secret")
    // The same look from a plain child of the same shell.
    const plain = spawn("bash", [
      "-c",
      'exec 77<"$0"; exec "$@"',
      secret,
      "/usr/bin/python3",
      "-c",
      `${look}\nprint(found)`
    ])
    assert.include(await output(plain), "inherited secret")
    rmSync(folder, { recursive: true })
  })
})
