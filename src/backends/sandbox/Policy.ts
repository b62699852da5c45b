/**
 * What a guest may see and use beyond its interpreter: everything is closed unless it is named here.
 */
import * as Effect from "effect/Effect"
import { statSync } from "node:fs"
import { normalize } from "node:path"
import { InvalidLimit } from "../../domain/Limits.ts"
import { standbyMs as defaultStandbyMs } from "../process/ProcessGuest.ts"

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

const isAbsolute = (path: string): boolean => path.startsWith("/") && !path.includes("\0")

const kindOf = (path: string): "file" | "folder" | undefined => {
  try {
    const found = statSync(path)
    return found.isDirectory() ? "folder" : found.isFile() ? "file" : undefined
  } catch {
    return undefined
  }
}

const within = (value: number | undefined, least: number, most: number): boolean =>
  value === undefined || (Number.isFinite(value) && value >= least && value <= most)

const fail = (key: string, value: unknown, bound: string) => Effect.fail(new InvalidLimit({ key, value, bound }))

/** Checks a policy; fails with the first offender. */
export const check = (policy: Policy): Effect.Effect<Checked, InvalidLimit> =>
  Effect.suspend(() => {
    const { commands = ["/usr/bin/sleep", "/bin/sleep"].filter((path) => kindOf(path) === "file").slice(0, 1) } = policy
    const {
      env = {},
      language,
      maxProcesses = 128,
      packages,
      readOnly = [],
      standbyMs = defaultStandbyMs,
      writableMb = 16
    } = policy
    if (language !== "typescript" && language !== "python") {
      return fail("language", language, 'one of "typescript" and "python"')
    }
    if (!within(writableMb, Number.MIN_VALUE, 65_536)) {
      return fail("writableMb", writableMb, "a number above 0 and at most 65536")
    }
    if (!within(maxProcesses, 32, 32_768) || !Number.isInteger(maxProcesses)) {
      return fail("maxProcesses", maxProcesses, "an integer from 32 to 32768")
    }
    if (!within(standbyMs, 0, Number.MAX_VALUE)) return fail("standbyMs", standbyMs, "a number of at least 0")
    if (packages !== undefined && !(isAbsolute(packages) && kindOf(packages) === "folder")) {
      return fail("packages", packages, "the absolute path of a folder")
    }
    for (const { from, to } of readOnly) {
      if (!isAbsolute(from) || kindOf(from) === undefined) {
        return fail("readOnly.from", from, "the absolute path of a file or a folder")
      }
      if (!isAbsolute(to) || normalize(to) !== to || reserved.test(to)) {
        return fail(
          "readOnly.to",
          to,
          "an absolute path, without dots, outside of the folders that the sandbox has itself"
        )
      }
    }
    for (const path of commands) {
      if (!isAbsolute(path) || kindOf(path) !== "file") return fail("commands", path, "the absolute path of a file")
    }
    for (const [name, value] of Object.entries(env)) {
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/u.test(name) || typeof value !== "string" || value.includes("\0")) {
        return fail("env", name, "names of letters, digits and underscores, with texts as values")
      }
    }
    return Effect.succeed({
      language,
      readOnly,
      writableMb,
      packages,
      env,
      commands,
      maxProcesses,
      interpreter: policy.interpreter,
      engine: policy.engine,
      cgroup: policy.cgroup ?? true,
      zygote: policy.zygote ?? true,
      standbyMs
    })
  })
