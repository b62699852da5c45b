/**
 * What a container of a program is made of and may use.
 */
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { InvalidLimit } from "../../../domain/Limits.ts"
import type { Language } from "../Policy.ts"

/** The engines whose API is known. */
export type EngineName = "docker" | "podman"

/** The policy of containers. */
export interface OciPolicy {
  /** The language of its programs. */
  readonly language: Language
  /** The image, by name or id: it has the language's interpreter, and the packages that programs can import. */
  readonly image: string
  /** Whose API is spoken; `docker` by default. */
  readonly engine?: EngineName | undefined
  /** The path of the engine's unix socket; by default what `DOCKER_HOST` or `CONTAINER_HOST` says, else the engine's usual. */
  readonly socket?: string | undefined
  /** The engine's name of the runtime, such as `runsc` or `kata`; the engine's own default where it is left out. */
  readonly runtime?: string | undefined
  /** The interpreter in the image, a path or a name on its `PATH`; `python3` or `node` by default. */
  readonly interpreter?: string | undefined
  /** Folders of the image from which Python programs import packages; the interpreter's own by default. */
  readonly packages?: ReadonlyArray<string> | undefined
  /** The size of the private `/tmp`, in MiB; above 0, at most 65536; 16 by default. */
  readonly writableMb?: number | undefined
  /** The guest's environment; empty by default. */
  readonly env?: { readonly [name: string]: string } | undefined
  /** Processes and threads of one guest; from 32 to 32768; 128 by default. */
  readonly maxProcesses?: number | undefined
  /** Processors that one guest can use at once; from 0.01 to 1024; 1 by default. */
  readonly cpus?: number | undefined
  /** How long a standby waits for a program before it is given up, in milliseconds; 60000 by default. */
  readonly standbyMs?: number | undefined
}

/** A policy with every default filled in. */
export interface Checked {
  readonly language: Language
  readonly image: string
  readonly engine: EngineName
  readonly socket: string
  readonly runtime: string | undefined
  readonly interpreter: string
  readonly packages: ReadonlyArray<string> | undefined
  readonly writableMb: number
  readonly env: { readonly [name: string]: string }
  readonly maxProcesses: number
  readonly cpus: number
  readonly standbyMs: number
}

const defaultStandbyMs = 60_000

const socketOf = (engine: EngineName): string => {
  const told = process.env[engine === "docker" ? "DOCKER_HOST" : "CONTAINER_HOST"] ?? ""
  if (told.startsWith("unix://")) return told.slice("unix://".length)
  if (engine === "docker") return "/var/run/docker.sock"
  const own = join(process.env["XDG_RUNTIME_DIR"] ?? "/nowhere", "podman/podman.sock")
  return existsSync(own) ? own : "/run/podman/podman.sock"
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "" && !value.includes("\0")
const within = (value: number, least: number, most: number): boolean =>
  Number.isFinite(value) && value >= least && value <= most

const fail = (key: string, value: unknown, bound: string) => Effect.fail(new InvalidLimit({ key, value, bound }))

/** Checks a policy; fails with the first offender. */
export const check = (policy: OciPolicy): Effect.Effect<Checked, InvalidLimit> =>
  Effect.suspend(() => {
    const { cpus = 1, engine = "docker", env = {}, image, language, maxProcesses = 128, packages, runtime } = policy
    const { interpreter = language === "python" ? "python3" : "node", standbyMs = defaultStandbyMs } = policy
    const { socket = socketOf(engine), writableMb = 16 } = policy
    if (language !== "typescript" && language !== "python") {
      return fail("language", language, 'one of "typescript" and "python"')
    }
    if (!isText(image)) return fail("image", image, "the name of an image")
    if (engine !== "docker" && engine !== "podman") return fail("engine", engine, 'one of "docker" and "podman"')
    if (!isText(socket) || !socket.startsWith("/")) return fail("socket", socket, "the absolute path of a unix socket")
    if (runtime !== undefined && !isText(runtime)) return fail("runtime", runtime, "the engine's name of a runtime")
    if (!isText(interpreter)) return fail("interpreter", interpreter, "a path or a name in the image")
    for (const path of packages ?? []) {
      if (!isText(path) || !path.startsWith("/") || path.includes(":")) {
        return fail("packages", path, "absolute paths in the image, without colons")
      }
    }
    if (!within(writableMb, Number.MIN_VALUE, 65_536)) {
      return fail("writableMb", writableMb, "a number above 0 and at most 65536")
    }
    if (!within(maxProcesses, 32, 32_768) || !Number.isInteger(maxProcesses)) {
      return fail("maxProcesses", maxProcesses, "an integer from 32 to 32768")
    }
    if (!within(cpus, 0.01, 1024)) return fail("cpus", cpus, "a number from 0.01 to 1024")
    if (!within(standbyMs, 0, Number.MAX_VALUE)) return fail("standbyMs", standbyMs, "a number of at least 0")
    for (const [name, value] of Object.entries(env)) {
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/u.test(name) || typeof value !== "string" || value.includes("\0")) {
        return fail("env", name, "names of letters, digits and underscores, with texts as values")
      }
    }
    return Effect.succeed({
      language,
      image,
      engine,
      socket,
      runtime,
      interpreter,
      packages,
      writableMb,
      env,
      maxProcesses,
      cpus,
      standbyMs
    })
  })
