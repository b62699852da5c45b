/**
 * What a container of a program is made of and may use.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { fields as limitFields } from "../../../domain/Limits.ts"
import { bounded, InvalidLimit, missing, offence } from "../../../domain/Options.ts"
import * as ProcessOptions from "../../process/ProcessOptions.ts"
import { checkEnv, type Language, shared, text } from "../Policy.ts"

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

const isInImage = (path: string): boolean => path.startsWith("/") && !/[:\0]/u.test(path)

/** Schemas of the options beside the limits. */
export const optionFields = {
  ...shared,
  image: text("the name of an image"),
  engine: bounded(Schema.Literals(["docker", "podman"]), 'one of "docker" and "podman"'),
  socket: bounded(
    Schema.String,
    "the absolute path of a unix socket",
    (path) => path.startsWith("/") && !path.includes("\0")
  ),
  runtime: text("the engine's name of a runtime"),
  interpreter: text("a path or a name in the image"),
  packages: bounded(Schema.Array(Schema.String), "a list of absolute paths in the image"),
  cpus: bounded(Schema.Finite, "a number from 0.01 to 1024", (value) => value >= 0.01 && value <= 1024),
  standbyMs: ProcessOptions.standbyMs
}

/** Checks a policy, which the limits may stand beside; fails with the first offender. */
export const check = (policy: OciPolicy): Effect.Effect<Checked, InvalidLimit> =>
  Effect.gen(function* () {
    const wrong =
      offence(policy, { ...optionFields, ...limitFields }) ?? missing(policy, optionFields, ["language", "image"])
    if (wrong !== undefined) return yield* wrong
    const { cpus = 1, engine = "docker", env = {}, image, language, maxProcesses = 128, packages, runtime } = policy
    const { interpreter = language === "python" ? "python3" : "node", standbyMs = defaultStandbyMs } = policy
    const { socket = socketOf(engine), writableMb = 16 } = policy
    for (const path of packages ?? []) {
      if (isInImage(path)) continue
      return yield* new InvalidLimit({
        key: "packages",
        value: path,
        bound: "an absolute path in the image, without colons"
      })
    }
    yield* checkEnv(env)
    return {
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
    }
  })
