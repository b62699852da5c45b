/**
 * Guests in containers of an OCI engine: looks at the engine and the image, builds the recipe of a container, and tries it
 * with a first program.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { encodeStart } from "../../../domain/Frame.ts"
import type { Limits } from "../../../domain/Limits.ts"
import type { Guest, LaunchFailure } from "../../../services/GuestLauncher.ts"
import { lastWords } from "../../process/Ending.ts"
import { nodeGuest } from "../GuestFiles.ts"
import { SandboxUnavailable } from "../SandboxUnavailable.ts"
import * as Trampoline from "../Trampoline.ts"
import { type ContainerGuest, type Recipe, remove, start } from "./Container.ts"
import * as Engine from "./Engine.ts"
import type { Checked } from "./OciPolicy.ts"
import * as Reaper from "./Reaper.ts"
import { profile } from "./SeccompProfile.ts"

const mebibyte = 1_048_576
/** Nobody, on every system that an image is made of. */
const nobody = "65534:65534"
/** Open files of one guest; its interpreter uses some 25. */
const mostFiles = 512
/** Threads of the process that carries the streams, beside those of the guest. */
const carrierThreads = { typescript: 16, python: 2 }
/** Memory that a guest may need beside its idle interpreter and its budget: code, stacks, buffers of pipes. */
const slackMb = 8
/** The folder of the guest's own modules, and its size in MiB. */
const guestFolder = "/guest"
const guestFolderMb = 4
const workingFolder = "/tmp"

const unavailable = (reason: SandboxUnavailable["reason"], message: string) =>
  new SandboxUnavailable({ reason, message })

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const textOf = (name: string): string => readFileSync(fileOf(name), "utf8")

/** A guest as the first process inside takes it: how it is started, and what it reads. */
interface Start {
  readonly command: ReadonlyArray<string>
  readonly instructions: Uint8Array
}

const startNode = (policy: Checked, limits: Limits): Start => {
  const { entry, own } = nodeGuest()
  const heap = `--max-old-space-size=${Math.max(1, Math.floor(limits.maxMemoryMb))}`
  const instructions = Buffer.from(
    JSON.stringify({
      args: ["--v8-pool-size=1", "--no-warnings", heap, entry, workingFolder],
      env: policy.env,
      files: own.map(({ bytes, to }) => [to, Buffer.from(bytes).toString()])
    })
  )
  const flags = ["--no-warnings", "--v8-pool-size=1", "--max-old-space-size=32", "--max-semi-space-size=1"]
  return {
    command: [policy.interpreter, ...flags, "-e", textOf("./relay.cjs"), "--", String(instructions.length)],
    instructions
  }
}

/** `compiled`: the guest as marshal writes it; its source before the image's interpreter compiled it. */
const startPython = (policy: Checked, compiled: Uint8Array | undefined): Start => {
  const instructions = compiled ?? Buffer.from(textOf("../../python-guest/guest.py"))
  return {
    command: [
      policy.interpreter,
      "-ISuB",
      "-c",
      textOf("./relay.py"),
      String(instructions.length),
      compiled === undefined ? "source" : "code",
      policy.packages === undefined ? "*" : policy.packages.join(":"),
      ...Object.entries(policy.env).map(([name, value]) => `${name}=${value}`)
    ],
    instructions
  }
}

const hard = (name: string, most: number) => ({ Name: name, Soft: most, Hard: most })

/** What the engine is asked to create. */
const configOf = (
  policy: Checked,
  limits: Limits,
  imageId: string,
  command: ReadonlyArray<string>,
  filter: string,
  memoryBytes: number | undefined
): unknown => {
  return {
    Image: imageId,
    Entrypoint: command,
    Cmd: [],
    User: nobody,
    WorkingDir: workingFolder,
    Hostname: "guest",
    Labels: { [Reaper.label]: Reaper.self() },
    Healthcheck: { Test: ["NONE"] },
    NetworkDisabled: true,
    Tty: false,
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      // The container ends with its host, since its standard input does, and then it is gone.
      AutoRemove: true,
      NetworkMode: "none",
      IpcMode: "none",
      CgroupnsMode: "private",
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges", `seccomp=${filter}`],
      LogConfig: { Type: "none" },
      PidsLimit: policy.maxProcesses + carrierThreads[policy.language],
      CpuPeriod: 100_000,
      CpuQuota: Math.ceil(policy.cpus * 100_000),
      ...(memoryBytes === undefined ? {} : { Memory: Math.ceil(memoryBytes), MemorySwap: Math.ceil(memoryBytes) }),
      Tmpfs: {
        // Engines put a folder there that everybody can write.
        "/dev/mqueue": "ro,nosuid,nodev,noexec,mode=0555,size=4096",
        [workingFolder]: `rw,nosuid,nodev,mode=1777,size=${Math.ceil(policy.writableMb * mebibyte)}`,
        ...(policy.language === "typescript"
          ? { [guestFolder]: `rw,nosuid,nodev,noexec,mode=1777,size=${guestFolderMb * mebibyte}` }
          : {})
      },
      Ulimits: [
        // Podman without root fails where its user's own limit is 0 and cannot be raised.
        hard("core", policy.engine === "podman" ? 0 : Trampoline.noCore),
        hard("memlock", 0),
        hard("sigpending", Trampoline.mostSignals),
        hard("nofile", mostFiles),
        // Podman asks for more than some hosts allow unless it is told; what bounds a guest is the limit of its group.
        ...(policy.engine === "podman" ? [hard("nproc", 32_768)] : []),
        hard("fsize", Math.ceil(Math.max(policy.writableMb, guestFolderMb) * mebibyte)),
        // The host's own meter ends a run long before; this holds should the host be stopped.
        hard("cpu", Math.ceil(limits.computeMs / 1000) + 60)
      ],
      ...(policy.runtime === undefined ? {} : { Runtime: policy.runtime })
    }
  }
}

const remedies: { readonly [engine in Checked["engine"]]: string } = {
  docker: 'start it, on Debian by "apt-get install docker.io", or name its socket by the option "socket"',
  podman: 'start it by "systemctl --user start podman.socket", or name its socket by the option "socket"'
}

const isSilent = ({ socket, engine }: Checked, { code }: Engine.EngineSilent): SandboxUnavailable =>
  unavailable(
    "engine",
    code === "EACCES"
      ? `this user may not use ${engine} at ${socket}; let it into the group that owns the socket, or use an engine of its own`
      : `no ${engine} answers at ${socket} (${code}); ${remedies[engine]}`
  )

const Info = Schema.Struct({
  OSType: Schema.optionalKey(Schema.String),
  SecurityOptions: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String)))
})

const Image = Schema.Struct({
  Id: Schema.String,
  Config: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        Volumes: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)))
      })
    )
  )
})

/** Looks at the engine and finds the image: its id, so that a name that moves changes nothing for this runtime. */
const look = (policy: Checked): Effect.Effect<string, SandboxUnavailable> =>
  Effect.gen(function* () {
    const { engine, image, socket } = policy
    const told = yield* Engine.ask(socket, "GET", "/info")
    const info = Schema.decodeUnknownOption(Info)(told.body)
    if (told.status !== 200 || info._tag === "None") {
      return yield* unavailable("engine", `what answers at ${socket} is no ${engine}; name its socket by "socket"`)
    }
    const { OSType = "linux", SecurityOptions } = info.value
    if (OSType !== "linux") {
      return yield* unavailable("platform", `${engine} runs containers of ${OSType}; switch it to those of Linux`)
    }
    if (SecurityOptions?.some((each) => each.startsWith("name=seccomp")) !== true) {
      return yield* unavailable("engine", `${engine} at ${socket} has no seccomp; use one that is built with it`)
    }
    const found = yield* Engine.ask(socket, "GET", `/images/${image}/json`)
    const inspected = Schema.decodeUnknownOption(Image)(found.body)
    if (found.status !== 200 || inspected._tag === "None") {
      return yield* unavailable(
        "image",
        `${engine} has no image ${image}; pull it by "${engine} pull ${image}", or build one as docs/sandbox.md shows`
      )
    }
    const { Config, Id } = inspected.value
    const volumes = Object.keys(Config?.Volumes ?? {})
    if (volumes.length > 0) {
      return yield* unavailable(
        "image",
        `the image ${image} declares the volume ${volumes[0]}, which programs could fill; build it without VOLUME`
      )
    }
    return Id
  }).pipe(Effect.mapError((error) => (error instanceof SandboxUnavailable ? error : isSilent(policy, error))))

/** What a trial's program is: it ends at once. */
const trialProgram: { readonly [language in Checked["language"]]: string } = {
  typescript: "(async () => 7)",
  python: "return 7"
}

/** What a first guest told. */
interface Tried {
  readonly idleBytes: number
  readonly compiled: Uint8Array | undefined
}

const refused = (policy: Checked, { message }: LaunchFailure): SandboxUnavailable => {
  if (policy.runtime !== undefined && /(?:unknown|invalid|no such) .*runtime|runtime .*not found/iu.test(message)) {
    return unavailable(
      "engine",
      `${policy.engine} knows no runtime "${policy.runtime}" (${message}); install it and name it in the engine's configuration`
    )
  }
  if (/executable file not found|no such file or directory|exec format/iu.test(message)) {
    return unavailable(
      "interpreter",
      `the image ${policy.image} has no ${policy.interpreter} that starts (${message}); name another by the option "interpreter"`
    )
  }
  return unavailable("trial", message)
}

const firstResult = (
  guest: ContainerGuest,
  limits: Limits,
  policy: Checked
): Effect.Effect<Tried, SandboxUnavailable> =>
  Effect.callback<void, SandboxUnavailable>((resume) => {
    let said = ""
    let stray = ""
    guest.listen({
      onText: (text) => {
        said += text
        if (said.includes('{"type":"done","value":7')) resume(Effect.void)
      },
      onStray: (_, bytes) => (stray += new TextDecoder().decode(bytes)),
      onExit: ({ code, signal }) => {
        const words = `${guest.complaints}\n${stray}`.trim().split("\n")
        const why = words.find((line) => /^\w*Error\b/u.test(line)) ?? words[0]
        const message = `a first program in a container of ${policy.image} ended without a result (${
          why || said.trim() || (signal ?? `code ${code}`)
        })`
        resume(Effect.fail(unavailable("trial", `${message}; check the image and its interpreter`)))
      }
    })
    const code = trialProgram[policy.language]
    guest.send(encodeStart({ code, columnOffset: 0 }, { program: code }, limits))
  }).pipe(
    Effect.timeoutOrElse({
      duration: "30 seconds",
      orElse: () =>
        Effect.fail(
          unavailable(
            "trial",
            "a first program in a container gave no result for 30 seconds; is the engine overloaded?"
          )
        )
    }),
    Effect.andThen(guest.memoryBytes),
    Effect.map((idleBytes) => ({ idleBytes, compiled: guest.compiled }))
  )

/** An engine and an image that were tried. */
export interface Tested {
  /** One fresh guest, ended with the scope. */
  readonly launch: Effect.Effect<Guest, LaunchFailure, Scope.Scope>
}

/** The filter as a file, which is how Podman takes it; removed with the scope. */
const profileFile: Effect.Effect<string, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "effect-code-runtime-"))
      writeFileSync(join(folder, "seccomp.json"), profile)
      return folder
    }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => join(folder, "seccomp.json")
)

/** What was tried already, by all that it depends on. */
const known = new Map<string, Tried>()

/**
 * Looks at the engine, removes what dead hosts left there, tries the image with a first program, and gives what launches
 * guests.
 *
 * Fails with `SandboxUnavailable` and a sentence that says what is missing and what to do.
 */
export const make = (limits: Limits, policy: Checked): Effect.Effect<Tested, SandboxUnavailable, Scope.Scope> =>
  Effect.gen(function* () {
    const imageId = yield* look(policy)
    yield* Reaper.reap(policy.socket)
    const filter = policy.engine === "docker" ? profile : yield* profileFile
    const owed = new Set<string>()
    // An engine that answers again by then gives back what it could not remove when it was asked to.
    yield* Effect.addFinalizer(() =>
      Effect.forEach(owed, (name) => remove(policy.socket, name), { concurrency: 4, discard: true })
    )
    const recipeOf = (compiled: Uint8Array | undefined, memoryBytes: number | undefined): Recipe => {
      const { command, instructions } =
        policy.language === "python" ? startPython(policy, compiled) : startNode(policy, limits)
      return {
        socketPath: policy.socket,
        config: configOf(policy, limits, imageId, command, filter, memoryBytes),
        instructions,
        memoryBytes,
        lastWords: lastWords[policy.language],
        maxConcurrentCalls: limits.maxConcurrentCalls,
        owed
      }
    }
    const { engine, interpreter, language, maxProcesses, packages, runtime, socket, writableMb } = policy
    const place = [engine, socket, runtime, imageId, interpreter, packages]
    const key = JSON.stringify([language, ...place, maxProcesses, writableMb])
    const tried =
      known.get(key) ??
      (yield* Effect.acquireUseRelease(
        Effect.mapError(start(recipeOf(undefined, undefined)), (failure) => refused(policy, failure)),
        (guest) => firstResult(guest, limits, policy),
        (guest) => guest.end
      ))
    known.set(key, tried)
    const memoryBytes = tried.idleBytes + (limits.maxMemoryMb + slackMb) * mebibyte
    const recipe = recipeOf(tried.compiled, memoryBytes)
    return { launch: Effect.acquireRelease(start(recipe), (guest) => guest.end) }
  })
