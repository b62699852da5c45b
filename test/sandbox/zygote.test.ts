/**
 * The zygote of Python's sandboxes: what its guests share, what they do not, and how it begins and ends.
 */
import { PromiseAdapter, Sandbox } from "effect-code-runtime"
import { execFileSync } from "node:child_process"
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, assert, describe, it } from "vitest"
import { find } from "../../src/backends/sandbox/ControlGroup.ts"
import { children, isAlive, numbers, tree } from "../../src/backends/sandbox/ProcessTree.ts"

type Runtime = Awaited<ReturnType<typeof PromiseAdapter.make>>

/** Without a control group that counts processes there are no zygotes, and this file has nothing to show. */
const isAbsent = find()?.pids === undefined

let runtime: Runtime
const make = async (options: Partial<Sandbox.Options> = {}): Promise<void> => {
  runtime = await PromiseAdapter.make(Sandbox.layer({ language: "python", standbyMs: 60_000, ...options }))
}
/** Makes a runtime, and runs programs until the guest that waits for the next one is a fork. */
const makeWithZygote = async (options: Partial<Sandbox.Options> = {}): Promise<void> => {
  await make(options)
  await until(async () => {
    assert.strictEqual(await valueOf("return 7"), 7)
    // The next standby takes a moment, and each run takes one of the forks that a zygote can make.
    for (let look = 0; look < 20 && inside(2).length < 2; look++) await sleep(5)
    return inside(2).length >= 2
  })
}
afterEach(async () => {
  if (isAbsent) return
  await runtime.dispose()
  assert.deepStrictEqual(inside(), [])
})

const read = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}
const own = numbers(process.pid).length
/** Living processes of this host's sandboxes that are so many pid namespaces below it. */
const inside = (depth?: number): ReadonlyArray<number> =>
  tree(process.pid).filter(
    (pid) => isAlive(pid) && (depth === undefined ? numbers(pid).length > own : numbers(pid).length === own + depth)
  )
const zygotes = (): ReadonlyArray<number> =>
  inside(1).filter((pid) => /^\/usr\/bin\/python[^\0]*\0.*zygote\.py\0/u.test(read(`/proc/${pid}/cmdline`)))

/** Asks the kernel what of several processes is one and the same thing. */
const kcmp = `
import ctypes, json, os, sys
library = ctypes.CDLL(None, use_errno=True)
number = 272 if os.uname().machine == "aarch64" else 312
FILE, VM, FILES, FS, SIGHAND, IO, SYSVSEM = range(7)
def same(first, second, kind, one=0, other=0):
    result = library.syscall(number, first, second, kind, ctypes.c_ulong(one), ctypes.c_ulong(other))
    if result < 0:
        raise OSError(ctypes.get_errno(), "kcmp")
    return result == 0
def descriptors(pid):
    return [int(name) for name in os.listdir(f"/proc/{pid}/fd")]
pids = [int(each) for each in sys.argv[1:]]
shared = []
for at, first in enumerate(pids):
    for second in pids[at + 1:]:
        shared += [[first, second, kind] for kind in (VM, FILES, FS, SIGHAND) if same(first, second, kind)]
        for one in descriptors(first):
            shared += [[first, second, one, other] for other in descriptors(second) if same(first, second, FILE, one, other)]
print(json.dumps(shared))`

/** What processes share that forking shares: memory, descriptors, and what is open, with its flags and its position. */
const sharedBy = (...pids: ReadonlyArray<number>): unknown =>
  JSON.parse(execFileSync("/usr/bin/python3", ["-c", kcmp, ...pids.map(String)], { encoding: "utf8" }))

/** The numbers of a process's group and of its session, on the host. */
const groupAndSession = (pid: number): string =>
  read(`/proc/${pid}/stat`)
    .replace(/^.*\) /u, "")
    .split(" ")
    .slice(2, 4)
    .join()

const isConfined = (pid: number): boolean => read(`/proc/${pid}/status`).includes("Seccomp_filters:\t2")
const descriptors = (): number => readdirSync("/proc/self/fd").length

const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  const end = performance.now() + 15_000
  while (!(await holds())) {
    if (performance.now() > end) throw new Error("it did not come")
    await sleep(5)
  }
}

const valueOf = async (program: string): Promise<unknown> => {
  const { error, value } = await runtime.run({ program })
  assert.isUndefined(error, error?.message)
  return value
}

/** Two programs at once: each waits at `tools.meet()` until the other is there too, as often as it likes. */
const together = async (first: string, second: string, look: () => void = () => {}) => {
  let areSiblings = true
  const waiting: Array<() => void> = []
  const meet = () =>
    new Promise<null>((resolve) => {
      waiting.push(() => resolve(null))
      if (waiting.length < 2) return
      areSiblings &&= inside(2).length >= 4
      look()
      for (const go of waiting.splice(0)) go()
    })
  const bindings = [{ global: "tools", functions: { meet } }]
  const outcomes = await Promise.all([first, second].map((program) => runtime.run({ program, bindings })))
  assert.isTrue(areSiblings, "both were forks")
  return outcomes
}

describe.skipIf(isAbsent)("guests of one zygote", { timeout: 120_000 }, () => {
  it("share its hash seed, which a fresh interpreter does not, and never more than some dozens of runs", async () => {
    await makeWithZygote()
    const seeds: Array<unknown> = []
    for (let run = 0; run < 60; run++) seeds.push(await valueOf("return hash('seed') % (1 << 50)"))
    // At most 24 forks of each zygote, and more than one run of one seed.
    assert.isAtLeast(new Set(seeds).size, 3)
    assert.isBelow(new Set(seeds).size, 60)
    await runtime.dispose()
    await make({ zygote: false })
    assert.notStrictEqual(
      await valueOf("return hash('seed') % (1 << 50)"),
      await valueOf("return hash('seed') % (1 << 50)")
    )
  })

  it("draw random numbers of their own", async () => {
    await makeWithZygote()
    const draw = "import random, uuid, secrets, os\nreturn [random.random(), str(uuid.uuid4()), secrets.token_hex(8)]"
    const [first, second] = [await valueOf(draw), await valueOf(draw)]
    assert.strictEqual(new Set([first, second].flat()).size, 6)
  })

  it("see nothing of a sibling: no process, no file, no descriptor, no variable", async () => {
    await makeWithZygote()
    const secret = `
import builtins, os, sys, threading
builtins.secret = sys.secret = os.secret = "secret"
os.environ["SECRET"] = "secret"
open("/tmp/secret", "w").write("secret")
os.makedirs("/tmp/folder/secret")
kept = os.pipe()
os.write(kept[1], b"secret")
threading.Thread(target=lambda: __import__("time").sleep(60), daemon=True).start()
await tools.meet()
await tools.meet()
return open("/tmp/secret").read()`
    const look = `
import builtins, os, sys
await tools.meet()
found = []
for pid in range(1, 400):
    try:
        os.kill(pid, 0)
        found.append(pid)
    except ProcessLookupError:
        pass
descriptors = []
for number in range(4, 600):
    try:
        os.fstat(number)
        descriptors.append(number)
    except OSError:
        pass
seen = [hasattr(each, "secret") for each in (builtins, sys, os)]
await tools.meet()
return [found, os.getpid(), os.getppid(), descriptors, os.listdir("/tmp"), seen, dict(os.environ)]`
    const [hidden, looked] = await together(secret, look)
    assert.strictEqual(hidden?.value, "secret")
    assert.deepStrictEqual(looked?.value, [[1, 2], 2, 1, [], [], [false, false, false], {}])
  })

  it("send no signal to a sibling, to the zygote or to what leads their own namespace", async () => {
    await makeWithZygote()
    const wait = "await tools.meet()\nawait tools.meet()\nreturn 1"
    const signal = `
import os, signal
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGUSR1):
    os.kill(1, number)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
await tools.meet()
for pid in [-1, *range(3, 1000)]:
    try:
        os.kill(pid, signal.SIGTERM)
    except OSError:
        pass
await tools.meet()
return 2`
    const [waited, signalled] = await together(wait, signal)
    assert.deepStrictEqual([waited?.value, signalled?.value], [1, 2])
    assert.strictEqual(zygotes().length, 1)
  })

  it("end no sibling by a signal to their process group, which was that of the zygote and of all its forks", async () => {
    await makeWithZygote()
    const wait = "await tools.meet()\nawait tools.meet()\nreturn 1"
    // The same signal reaches a child of its own, which proves that it is sent.
    const signal = `
import os, signal
child = os.fork()
if child == 0:
    while True:
        signal.pause()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
await tools.meet()
os.kill(0, signal.SIGTERM)
os.killpg(os.getpgrp(), signal.SIGTERM)
reached = os.waitpid(child, 0)[1] == signal.SIGTERM
await tools.meet()
os.kill(0, signal.SIGKILL)`
    const [waited, signalled] = await together(wait, signal)
    assert.strictEqual(waited?.value, 1, waited?.error?.message)
    assert.match(signalled?.error?.message ?? "", /SIGKILL/u)
    assert.isAtLeast(zygotes().length, 1)
  })

  it("leave no mark on standard input: what is open in the zygote kept the flags that a guest set, for the next", async () => {
    await makeWithZygote()
    const mark = `
import fcntl, os
before = fcntl.fcntl(0, fcntl.F_GETFL)
fcntl.fcntl(0, fcntl.F_SETFL, before | os.O_NONBLOCK | os.O_APPEND)
return [before & (os.O_NONBLOCK | os.O_APPEND), fcntl.fcntl(0, fcntl.F_GETFL) & (os.O_NONBLOCK | os.O_APPEND) != 0]`
    for (let run = 0; run < 3; run++) assert.deepStrictEqual(await valueOf(mark), [0, true])
  })

  it("share nothing with a sibling that a fork shares: no memory, no open file, no session", async (context) => {
    context.skip(process.geteuid?.() !== 0, "only root may compare other processes")
    await makeWithZygote()
    let looks = 0
    const look = () => {
      looks++
      const [bubblewrap = 0, zygote = 0] = inside(1)
      const forks = inside(2).filter(isConfined)
      const leaders = forks.filter((pid) => numbers(pid).at(-1) === 1)
      assert.isAtLeast(leaders.length, 2)
      // What bubblewrap leaves running and the zygote share what is open, so the question can be answered with yes.
      assert.notDeepEqual(sharedBy(bubblewrap, zygote), [])
      const guests = forks.filter((pid) => !leaders.includes(pid))
      assert.deepStrictEqual(sharedBy(zygote, ...guests), [])
      assert.deepStrictEqual(sharedBy(zygote, ...leaders), [])
      assert.strictEqual(new Set([zygote, ...leaders].map(groupAndSession)).size, 1 + leaders.length)
    }
    const meet = "await tools.meet()\nreturn 1"
    const [first, second] = await together(meet, meet, look)
    assert.deepStrictEqual([first?.value, second?.value, looks], [1, 1, 1])
  })

  it("can tell each other something by a lock on a file that both read, which nothing guards against", async () => {
    await makeWithZygote()
    const file = "import fcntl, os\nfile = os.open(os.__file__, os.O_RDONLY)\n"
    const hold = `${file}fcntl.flock(file, fcntl.LOCK_EX)\nawait tools.meet()\nawait tools.meet()\nreturn True`
    const look = `${file}await tools.meet()
try:
    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    seen = False
except BlockingIOError:
    seen = True
await tools.meet()
return seen`
    const [held, seen] = await together(hold, look)
    assert.deepStrictEqual([held?.value, seen?.value], [true, true])
  })

  it("have what the policy gives: variables, packages, files", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sandbox-zygote-"))
    chmodSync(folder, 0o755)
    writeFileSync(join(folder, "greeting.py"), "text = 'hello'\n")
    const readOnly = [{ from: join(folder, "greeting.py"), to: "/data.py" }]
    await makeWithZygote({ env: { NAME: "value" }, packages: folder, readOnly })
    const look = "import greeting, os\nreturn [dict(os.environ), greeting.text, open('/data.py').read()]"
    assert.deepStrictEqual(await valueOf(look), [{ NAME: "value" }, "hello", "text = 'hello'\n"])
    rmSync(folder, { recursive: true })
  })

  it("cannot count a sibling's starts: its process numbers begin where they always do", async () => {
    await makeWithZygote()
    const count = `
import os
pid = os.fork()
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
return [os.getpid(), pid]`
    for (let run = 0; run < 3; run++) assert.deepStrictEqual(await valueOf(count), [2, 3])
    const [first, second] = await together(`await tools.meet()${count}`, `await tools.meet()${count}`)
    assert.deepStrictEqual(
      [first?.value, second?.value],
      [
        [2, 3],
        [2, 3]
      ]
    )
  })

  it("use up nothing of a sibling's: memory, processes and files are counted apart", async () => {
    await makeWithZygote({ maxMemoryMb: 64, maxProcesses: 40, writableMb: 8 })
    const bombs = [
      "kept = []\nwhile True:\n    kept.append(b'x' * (1 << 20))",
      `
import os, time
made = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(60)
        made += 1
except OSError:
    pass
await tools.meet()
return made < 40`,
      `
try:
    with open("/tmp/big", "wb") as file:
        while True:
            file.write(b"x" * (1 << 20))
except OSError as error:
    pass
await tools.meet()
return True`
    ]
    const work = `
import os, subprocess
await tools.meet()
subprocess.run(["sleep", "0"], check=True)
with open("/tmp/mine", "wb") as file:
    file.write(b"x" * (4 << 20))
return len(bytearray(32 << 20))`
    for (const bomb of bombs.slice(1)) {
      const [bombed, worked] = await together(bomb, work)
      assert.strictEqual(bombed?.value, true, bombed?.error?.message)
      assert.strictEqual(worked?.value, 32 * 2 ** 20, worked?.error?.message)
    }
    const meet = "await tools.meet()\n"
    const [bombed, worked] = await together(`${meet}${bombs[0]}`, work)
    assert.match(bombed?.error?.message ?? "", /memory/u)
    assert.strictEqual(worked?.value, 32 * 2 ** 20, worked?.error?.message)
  })

  it("have no right that their zygote has, and namespaces and a group of their own", async () => {
    await makeWithZygote()
    let seen: ReadonlyArray<number> = []
    const look = async () => {
      // The next standby may be on its way to what every guest is, its group last: one list is waited for and looked at.
      const group = `effect-code-runtime-sandbox-${process.pid}-`
      await until(() => {
        seen = inside(2)
        return seen.length >= 2 && seen.every((pid) => isConfined(pid) && read(`/proc/${pid}/cgroup`).includes(group))
      })
      for (const pid of seen) {
        const status = read(`/proc/${pid}/status`)
        assert.match(status, /^CapInh:\t0+\nCapPrm:\t0+\nCapEff:\t0+\nCapBnd:\t0+\nCapAmb:\t0+$/mu)
        assert.match(status, /^NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t2$/mu)
        assert.notMatch(status, /^Uid:.*\t0\b/mu)
        for (const space of ["pid", "mnt", "ipc", "uts"]) {
          const spaceOf = (each: number) => readlinkSync(`/proc/${each}/ns/${space}`)
          assert.notStrictEqual(spaceOf(pid), spaceOf(zygotes()[0] ?? 0), space)
        }
      }
      return null
    }
    const bindings = [{ global: "tools", functions: { look } }]
    const { error } = await runtime.run({ program: "await tools.look()", bindings })
    assert.isUndefined(error, error?.message)
    // This run's, and the standby's that follows it: what leads each namespace, and the guest.
    assert.isAtLeast(seen.length, 2)
  })
})

describe.skipIf(isAbsent)("a zygote", { timeout: 120_000 }, () => {
  it("that is killed ends its runs, and the next run works", async () => {
    await makeWithZygote()
    const begun = Promise.withResolvers<null>()
    const functions = {
      begin: async () => {
        begun.resolve(null)
        return null
      }
    }
    const outcome = runtime.run({
      program: "await tools.begin()\nwhile True:\n    pass",
      bindings: [{ global: "tools", functions }]
    })
    await begun.promise
    const guests = inside(2)
    for (const pid of zygotes()) process.kill(pid, "SIGKILL")
    const { error } = await outcome
    assert.strictEqual(error?.kind, "worker-exit")
    assert.match(error?.message ?? "", /SIGKILL/u)
    assert.isFalse(guests.some(isAlive))
    assert.strictEqual(await valueOf("return 7"), 7)
  })

  it("that nobody needs is ended, and started again by the next run", async () => {
    await makeWithZygote({ standbyMs: 1000 })
    await until(() => inside().length === 0)
    assert.strictEqual(await valueOf("return 7"), 7)
  })

  it("is not started for guests that are seldom needed", async () => {
    await make({ standbyMs: 0 })
    for (let run = 0; run < 6; run++) await valueOf("return 1")
    assert.deepStrictEqual(zygotes(), [])
  })

  it("is not kept where no guest is to be kept ready", async () => {
    await make({ standby: 0 })
    await valueOf("return 1")
    assert.deepStrictEqual(inside(), [])
  })

  it("that cannot start is done without", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sandbox-zygote-"))
    const engine = join(folder, "bwrap")
    writeFileSync(engine, '#!/bin/sh\ncase "$*" in *CAP_SYS_ADMIN*) exit 1 ;; esac\nexec /usr/bin/bwrap "$@"\n')
    chmodSync(engine, 0o755)
    chmodSync(folder, 0o755)
    await make({ engine })
    for (let run = 0; run < 6; run++) assert.strictEqual(await valueOf("return 7"), 7)
    assert.deepStrictEqual(zygotes(), [])
    rmSync(folder, { recursive: true })
  })

  it("ends what a guest of it leaves behind with that guest", async () => {
    await makeWithZygote()
    const leave = `
import os, subprocess
subprocess.Popen(["sleep", "60"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            pass
    os._exit(0)
`
    for (const end of ["return 1", "os._exit(3)", "os.kill(os.getpid(), 9)", "raise ValueError"]) {
      await runtime.run({ program: leave + end })
      // The standby waits at its channel: what leads its namespace, and itself.
      await until(() => inside(2).length <= 2)
      const commands = inside(2).map((pid) => read(`/proc/${pid}/cmdline`))
      assert.isTrue(commands.every((command) => !command.includes("sleep")))
    }
  })

  it("tells how its guest ended: by which code, by which signal", async () => {
    await makeWithZygote()
    const ends = [
      ["os._exit(3)", /code 3/u],
      ["os.kill(os.getpid(), 9)", /SIGKILL/u],
      ["os.kill(os.getpid(), 15)", /SIGTERM/u],
      ["os.abort()", /SIGABRT/u]
    ] as const
    for (const [end, expected] of ends) {
      const { error } = await runtime.run({ program: `import os\n${end}` })
      assert.strictEqual(error?.kind, "worker-exit")
      assert.match(error?.message ?? "", expected)
    }
  })

  it("serves a thousand runs, some at once, with nothing left of them", { timeout: 400_000 }, async () => {
    await makeWithZygote({ maxConcurrentRuns: 4 })
    const programs = [
      "return 1",
      "open('f', 'w').write('x')\nreturn 1",
      "import os\nif os.fork() == 0:\n    os.setsid()\n    __import__('time').sleep(60)\nreturn 1",
      "import asyncio\nawait asyncio.sleep(0)\nreturn 1"
    ]
    for (let round = 0; round < 10; round++) {
      const runs = Array.from({ length: 100 }, (_, index) => valueOf(programs[index % programs.length] ?? ""))
      assert.isTrue((await Promise.all(runs)).every((value) => value === 1))
    }
    await runtime.dispose()
    assert.deepStrictEqual(inside(), [])
    assert.deepStrictEqual(children(process.pid).filter(isAlive), [])
    const place = find()
    const groups = [place?.memory, place?.pids, place?.cpu].flatMap((folder) =>
      folder === undefined ? [] : readdirSync(folder).filter((name) => name.includes(`-sandbox-${process.pid}-`))
    )
    assert.deepStrictEqual(groups, [])
    const after = descriptors()
    await makeWithZygote()
    await runtime.dispose()
    assert.isAtMost(descriptors(), after)
  })
})
