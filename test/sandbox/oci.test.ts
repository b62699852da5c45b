/**
 * Containers of an OCI engine: what programs find inside, what is left of them however they end, and how a host is told
 * that it can have none.
 */
import { PromiseAdapter, Sandbox } from "effect-code-runtime"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { ask, containers, Dockerd, images, makeImage, socketPath, whyNone, whyNotOwn } from "./Dockerd.ts"
import * as Attempts from "./ContainerAttempts.ts"
import * as Host from "./Host.ts"

const condition = "--conditions=@effect-code-runtime/source"
const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const languages = ["typescript", "python"] as const

const until = async (holds: () => Promise<boolean> | boolean): Promise<void> => {
  const end = performance.now() + 20_000
  while (!(await holds())) {
    if (performance.now() > end) throw new Error("it did not come")
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const make = (options: Partial<Sandbox.OciOptions> & { readonly language: "typescript" | "python" }) =>
  PromiseAdapter.make(Sandbox.layerOci({ image: images[options.language], socket: socketPath, standby: 0, ...options }))

const waiting = {
  typescript: "await tools.mark({}); for (;;) {}",
  python: "await tools.mark({})\nwhile True:\n    pass"
}

/** Programs that write to a file, where they may. */
const writing = {
  python: (path: string, bytes: string) =>
    `import os, time\ntry:\n    fd = os.open("${path}", os.O_WRONLY)\n    os.write(fd, ${bytes})\nexcept OSError:\n    pass\nreturn 1`,
  typescript: (path: string, bytes: string) =>
    `const fs = require("fs"); try { fs.writeFileSync("${path}", Buffer.from(${bytes}, "latin1")) } catch {} return 1`
}

const startHost = (options: object, program: string): ChildProcess =>
  spawn(process.execPath, [condition, fileOf("./oci-host.ts"), JSON.stringify(options), program], {
    stdio: ["ignore", "pipe", "inherit"]
  })

const failureOf = (options: Partial<Sandbox.OciOptions>): Promise<unknown> =>
  make({ language: "python", ...options }).then(
    async (runtime) => {
      await runtime.dispose()
      return assert.fail("it was made")
    },
    (error: unknown) => error
  )
const expect = (error: unknown, reason: string, message: RegExp) => {
  assert.instanceOf(error, Sandbox.SandboxUnavailable)
  if (!(error instanceof Sandbox.SandboxUnavailable)) return
  assert.strictEqual(error.reason, reason)
  assert.match(error.message, message)
}

describe("a host that can have no container fails with the remedy", () => {
  it("where no engine answers", async () => {
    const error = await failureOf({ socket: "/nowhere/docker.sock" })
    expect(error, "engine", /no docker answers at \/nowhere\/docker\.sock \(ENOENT\); start it/u)
    const other = await failureOf({ socket: "/nowhere/podman.sock", engine: "podman" })
    expect(other, "engine", /no podman answers .*systemctl --user start podman\.socket/u)
  })

  it("where something else answers", async () => {
    const folder = mkdtempSync(join(tmpdir(), "oci-server-"))
    const socket = join(folder, "docker.sock")
    const server = createServer((_, response) => response.writeHead(404).end("no"))
    await new Promise<void>((resolve) => server.listen(socket, resolve))
    expect(await failureOf({ socket }), "engine", /is no docker/u)
    await new Promise((resolve) => server.close(resolve))
    rmSync(folder, { recursive: true })
  })

  it.skipIf(whyNone !== undefined)("where the engine has no such image, or it will not do", async () => {
    expect(
      await failureOf({ image: "nobody/has:this" }),
      "image",
      /no image nobody\/has:this; pull it by "docker pull/u
    )
    makeImage("python")
    const body = { Image: images.python, Cmd: ["true"] }
    const created = await ask(socketPath, "POST", "/containers/create?name=effect-code-runtime-test-volume", body)
    assert.strictEqual(created.status, 201)
    const change = encodeURIComponent("VOLUME /data")
    const commit = `/commit?container=effect-code-runtime-test-volume&repo=effect-code-runtime-test-volume&changes=${change}`
    await ask(socketPath, "POST", commit)
    await ask(socketPath, "DELETE", "/containers/effect-code-runtime-test-volume?force=true")
    const error = await failureOf({ image: "effect-code-runtime-test-volume" })
    await ask(socketPath, "DELETE", "/images/effect-code-runtime-test-volume")
    expect(error, "image", /declares the volume \/data/u)
  })

  it.skipIf(whyNone !== undefined)(
    "where the engine does not know the runtime, or the image the interpreter",
    async () => {
      makeImage("python")
      expect(await failureOf({ runtime: "nonesuch" }), "engine", /knows no runtime "nonesuch"/u)
      expect(
        await failureOf({ interpreter: "/nowhere/python" }),
        "interpreter",
        /has no \/nowhere\/python that starts/u
      )
      assert.deepStrictEqual(await containers(), [])
    }
  )

  it("where an option is outside its bound", async () => {
    const wrong: ReadonlyArray<readonly [Partial<Sandbox.OciOptions>, RegExp]> = [
      [{ image: "" }, /image is ""/u],
      [{ socket: "docker.sock" }, /socket is "docker\.sock"/u],
      [{ writableMb: 0 }, /writableMb is 0/u],
      [{ maxProcesses: 4 }, /maxProcesses is 4/u],
      [{ cpus: 0 }, /cpus is 0/u],
      [{ packages: ["lib"] }, /packages is "lib"/u],
      [{ env: { "A=B": "c" } }, /env is "A=B"/u]
    ]
    for (const [options, message] of wrong) {
      const error = await failureOf(options)
      assert.match(error instanceof Error ? error.message : "", message)
    }
  })
})

if (whyNone !== undefined) it("containers", (context) => context.skip(whyNone))

describe.skipIf(whyNone !== undefined).for(languages)("a container of %s", (language) => {
  beforeAll(() => {
    makeImage(language)
  }, 60_000)
  afterEach(async () => assert.deepStrictEqual(await containers(), []))

  it("is nobody, without capabilities, new privileges, network and a world to write", async () => {
    await using runtime = await make({ language, env: { REGION: "north" } })
    const program =
      language === "python"
        ? `
import os, re
status = open("/proc/self/status").read()
field = lambda name: re.search(name + r":\\s+(.*)", status)[1].split("\\t")[0]
places = []
for top in os.listdir("/"):
    for folder, _, _ in os.walk("/" + top) if top not in ("proc", "sys") else [("/" + top, 0, 0)]:
        try:
            open(folder + "/made", "w").close()
            os.remove(folder + "/made")
            places.append(folder)
        except OSError:
            pass
return {"uid": os.getuid(), "gid": os.getgid(), "env": dict(os.environ), "here": os.listdir("."), "places": places,
  "status": [field(name) for name in ("NoNewPrivs", "Seccomp", "CapEff", "CapBnd")],
  "net": os.listdir("/sys/class/net")}`
        : `
const fs = require("fs")
const status = fs.readFileSync("/proc/self/status", "utf8")
const field = (name) => new RegExp("^" + name + ":\\\\s+(\\\\S+)", "m").exec(status)[1]
const places = []
const walk = (folder) => {
  try {
    fs.writeFileSync(folder + "/made", "")
    fs.unlinkSync(folder + "/made")
    places.push(folder)
  } catch {}
  if (folder === "/proc" || folder === "/sys") return
  let entries = []
  try { entries = fs.readdirSync(folder, { withFileTypes: true }) } catch {}
  for (const each of entries) if (each.isDirectory()) walk((folder === "/" ? "" : folder) + "/" + each.name)
}
walk("/")
return { uid: process.getuid(), gid: process.getgid(), env: { ...process.env }, here: fs.readdirSync("."),
  places: places.filter((place) => !place.startsWith("/guest")),
  status: ["NoNewPrivs", "Seccomp", "CapEff", "CapBnd"].map(field), net: fs.readdirSync("/sys/class/net") }`
    const { error, value } = await runtime.run({ program })
    assert.isUndefined(error)
    assert.deepStrictEqual(value, {
      uid: 65_534,
      gid: 65_534,
      env: { REGION: "north" },
      here: [],
      places: ["/tmp"],
      status: ["1", "2", "0000000000000000", "0000000000000000"],
      net: ["lo"]
    })
  })

  it("has a control group that bounds its memory, swap, processes and processors", async () => {
    await using runtime = await make({ language, maxMemoryMb: 64, maxProcesses: 40, cpus: 0.5 })
    // Version 2, then version 1; a kernel that does not count swap has no file for it.
    const files = {
      memory: ["memory.max", "memory/memory.limit_in_bytes"],
      swap: ["memory.swap.max", "memory/memory.memsw.limit_in_bytes"],
      processes: ["pids.max", "pids/pids.max"],
      processors: ["cpu.max", "cpu/cpu.cfs_quota_us"]
    }
    const list = JSON.stringify(files)
    const program =
      language === "python"
        ? `
found = {}
for what, names in ${list}.items():
    for name in names:
        try:
            found[what] = open("/sys/fs/cgroup/" + name).read().strip()
            break
        except OSError:
            pass
return found`
        : `
const found = {}
for (const [what, names] of Object.entries(${list})) for (const name of names) {
  try { found[what] ??= require("fs").readFileSync("/sys/fs/cgroup/" + name, "utf8").trim() } catch {}
}
return found`
    const { value } = await runtime.run({ program })
    const found: { readonly [what: string]: string } = JSON.parse(JSON.stringify(value))
    const memory = Number(found["memory"])
    assert.isTrue(memory > 64 * 2 ** 20 && memory < 512 * 2 ** 20, JSON.stringify(found))
    // Version 1 counts both together.
    assert.include([undefined, "0", found["memory"]], found["swap"])
    assert.match(found["processes"] ?? "", /^4\d$|^5\d$/u)
    assert.match(found["processors"] ?? "", /^50000(?: 100000)?$/u)
  })

  it("says how a program ended, and keeps what it wrote before", async () => {
    await using runtime = await make({ language, maxMemoryMb: 64 })
    const programs =
      language === "python"
        ? {
            exit: "import os\nos.write(1, b'out\\n')\nos.write(2, b'err\\n')\nos._exit(3)",
            kill: "import os\nprint('before')\nos.kill(os.getpid(), 9)",
            memory: "print('before')\nkept = []\nwhile True:\n    kept.append(b'x' * (1 << 20))",
            first: "import os, signal\nos.kill(1, signal.SIGKILL)\nos.kill(1, signal.SIGTERM)\nreturn 7"
          }
        : {
            exit: "const fs = require('fs'); fs.writeSync(1, 'out\\n'); fs.writeSync(2, 'err\\n'); process.exit(3)",
            kill: "console.log('before'); process.kill(process.pid, 'SIGKILL'); for (;;) {}",
            memory: "console.log('before'); const all = []; for (;;) all.push(Buffer.alloc(1 << 20, 1))",
            first: "for (const name of ['SIGKILL', 'SIGTERM', 'SIGUSR1']) process.kill(1, name); return 7"
          }
    const exited = await runtime.run({ program: programs.exit })
    assert.match(exited.error?.message ?? "", /code 3/u)
    assert.sameMembers([...exited.logs], ["out\n", "err\n"])
    const killed = await runtime.run({ program: programs.kill })
    assert.match(killed.error?.message ?? "", /SIGKILL/u)
    assert.deepStrictEqual(killed.logs, ["before"])
    const ended = await runtime.run({ program: programs.memory })
    assert.strictEqual(ended.error?.kind, "worker-exit")
    assert.match(ended.error?.message ?? "", /memory/u)
    assert.deepStrictEqual(ended.logs, ["before"])
    // What carries its streams cannot be ended from inside.
    assert.strictEqual((await runtime.run({ program: programs.first })).value, 7)
  })

  it("leaves nothing after many runs of every kind, some at once", { timeout: 400_000 }, async () => {
    const programs =
      language === "python"
        ? [
            "return 1",
            "raise ValueError('x')",
            "import os\nos._exit(3)",
            "import subprocess\nsubprocess.Popen(['sleep', '60'], start_new_session=True)\nreturn 1"
          ]
        : [
            "return 1",
            "throw new Error('x')",
            "process.exit(3)",
            "(await import('node:child_process')).spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }).unref(); return 1"
          ]
    const runtime = await make({ language, standby: 1, maxConcurrentRuns: 2 })
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, index) => runtime.run({ program: programs[index % programs.length] ?? "" }))
    )
    assert.strictEqual(outcomes.filter(({ value }) => value === 1).length, 50)
    assert.strictEqual(outcomes.filter(({ error }) => error?.kind === "worker-exit").length, 25)
    await runtime.dispose()
  })

  it("has the logs that it wrote below the capture before it returned, however late they are carried", async () => {
    // With so little of a processor its first process stands still between the messages that it sends.
    await using runtime = await make({ language, cpus: 0.05, maxConcurrentRuns: 4 })
    const program =
      language === "python"
        ? "import os\nos.write(1, b'o' * 50_000)\nos.write(2, b'e' * 50_000)\nreturn 1"
        : "const fs = require('fs'); fs.writeSync(1, 'o'.repeat(50_000)); fs.writeSync(2, 'e'.repeat(50_000)); return 1"
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => runtime.run({ program })))
    for (const { logs, value } of outcomes) {
      assert.strictEqual(value, 1)
      assert.lengthOf(logs.join(""), 100_000)
    }
  })

  it("has the whole answer of a call when it closes its output while the answer is carried", async () => {
    await using runtime = await make({ language, maxWallMs: 20_000 })
    const program =
      language === "python"
        ? "import asyncio, os, time\nt = asyncio.create_task(tools.big({}))\nawait asyncio.sleep(0)\ntime.sleep(1)\nos.close(1)\ntime.sleep(0.5)\nreturn len(await t)"
        : `const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
const answer = tools.big({}); await null; pause(1000); require("fs").closeSync(1); pause(500); return (await answer).length`
    const { error, value } = await runtime.run({
      program,
      bindings: [{ global: "tools", functions: { big: async () => "x".repeat(4 << 20) } }]
    })
    assert.deepStrictEqual([error, value], [undefined, 4 << 20])
  })

  it("forges nothing that harms another run, on any descriptor that it can find", async () => {
    await using runtime = await make({ language })
    const attempts =
      language === "python"
        ? [
            writing.python("/proc/1/fd/1", 'b"\\xff" * 100'),
            writing.python("/proc/1/fd/1", 'b"\\x00\\x00\\x00\\x00\\x08code 0 0"')
          ]
        : [
            writing.typescript("/proc/1/fd/1", '"\\xff".repeat(100)'),
            writing.typescript("/proc/1/fd/1", '"\\0\\0\\0\\0\\x08code 0 0"')
          ]
    for (const program of attempts) {
      const { error } = await runtime.run({ program })
      assert.include([undefined, "worker-exit"], error?.kind)
      assert.strictEqual((await runtime.run({ program: "return 7" })).value, 7)
    }
  })

  it("meters the work of children, and ends what is blocked", async () => {
    await using runtime = await make({ language, computeMs: 500, maxWallMs: 20_000 })
    const program =
      language === "python"
        ? "import os, time\nif os.fork() == 0:\n    while True: pass\ntime.sleep(60)"
        : "(await import('node:child_process')).spawn(process.execPath, ['-e', 'for (;;) {}'], { stdio: 'ignore' }); await new Promise((resolve) => setTimeout(resolve, 60_000))"
    const { error } = await runtime.run({ program })
    assert.strictEqual(error?.kind, "timeout")
    assert.match(error?.message ?? "", /computeMs/u)
  })

  it("is gone when its host is killed in mid-run, and the next host works", { timeout: 120_000 }, async () => {
    const options = { language, image: images[language], socket: socketPath, standby: 1 }
    const child = startHost(options, waiting[language])
    await new Promise((resolve) => child.stdout?.once("data", resolve))
    const left = () => containers(socketPath, child.pid)
    assert.isAtLeast((await left()).length, 1)
    const ended = new Promise((resolve) => child.once("exit", resolve))
    child.kill("SIGKILL")
    await ended
    await until(async () => (await left()).length === 0)
    await using runtime = await make({ language })
    assert.strictEqual((await runtime.run({ program: "return 7" })).value, 7)
  })
})

/** Creates a container as the host of that label would. */
const created = async (label: string, start: boolean) => {
  const config = {
    Image: images.python,
    Entrypoint: ["/usr/bin/python3", "-c", "import time\ntime.sleep(600)"],
    Labels: { "effect-code-runtime.host": label },
    HostConfig: { NetworkMode: "none" }
  }
  const answer = await ask(socketPath, "POST", "/containers/create", config)
  const id = /"Id":"(\w+)"/u.exec(JSON.stringify(answer.body))?.[1] ?? ""
  // Another host of this engine may have removed it by now.
  if (start) assert.include([204, 404, 409], (await ask(socketPath, "POST", `/containers/${id}/start`)).status)
  return id
}
const isThere = async (id: string) => (await ask(socketPath, "GET", `/containers/${id}/json`)).status === 200

describe.skipIf(whyNone !== undefined)("the reaper", () => {
  it("removes what dead hosts left, and nothing of living ones", { timeout: 120_000 }, async () => {
    makeImage("python")
    await using living = await make({ language: "python", standby: 1 })
    await until(async () => (await containers()).length === 1)
    const [own] = await containers()
    const { body } = await ask(socketPath, "GET", `/containers/${own?.Id}/json`)
    const host = /"effect-code-runtime\.host":"([^"]+)"/u.exec(JSON.stringify(body))?.[1] ?? ""
    // The same process number, but another process that had it before.
    const before = await created(host.replace(/\d+$/u, "1"), true)
    const dead = await created(host.replace(/\d+ \d+$/u, "999999999 5"), false)
    const elsewhere = await created("another machine 1 1", true)
    await using next = await make({ language: "python" })
    assert.strictEqual((await next.run({ program: "return 7" })).value, 7)
    const all = [own?.Id ?? "", elsewhere, before, dead]
    assert.deepStrictEqual(await Promise.all(all.map(isThere)), [true, true, false, false])
    await ask(socketPath, "DELETE", `/containers/${elsewhere}?force=true`)
    assert.strictEqual((await living.run({ program: "return 8" })).value, 8)
  })
})

describe.skipIf(whyNone !== undefined || whyNotOwn !== undefined)("an engine that is killed in mid-run", () => {
  const engine = new Dockerd()
  afterAll(async () => {
    await engine.stop("SIGTERM")
    engine.close()
  }, 60_000)

  it("ends the run; the next says why, then works again, and nothing is left", { timeout: 120_000 }, async () => {
    await engine.start()
    makeImage("python", engine.socket)
    let marked: (() => void) | undefined
    const begun = new Promise<void>((resolve) => (marked = resolve))
    const mark = async () => {
      marked?.()
      return null
    }
    const bindings = [{ global: "tools", functions: { mark } }]
    const nap = `61.${process.pid}`
    const program = `import subprocess\nsubprocess.Popen(['sleep', '${nap}'])\n${waiting.python}`
    const napping = () =>
      readdirSync("/proc").filter((name) => {
        try {
          return readFileSync(`/proc/${name}/cmdline`, "latin1") === `sleep\0${nap}\0`
        } catch {
          return false
        }
      })
    await using runtime = await make({ language: "python", socket: engine.socket })
    const outcome = runtime.run({ program, bindings })
    await begun
    await until(() => napping().length === 1)
    await engine.stop("SIGKILL")
    assert.strictEqual((await outcome).error?.kind, "worker-exit")
    await until(() => napping().length === 0)
    const next = await runtime.run({ program: "return 7" })
    assert.match(next.error?.message ?? "", /no container engine answers at .*docker\.sock/u)
    await engine.start()
    assert.strictEqual((await runtime.run({ program: "return 7" })).value, 7)
    assert.deepStrictEqual(await containers(engine.socket), [])
  })
})

describe.skipIf(whyNone !== undefined)("attempts to leave a container", () => {
  const prelude = readFileSync(fileOf("./prelude.py"), "utf8")
  let host: Host.Host
  let runtime: PromiseAdapter.PromiseCodeRuntime

  beforeAll(async () => {
    makeImage("python")
    host = await Host.open()
    runtime = await make({ language: "python", maxMemoryMb: 64, maxWallMs: 20_000, maxConcurrentRuns: 2, standby: 1 })
  }, 60_000)
  afterAll(async () => {
    await runtime.dispose()
    await host.close()
  })

  // `attacks.test.ts` shows that the same attempts reach what they are after in a plain process.
  it.concurrent.for(Attempts.names)("%s", { timeout: 120_000 }, async (name) => {
    const program = prelude + readFileSync(join(Attempts.folder, `${name}.py`), "utf8")
    const bindings = [{ global: "tools", functions: { target: async () => ({ ...host.target }) } }]
    const { error, value } = await runtime.run({ program, bindings })
    assert.isTrue(value !== true && (error !== undefined || value === false), JSON.stringify({ error, value }))
    assert.notMatch(error?.message ?? "", /^(?:NameError|SyntaxError|AttributeError|TypeError|KeyError)/u)
    assert.notMatch(error?.message ?? "", /could not be started/u)
  })

  it("cannot change a control group", async () => {
    const program = `
import os
for folder, _, names in os.walk("/sys/fs/cgroup"):
    for name in names:
        try:
            os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
            return os.path.join(folder, name)
        except OSError:
            pass
return False`
    assert.strictEqual((await runtime.run({ program })).value, false)
  })
})
