/**
 * The engine: finds bubblewrap, builds the recipe of a sandbox, and tries it with a first program.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { execFile } from "node:child_process"
import { accessSync, closeSync, constants, lstatSync, mkdtempSync, openSync, readFileSync, readlinkSync } from "node:fs"
import { rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { type Limits } from "../../domain/Limits.ts"
import { encodeStart } from "../../domain/Frame.ts"
import type { Guest, LaunchFailure } from "../../services/GuestLauncher.ts"
import { lastWords } from "../process/Ending.ts"
import * as ControlGroup from "./ControlGroup.ts"
import * as GuestFiles from "./GuestFiles.ts"
import type { Checked } from "./Policy.ts"
import { firstPipe, type Recipe, start, talking } from "./BubblewrapProcess.ts"
import type { SandboxGuest } from "./SandboxGuest.ts"
import { SandboxUnavailable } from "./SandboxUnavailable.ts"
import { type Architecture, encode as encodeFilter } from "./SeccompFilter.ts"
import * as Trampoline from "./Trampoline.ts"
import * as Zygote from "./Zygote.ts"
import * as Zygotes from "./Zygotes.ts"

const mebibyte = 1_048_576

/** What the guest reads of itself: true of every process inside. There is no other `/proc`. */
const status = `Name:\tguest
Uid:\t1000\t1000\t1000\t1000
Gid:\t1000\t1000\t1000\t1000
CapEff:\t0000000000000000
NoNewPrivs:\t1
Seccomp:\t2
`

/** The first process inside and one that only waits are none of the program's. */
const waitingProcesses = 2

/** Open files of one guest's process; its interpreter uses some 25. */
const mostFiles = 512
const fewestFiles = 128

/**
 * Open files of one process of a guest that is the host's own user to the kernel: so few that a guest by itself leaves the
 * host most of what `epoll` may watch for that user. Each half of them can watch the other, and Node aborts where nothing more can be watched.
 */
export const filesBeside = (maxUserWatches: number, processes: number): number =>
  Math.min(mostFiles, Math.max(fewestFiles, Math.floor(Math.sqrt(maxUserWatches / processes)))) || mostFiles

const maxUserWatches = (): number => {
  try {
    return Number(readFileSync("/proc/sys/fs/epoll/max_user_watches", "utf8"))
  } catch {
    return Infinity
  }
}

const unavailable = (reason: SandboxUnavailable["reason"], message: string) =>
  new SandboxUnavailable({ reason, message })

const machine = (): Architecture | undefined =>
  process.platform === "linux" && (process.arch === "x64" || process.arch === "arm64") ? process.arch : undefined

const findEngine = (engine: string | undefined): string | undefined => {
  const candidates =
    engine === undefined ? (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "bwrap")) : [engine]
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

const output = (file: string, args: ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.callback((resume) => {
    execFile(file, args, { env: {}, timeout: 10_000 }, (_, stdout, stderr) => resume(Effect.succeed(stdout + stderr)))
  })

/** Ranges of ids that this process's user namespace has, but for root's. */
const has = (file: string, id: number): boolean => {
  try {
    return readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .some((line) => {
        const [inside = 0, , count = 0] = line.trim().split(/\s+/u).map(Number)
        return id >= inside && id < inside + count
      })
  } catch {
    return false
  }
}

const hasId = (id: number): boolean => has("/proc/self/uid_map", id) && has("/proc/self/gid_map", id)

/** Ids that no system gives to anybody; each guest has one of its own, so guests are strangers to each other too. */
const firstId = 0x6f000000
const idCount = 0x00100000
const nobody = 65_534
let lastId = process.pid * 64

/** Who guests are on the host: never root, and where the host is root, nobody that owns anything. */
const identity = (): Effect.Effect<(() => number) | undefined, SandboxUnavailable> =>
  Effect.suspend(() => {
    if (process.geteuid?.() !== 0) return Effect.as(Effect.void, undefined)
    if (hasId(firstId) && hasId(firstId + idCount - 1)) return Effect.succeed(() => firstId + (++lastId % idCount))
    if (hasId(nobody)) return Effect.succeed(() => nobody)
    return Effect.fail(
      unavailable(
        "identity",
        "the host is root and its user namespace has no other id, so its guests would be root too; run it as an ordinary user"
      )
    )
  })

/** Contents of files as open descriptors that have no name; closed with the scope. */
const openData = (contents: ReadonlyArray<Uint8Array>): Effect.Effect<ReadonlyArray<number>, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "effect-code-runtime-"))
      try {
        return contents.map((bytes, index) => {
          const path = join(folder, String(index))
          writeFileSync(path, bytes, { mode: 0o400 })
          return openSync(path, "r")
        })
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }),
    (files) => Effect.sync(() => files.forEach((file) => closeSync(file)))
  )

/** Top folders that are links on the host, which the dynamic loader's own paths go through. */
const links = (): ReadonlyMap<string, string> => {
  const found = new Map<string, string>([["bin", "usr/bin"]])
  for (const name of ["lib", "lib64", "lib32"]) {
    try {
      if (lstatSync(`/${name}`).isSymbolicLink()) found.set(name, readlinkSync(`/${name}`).replace(/^\//u, ""))
    } catch {
      // The host has no such folder.
    }
  }
  return found
}

/** The one folder that a guest can write. */
const workingFolder = "/tmp"

/** Where packages are seen: Node looks there from everywhere. */
const packagesFolder: { readonly [language in Checked["language"]]: string } = {
  typescript: "/node_modules",
  python: "/packages"
}

/** Rights that a zygote has inside its own user namespace, to make those of its guests; the guests give them up. */
const zygoteRights = ["--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"]

/** The descriptors that the interpreter of a guest begins with. */
const guestDescriptors = 4

const writableBytes = ({ writableMb }: Checked): number => Math.ceil(writableMb * mebibyte)

/** bubblewrap's arguments, and the contents of the files that it reads from descriptors. */
const assemble = (
  files: GuestFiles.GuestFiles,
  policy: Checked,
  architecture: Architecture,
  role: "guest" | "zygote",
  command: ReadonlyArray<string>,
  limits: Trampoline.ResourceLimits
): { readonly args: ReadonlyArray<string>; readonly data: ReadonlyArray<Uint8Array> } => {
  const data: Array<Uint8Array> = []
  const isZygote = role === "zygote"
  const firstData = firstPipe + (isZygote ? Zygote.pipes : 0)
  const own = (bytes: Uint8Array): string => String(firstData + data.push(bytes) - 1)
  // A zygote puts the guests' filter on each of its forks by itself.
  const filter = isZygote ? new Uint8Array() : encodeFilter(architecture, policy.language)
  const tops = links()
  const place = (path: string): string => {
    const [, top = "", rest = ""] = /^\/([^/]+)(.*)$/u.exec(path) ?? []
    const target = tops.get(top)
    return target === undefined ? path : `/${target}${rest}`
  }
  const seen = new Set<string>()
  const mounts = files.mounts.flatMap(({ from, to }) => {
    const at = place(to)
    if (seen.has(at)) return []
    seen.add(at)
    return ["--ro-bind", from, at]
  })
  const packages = policy.packages === undefined ? [] : ["--ro-bind", policy.packages, packagesFolder[policy.language]]
  const args: ReadonlyArray<ReadonlyArray<string>> = [
    ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"],
    ["--disable-userns", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"],
    isZygote ? zygoteRights : [],
    ["--uid", "1000", "--gid", "1000", "--hostname", "guest"],
    talking,
    ["--add-seccomp-fd", own(encodeFilter(architecture, isZygote ? "zygote" : "start"))],
    mounts,
    files.hidden.flatMap((folder) => ["--tmpfs", folder, "--remount-ro", folder]),
    [...tops].flatMap(([name, target]) => ["--symlink", target, `/${name}`]),
    files.own.flatMap(({ bytes, to }) => ["--perms", "0444", "--ro-bind-data", own(bytes), to]),
    [
      "--perms",
      "0555",
      "--ro-bind-data",
      own(Trampoline.assemble(architecture, limits, filter, isZygote ? firstData : guestDescriptors)),
      "/guest/start"
    ],
    ["--perms", "0444", "--ro-bind-data", own(Buffer.from(status)), "/proc/self/status"],
    ["--dev-bind", "/dev/null", "/dev/null"],
    policy.readOnly.flatMap(({ from, to }) => ["--ro-bind", from, to]),
    packages,
    ["--size", String(writableBytes(policy)), "--tmpfs", workingFolder],
    ["--remount-ro", "/", "--chdir", workingFolder, "--", "/guest/start"],
    Object.entries(policy.env).map(([name, value]) => `${name}=${value}`),
    [""],
    command
  ]
  return { args: args.flat(), data }
}

const commandOf = (
  files: GuestFiles.GuestFiles,
  policy: Checked,
  limits: Limits,
  role: "guest" | "zygote"
): ReadonlyArray<string> =>
  policy.language === "typescript"
    ? [
        files.interpreter,
        "--v8-pool-size=1",
        "--no-warnings",
        `--max-old-space-size=${Math.max(1, Math.floor(limits.maxMemoryMb))}`,
        files.entry,
        workingFolder
      ]
    : [
        files.interpreter,
        "-I",
        "-S",
        "-u",
        "-B",
        role === "zygote" ? GuestFiles.zygoteEntry : files.entry,
        policy.packages === undefined ? "" : packagesFolder.python,
        ...Object.keys(policy.env)
      ]

/** What a trial's program is: it ends at once. */
const trialProgram: { readonly [language in Checked["language"]]: string } = {
  typescript: "(async () => 7)",
  python: "return 7"
}

interface Idle {
  readonly memoryBytes: number
  readonly dataMb: number
  readonly addressSpaceMb: number
}

/** The line of an interpreter's last words that says what was wrong. */
const errorLine = (words: string): string => {
  const lines = words.trim().split("\n")
  return lines.find((line) => /^\w*Error\b|^bwrap:/u.test(line)) ?? lines[0] ?? ""
}

/** Runs a first program: what the interpreter holds when it has ended, or what went wrong. */
const trial = (recipe: Recipe, limits: Limits, policy: Checked): Effect.Effect<Idle, SandboxUnavailable> =>
  Effect.acquireUseRelease(
    Effect.mapError(start(recipe), ({ message }) => refused(message)),
    (guest) => firstResult(guest, limits, policy),
    (guest) => guest.end
  )

const firstResult = (guest: SandboxGuest, limits: Limits, policy: Checked): Effect.Effect<Idle, SandboxUnavailable> =>
  Effect.callback<Idle, SandboxUnavailable>((resume) => {
    let said = ""
    let stray = ""
    guest.listen({
      onText: (text) => {
        said += text
        if (!said.includes('{"type":"done","value":7')) return
        resume(Effect.succeed(guest.idle()))
      },
      onStray: (_, bytes) => (stray += new TextDecoder().decode(bytes)),
      onExit: ({ code, signal }) => {
        const told = errorLine(stray)
        // It may end before or after it has told the process that it made.
        if (told.startsWith("bwrap:")) return resume(Effect.fail(refused(told)))
        const how = code === Trampoline.failedCode ? "the kernel refused a step (Linux 5.9 or newer is needed)" : ""
        const why = told || how || said.trim() || `${signal ?? `code ${code}`}`
        resume(
          Effect.fail(
            unavailable(
              "trial",
              `a first program in the sandbox ended without a result (${why}); check ${policy.language}`
            )
          )
        )
      }
    })
    const code = trialProgram[policy.language]
    guest.send(encodeStart({ code, columnOffset: 0 }, { program: code }, limits))
  }).pipe(
    Effect.timeoutOrElse({
      duration: "20 seconds",
      orElse: () =>
        Effect.fail(
          unavailable("trial", "a first program in the sandbox gave no result for 20 seconds; is the host overloaded?")
        )
    })
  )

/** The sentence of a failure that bubblewrap told. */
const refused = (message: string): SandboxUnavailable => {
  if (/namespace|uid map|gid map|setting up|No space left|Operation not permitted/iu.test(message)) {
    return unavailable(
      "user-namespaces",
      `this host lets its user make no namespaces (${message}); allow it, by sysctl user.max_user_namespaces=10000, on Debian also kernel.unprivileged_userns_clone=1, on Ubuntu also kernel.apparmor_restrict_unprivileged_userns=0`
    )
  }
  if (/EACCES|Permission denied|Can't find source path/iu.test(message)) {
    return unavailable(
      "interpreter",
      `the guest's user cannot read a file that it needs (${message}); keep the interpreter and what the policy names outside of private folders such as /root`
    )
  }
  return unavailable("trial", message)
}

/** What an idle interpreter holds, by all that it depends on. */
const idles = new Map<string, Idle>()

/** Memory that a guest may need beside its idle interpreter and its budget: code, stacks, buffers of pipes. */
const slackMb = 8

/** An engine that was tried. */
export interface Engine {
  /** One fresh guest, ended with the scope. */
  readonly launch: Effect.Effect<Guest, LaunchFailure, Scope.Scope>
}

/**
 * Finds bubblewrap and what the guest needs, tries both with a first program, and gives what launches guests.
 *
 * Fails with `SandboxUnavailable` and a sentence that says what is missing and what to do.
 */
export const make = (limits: Limits, policy: Checked): Effect.Effect<Engine, SandboxUnavailable, Scope.Scope> =>
  Effect.gen(function* () {
    const architecture = machine()
    if (architecture === undefined) {
      return yield* unavailable(
        "platform",
        `the sandbox needs Linux on x64 or arm64 and this is ${process.platform} on ${process.arch}; run the host on such a machine`
      )
    }
    const engine = findEngine(policy.engine)
    if (engine === undefined) {
      return yield* unavailable(
        "engine",
        `${policy.engine ?? "bwrap"} is not there; install bubblewrap 0.8 or newer, on Debian by "apt-get install bubblewrap"`
      )
    }
    if (
      !/--disable-userns[^]*--add-seccomp-fd|--add-seccomp-fd[^]*--disable-userns/u.test(
        yield* output(engine, ["--help"])
      )
    ) {
      return yield* unavailable(
        "engine",
        `${engine} is no bubblewrap of version 0.8 or newer; install one, on Debian by "apt-get install bubblewrap"`
      )
    }
    const who = yield* identity()
    const files = yield* GuestFiles.find(policy.language, policy.interpreter, policy.commands)
    const place = policy.cgroup ? ControlGroup.find() : undefined
    if (place !== undefined) ControlGroup.sweep(place)

    const recipeOf = (role: "guest" | "zygote", resources: Trampoline.ResourceLimits, bounds: ControlGroup.Bounds) =>
      Effect.gen(function* () {
        const command = commandOf(files, policy, limits, role)
        const { args, data } = assemble(files, policy, architecture, role, command, {
          core: Trampoline.noCore,
          lockedMemory: 0,
          signals: Trampoline.mostSignals,
          // Python's guests have no epoll.
          files:
            who === undefined && policy.language === "typescript"
              ? filesBeside(maxUserWatches(), policy.maxProcesses)
              : mostFiles,
          fileSize: writableBytes(policy),
          // The host's own meter ends a run long before; this holds should the host be stopped.
          cpu: Math.ceil(limits.computeMs / 1000) + 60,
          ...resources
        })
        const recipe: Recipe = {
          command: engine,
          args,
          pipes: role === "zygote" ? Zygote.pipes : 0,
          data: yield* openData(data),
          identity: who,
          // A zygote's guests have groups of their own.
          group: place === undefined || role === "zygote" ? undefined : { place, bounds },
          lastWords: lastWords[policy.language],
          maxConcurrentCalls: limits.maxConcurrentCalls
        }
        return recipe
      })

    const processes = policy.maxProcesses + waitingProcesses
    const tried = yield* Effect.scoped(
      Effect.flatMap(
        recipeOf("guest", { processes: policy.maxProcesses }, { memoryBytes: undefined, processes }),
        (recipe) => trial(recipe, limits, policy)
      )
    )
    const key = JSON.stringify([files.interpreter, policy, place === undefined])
    const before = idles.get(key)
    // The first guest may have paid for pages that later ones share.
    const idle = before === undefined || before.memoryBytes < tried.memoryBytes ? tried : before
    idles.set(key, idle)

    const budgetMb = limits.maxMemoryMb + slackMb
    const resources: Trampoline.ResourceLimits =
      place !== undefined
        ? {}
        : policy.language === "typescript"
          ? { data: (idle.dataMb + budgetMb + 24) * mebibyte }
          : { addressSpace: (idle.addressSpaceMb + budgetMb) * mebibyte }
    const bounds = { memoryBytes: idle.memoryBytes + budgetMb * mebibyte, processes }
    const recipe = yield* recipeOf("guest", { processes: policy.maxProcesses, ...resources }, bounds)
    const fresh = start(recipe)
    const keeps = policy.zygote && limits.standby > 0
    // Siblings have one user, whose processes only a control group counts apart.
    if (policy.language !== "python" || !keeps || place?.pids === undefined) return launching(fresh)
    const sandbox = yield* recipeOf("zygote", {}, bounds)
    const tmpfs = `size=${writableBytes(policy)},mode=0755`
    // What leads a guest's namespace only waits.
    const group = { place, bounds: { ...bounds, processes: policy.maxProcesses + 1 } }
    const fork = yield* Zygotes.make({ sandbox, group, architecture, tmpfs }, policy.standbyMs)
    return launching(Effect.catchTag(fork, "LaunchFailure", () => fresh))
  })

const launching = (guest: Effect.Effect<SandboxGuest, LaunchFailure>): Engine => ({
  launch: Effect.acquireRelease(guest, ({ end }) => end)
})
