/**
 * What a guest may see and use beyond its interpreter: everything is closed unless it is named here.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { statSync } from "node:fs"
import { normalize } from "node:path"
import { fields as limitFields } from "../../domain/Limits.ts"
import { bounded, InvalidLimit, missing, offence } from "../../domain/Options.ts"
import { standbyMs as defaultStandbyMs } from "../process/ProcessGuest.ts"
import * as ProcessOptions from "../process/ProcessOptions.ts"

/** The languages that sandboxes run. */
export type Language = "typescript" | "python"

/** A file or folder of the host, and where the guest sees it; both are absolute paths. */
export interface Mount {
  readonly from: string
  readonly to: string
}

/** The policy of a sandbox. */
export interface Policy {
  /** The language of its programs. */
  readonly language: Language
  /** Files and folders of the host that the guest can read; none by default. */
  readonly readOnly?: ReadonlyArray<Mount> | undefined
  /** The size of the private `/tmp`, in MiB; above 0, at most 65536; 16 by default. */
  readonly writableMb?: number | undefined
  /** A folder of packages that programs can import: a `node_modules`, or a `site-packages`; none by default. */
  readonly packages?: string | undefined
  /** The guest's environment; empty by default. */
  readonly env?: { readonly [name: string]: string } | undefined
  /** Commands of the host, absolute paths, that programs can start by their names; none but `sleep` by default. */
  readonly commands?: ReadonlyArray<string> | undefined
  /** Processes and threads of one guest, its interpreter's own included; from 32 to 32768; 128 by default. */
  readonly maxProcesses?: number | undefined
  /** The interpreter; by default this host's own Node, or `/usr/bin/python3`, else `python3` on `PATH`. */
  readonly interpreter?: string | undefined
  /** The path of bubblewrap; by default `bwrap` on `PATH`. */
  readonly engine?: string | undefined
  /** Whether a control group holds each guest where the host may make one; true by default. */
  readonly cgroup?: boolean | undefined
  /**
   * Whether Python guests are forks of an interpreter that is booted once in a sandbox; true by default. Forks share its
   * address layout and hash seed. It takes a `standby` above 0 and a control group that counts processes.
   */
  readonly zygote?: boolean | undefined
  /** How long a standby, and an idle zygote, wait for a program before they are given up, in milliseconds; 500 by default. */
  readonly standbyMs?: number | undefined
}

/** A policy with every default filled in. */
export interface Checked {
  readonly language: Language
  readonly readOnly: ReadonlyArray<Mount>
  readonly writableMb: number
  readonly packages: string | undefined
  readonly env: { readonly [name: string]: string }
  readonly commands: ReadonlyArray<string>
  readonly maxProcesses: number
  readonly interpreter: string | undefined
  readonly engine: string | undefined
  readonly cgroup: boolean
  readonly zygote: boolean
  readonly standbyMs: number
}

/** What the sandbox itself consists of; nothing may be laid over it. */
const reserved =
  /^\/(?:$|(?:usr|lib|lib64|lib32|bin|sbin|etc|dev|proc|sys|guest|run|tmp|packages|node_modules)(?:\/|$))/u

/** A text that can be handed to a process. */
const isText = (text: string): boolean => text !== "" && !text.includes("\0")

/** A text that is not empty, with its bound in words. */
export const text = (bound: string) => bounded(Schema.String, bound, isText)

/** Schemas of the options that sandboxes of every engine have. */
export const shared = {
  language: bounded(Schema.Literals(["typescript", "python"]), 'one of "typescript" and "python"'),
  writableMb: bounded(Schema.Finite, "a number above 0 and at most 65536", (value) => value > 0 && value <= 65_536),
  env: bounded(Schema.Record(Schema.String, Schema.String), "an object of texts"),
  maxProcesses: bounded(Schema.Int, "an integer from 32 to 32768", (value) => value >= 32 && value <= 32_768)
}

/** Schemas of the options beside the limits. What their paths lead to is looked at apart. */
export const optionFields = {
  ...shared,
  readOnly: bounded(
    Schema.Array(Schema.Struct({ from: Schema.String, to: Schema.String })),
    "a list of { from, to }, both texts"
  ),
  packages: text("the absolute path of a folder"),
  commands: bounded(Schema.Array(Schema.String), "a list of absolute paths"),
  interpreter: text("the path of an interpreter"),
  engine: bounded(
    Schema.String,
    "the path of bubblewrap, such as /usr/bin/bwrap; Sandbox.layerOci is for engines of containers",
    (path) => path.includes("/") && isText(path)
  ),
  cgroup: ProcessOptions.cgroup,
  zygote: bounded(Schema.Boolean, "true or false"),
  standbyMs: ProcessOptions.standbyMs
}

const isAbsolute = (path: string): boolean => path.startsWith("/") && !path.includes("\0")

type Kind = "file" | "folder"

const kindOf = (path: string): Kind | "something else" => {
  const found = statSync(path)
  return found.isDirectory() ? "folder" : found.isFile() ? "file" : "something else"
}

const fail = (key: string, value: unknown, bound: string) => Effect.fail(new InvalidLimit({ key, value, bound }))

const absent: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR"])

/** What a path is that is none of these kinds, in words; undefined where it is one. */
const whatElse = (path: string, kinds: ReadonlyArray<Kind>): string | undefined => {
  try {
    const kind = kindOf(path)
    if (kinds.some((each) => each === kind)) return undefined
    return kind === "something else" ? "it is something else" : `it is a ${kind}`
  } catch (error) {
    const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined
    return absent.has(code) ? "it does not exist" : `it cannot be looked at (${String(code)})`
  }
}

/** The bound of a path that is not the absolute path of something of these kinds; undefined where it is one. */
const boundOfPath = (path: string, kinds: ReadonlyArray<Kind>): string | undefined => {
  const wanted = kinds.map((kind) => `a ${kind}`).join(" or ")
  if (!isAbsolute(path)) return `the absolute path of ${wanted}`
  const found = whatElse(path, kinds)
  return found === undefined ? undefined : `the absolute path of ${wanted}, but ${found}`
}

/** What the names of an environment must be; undefined where all are right. */
export const checkEnv = (env: { readonly [name: string]: string }): Effect.Effect<void, InvalidLimit> => {
  for (const [name, value] of Object.entries(env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/u.test(name)) return fail("env", name, "names of letters, digits and underscores")
    if (value.includes("\0")) return fail(`env.${name}`, value, "a text without null characters")
  }
  return Effect.void
}

/** Checks a policy, which the limits may stand beside; fails with the first offender. */
export const check = (policy: Policy): Effect.Effect<Checked, InvalidLimit> =>
  Effect.gen(function* () {
    const wrong = offence(policy, { ...optionFields, ...limitFields }) ?? missing(policy, optionFields, ["language"])
    if (wrong !== undefined) return yield* wrong
    const {
      commands = ["/usr/bin/sleep", "/bin/sleep"].filter((path) => whatElse(path, ["file"]) === undefined).slice(0, 1)
    } = policy
    const { env = {}, interpreter, language, maxProcesses = 128, packages, readOnly = [] } = policy
    const { standbyMs = defaultStandbyMs, writableMb = 16, zygote = true } = policy
    if (language === "typescript" && interpreter !== undefined && !isAbsolute(interpreter)) {
      return yield* fail("interpreter", interpreter, "the absolute path of a Node")
    }
    const paths: ReadonlyArray<readonly [key: string, path: string, kinds: ReadonlyArray<Kind>]> = [
      ...(packages === undefined ? [] : [["packages", packages, ["folder"]] as const]),
      ...readOnly.map(({ from }) => ["readOnly.from", from, ["file", "folder"]] as const),
      ...commands.map((path) => ["commands", path, ["file"]] as const)
    ]
    for (const [key, path, kinds] of paths) {
      const bound = boundOfPath(path, kinds)
      if (bound !== undefined) return yield* fail(key, path, bound)
    }
    for (const { to } of readOnly) {
      if (!isAbsolute(to) || normalize(to) !== to || reserved.test(to)) {
        return yield* fail(
          "readOnly.to",
          to,
          "an absolute path, without dots, outside of the folders that the sandbox has itself"
        )
      }
    }
    yield* checkEnv(env)
    return {
      language,
      readOnly,
      writableMb,
      packages,
      env,
      commands,
      maxProcesses,
      interpreter,
      engine: policy.engine,
      cgroup: policy.cgroup ?? true,
      zygote,
      standbyMs
    }
  })
