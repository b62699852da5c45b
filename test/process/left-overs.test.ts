/**
 * B7, B9: nothing of a run is left when it returns, and nothing of a host that died.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { childrenOf, foldersOf, type Language, languages, newMark, open, processesWith } from "./Backends.ts"

/** A program that starts `sleep` with a mark as a daemon of its own session whose parent is gone, and then ends somehow. */
const daemon = (
  language: Language,
  mark: string,
  then: { readonly python: string; readonly typescript: string }
): string =>
  language === "python"
    ? `import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        os.execv("/bin/sleep", ["sleep", "${mark}"])
    os._exit(0)
os.wait()
time.sleep(0.2)
${then.python}`
    : `const { spawnSync } = await import("node:child_process")
spawnSync("/bin/sh", ["-c", "cd /; setsid sleep ${mark} & sleep 0.2"], { stdio: "inherit" })
${then.typescript}`

const sleeping = (mark: string): ReadonlyArray<number> => processesWith(`sleep\0${mark}`)

const ends = {
  returns: { python: "return 1", typescript: "return 1" },
  throws: { python: "raise ValueError()", typescript: "throw new Error()" },
  exits: { python: "os._exit(3)", typescript: "process.exit(3)" },
  "is killed": { python: "os.kill(os.getpid(), 9)", typescript: "process.kill(process.pid, 'SIGKILL'); for (;;) {}" },
  "is stopped": { python: "os.kill(os.getpid(), 19)", typescript: "process.kill(process.pid, 'SIGSTOP'); for (;;) {}" }
}

/** CPU ticks of the living children of this process. */
const ticksOfChildren = (): number =>
  childrenOf(process.pid)
    .map((pid) => {
      const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, "utf8") : ""
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return Number(fields[11]) + Number(fields[12])
    })
    .reduce((sum, each) => sum + each, 0)

for (const language of languages) {
  for (const cgroup of [true, false]) {
    const how = `${language}, ${cgroup ? "with a control group where there is one" : "without a control group"}`
    for (const [end, then] of Object.entries(ends)) {
      test(`${how}: a daemon of a program that ${end} is gone`, async () => {
        await using runtime = await open(language, { cgroup, maxWallMs: 3000, standby: 0 })
        const mark = newMark()
        const { logs } = await runtime.run({ program: daemon(language, mark, then) })
        expect(logs).toEqual([])
        expect(sleeping(mark)).toEqual([])
      })
    }

    test(`${how}: a host that is killed takes all with it`, async () => {
      const mark = newMark()
      const program = daemon(language, mark, {
        python: `await tools.ready(os.getcwd())\nwhile True:\n    pass`,
        typescript: "await tools.ready(process.cwd()); for (;;) {}"
      })
      const host = spawn(
        process.execPath,
        [fileURLToPath(new URL("./Host.ts", import.meta.url)), language, String(cgroup), program],
        { stdio: ["ignore", "pipe", "inherit"] }
      )
      const [told] = await once(host.stdout, "data")
      const folder = String(told).trim()
      expect(existsSync(folder)).toBe(true)
      const guests = processesWith(folder)
      expect(guests.length).toBeGreaterThan(0)
      expect(sleeping(mark).length).toBe(1)
      host.kill("SIGKILL")
      await once(host, "exit")
      await expect.poll(() => processesWith(`effect-code-runtime-${host.pid}-`)).toEqual([])
      await expect.poll(() => foldersOf(host.pid)).toEqual([])
      if (cgroup) await expect.poll(() => sleeping(mark)).toEqual([])
      // Without a control group nobody is left who could find it: a declared limit.
      else for (const pid of sleeping(mark)) process.kill(pid, "SIGKILL")
    })
  }

  test(`${language}: a standby keeps no host alive, and does not outlive it`, async () => {
    const host = spawn(process.execPath, [fileURLToPath(new URL("./Host.ts", import.meta.url)), language, "true"], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    const [told] = await once(host.stdout, "data")
    expect(String(told)).toBe("idle\n")
    const [code] = await once(host, "exit")
    expect(code).toBe(0)
    await expect.poll(() => processesWith(`effect-code-runtime-${host.pid}-`)).toEqual([])
    expect(foldersOf(host.pid)).toEqual([])
  })

  test(`${language}: a grandchild that holds the pipes delays no end`, async () => {
    await using runtime = await open(language)
    const mark = newMark()
    const program =
      language === "python"
        ? `import subprocess, os\nsubprocess.Popen(["sleep", "${mark}"], start_new_session=True)\nos._exit(5)`
        : `require("node:child_process").spawn("sleep", ["${mark}"], { stdio: "inherit", detached: true }); process.exit(5)`
    const { error } = await runtime.run({ program })
    expect(error).toMatchObject({ kind: "worker-exit", message: expect.stringContaining("code 5") })
    expect(sleeping(mark)).toEqual([])
  })

  test(`${language}: folders that may not be entered and long paths are removed`, async () => {
    await using runtime = await open(language)
    const program =
      language === "python"
        ? `import os
here = os.getcwd()
os.mkdir("locked"); open("locked/file", "w").close(); os.chmod("locked", 0)
for _ in range(30):
    os.mkdir("d" * 250); os.chdir("d" * 250)
return here`
        : `const fs = require("node:fs"); const here = process.cwd()
fs.mkdirSync("locked"); fs.writeFileSync("locked/file", ""); fs.chmodSync("locked", 0)
fs.mkdirSync(here + "/" + Array(14).fill("d".repeat(250)).join("/"), { recursive: true })
return here`
    const { error, value } = await runtime.run({ program })
    expect(error).toBeUndefined()
    expect(existsSync(String(value))).toBe(false)
  })

  test(`${language}: twenty runs at once leave no child and no zombie; an idle runtime has no process`, async () => {
    const before = childrenOf(process.pid)
    await using runtime = await open(language, { maxConcurrentRuns: 4 })
    const results = await Promise.all(Array.from({ length: 20 }, () => runtime.run({ program: "return 1" })))
    expect(results.map((result) => result.value)).toEqual(Array(20).fill(1))
    // A standby waits for a while, and then nothing is left.
    await expect.poll(() => childrenOf(process.pid), { timeout: 120_000 }).toEqual(before)
    expect(foldersOf(process.pid)).toEqual([])
    expect((await runtime.run({ program: "return 2" })).value).toBe(2)
  })

  test(`${language}: a guest sees an empty environment, its own folder, and no descriptor of the host`, async () => {
    await using runtime = await open(language)
    const program =
      language === "python"
        ? `import os, sys, tempfile
fds = [os.readlink("/proc/self/fd/" + fd) for fd in os.listdir("/proc/self/fd") if int(fd) > 3 and os.path.exists("/proc/self/fd/" + fd)]
return [dict(os.environ), open("/proc/self/environ").read(), os.listdir("."), tempfile.gettempdir() == os.getcwd(), sys.stdin.read(), len(os.read(0, 1)), fds]`
        : `const fs = require("node:fs"), os = require("node:os")
const fds = fs.readdirSync("/proc/self/fd").filter((fd) => Number(fd) > 3).flatMap((fd) => { try { return [fs.readlinkSync("/proc/self/fd/" + fd)] } catch { return [] } }).filter((to, _, all) => !/^anon_inode:|^\\/dev\\/null$|^\\/proc\\//.test(to) && all.filter((each) => each === to).length === 1)
return [{ ...process.env }, fs.readFileSync("/proc/self/environ", "utf8"), fs.readdirSync("."), os.tmpdir() === process.cwd(), fs.readFileSync(0, "utf8"), 0, fds]`
    const { value } = await runtime.run({ program })
    expect(value).toEqual([{}, "", [], true, "", 0, []])
  })

  test(`${language}: an idle standby uses no CPU`, async () => {
    await using runtime = await open(language)
    await runtime.run({ program: "return 1" })
    // It has booted when it uses no more; a guest that polls would never be found so.
    let last = -1
    await expect
      .poll(
        () => {
          const before = last
          last = ticksOfChildren()
          return last === before
        },
        { interval: 200 }
      )
      .toBe(true)
  })
}

for (const language of languages) {
  test(`incident: a ${language} guest that was ended while it joined its control group made its folder afterwards`, async () => {
    {
      await using runtime = await open(language, { cgroup: true, standby: 0 })
      // From before the guest is there until its program runs.
      for (let ms = 0; ms < 24; ms += 0.5) {
        const controller = new AbortController()
        const run = runtime.run({ program: "return 1", signal: controller.signal })
        const end = performance.now() + ms
        while (performance.now() < end) await new Promise(setImmediate)
        controller.abort()
        await run
      }
    }
    expect(foldersOf(process.pid)).toEqual([])
  })
}

for (const language of languages) {
  test(`${language}: a daemon that makes the removed folder anew leaves none`, async () => {
    await using runtime = await open(language, { cgroup: true, standby: 0 })
    const words = JSON.stringify(["setsid", "/bin/sh", "-c", 'here=$PWD; cd /; while :; do mkdir "$here"; done'])
    const program =
      language === "python"
        ? `import subprocess\nsubprocess.Popen(${words}, stderr=subprocess.DEVNULL)\nreturn 1`
        : `const [file, ...args] = ${words}\nrequire("node:child_process").spawn(file, args, { stdio: "ignore" }).unref()\nreturn 1`
    for (let i = 0; i < 8; i++) {
      expect((await runtime.run({ program })).value).toBe(1)
      expect(foldersOf(process.pid)).toEqual([])
    }
  })
}
