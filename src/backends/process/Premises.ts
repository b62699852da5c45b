/**
 * What the guests of one runtime share on the host: a private folder, a control group where the host may make one, and a
 * keeper, a process that ends and removes all of it should the host die first.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdtempSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { Cgroup } from "./Cgroup.ts"

/** Where guests live. */
export interface Premises {
  /** A folder that only this user can read; it is removed with everything in it. */
  readonly folder: string
  /** Holds the groups of all guests. */
  readonly cgroup: Cgroup | undefined
  /** The commands, with their options, that a guest's own command is started through. */
  readonly wrap: (limits: ResourceLimits) => ReadonlyArray<string>
}

/** What the kernel holds each process of a guest to. */
export interface ResourceLimits {
  /** Address space in MiB. */
  readonly addressSpaceMb?: number | undefined
  /** Private writable memory in MiB. */
  readonly dataMb?: number | undefined
  /** A number that marks the guest and all that it starts. */
  readonly mark: number
}

const found = (name: string): string | undefined => [`/usr/bin/${name}`, `/bin/${name}`].find((path) => existsSync(path))

/** Waits for the host's end of the pipe to close, which its death does, whatever killed it. */
const keeping = `read -r _
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  if [ -n "$2" ]; then
    echo 1 > "$2/cgroup.kill"
    rmdir "$2"/*/ "$2"
  fi
  rm -rf -- "$1"
  [ -e "$1" ] || [ -e "$2" ] || break
  sleep 0.05
done`

const startKeeper = (folder: string, cgroup: Cgroup | undefined): ChildProcess => {
  const keeper = spawn("/bin/sh", ["-c", keeping, "keeper", folder, cgroup?.folder ?? ""], {
    cwd: "/",
    // A session of its own: what interrupts the host from its terminal must not end the keeper before it.
    detached: true,
    env: { PATH: "/usr/bin:/bin" },
    stdio: ["pipe", "ignore", "ignore"]
  })
  keeper.on("error", () => {})
  keeper.stdin?.on("error", () => {})
  keeper.unref()
  if (keeper.stdin !== null && "unref" in keeper.stdin && typeof keeper.stdin.unref === "function") keeper.stdin.unref()
  return keeper
}

const endKeeper = (keeper: ChildProcess): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (keeper.pid === undefined || keeper.exitCode !== null || keeper.signalCode !== null) {
      return resume(Effect.void)
    }
    keeper.ref()
    keeper.once("exit", () => resume(Effect.void))
    keeper.kill("SIGKILL")
  })

/** Removes a folder of a guest, however the program left it. */
export const removeFolder = (folder: string): Effect.Effect<void> =>
  Effect.tryPromise(() => rm(folder, { recursive: true, force: true })).pipe(
    // Folders that may not be entered, and paths too long to be named.
    Effect.catch(() =>
      Effect.callback<void>((resume) => {
        const removing = spawn("/bin/sh", ["-c", 'chmod -R u+rwX -- "$1"; rm -rf -- "$1"', "remove", folder], {
          env: { PATH: "/usr/bin:/bin" },
          stdio: "ignore"
        })
        removing.once("error", () => resume(Effect.void))
        removing.once("exit", () => resume(Effect.void))
      })
    )
  )

/** Takes premises for the guests of one runtime; they are given up with the scope. */
export const make = (options: {
  /** Whether to use a control group where the host may make one. */
  readonly cgroup: boolean
}): Effect.Effect<Premises, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const folder = mkdtempSync(join(tmpdir(), "effect-code-runtime-"))
        const cgroup = options.cgroup ? Cgroup.make(basename(folder)) : undefined
        return { cgroup, folder, keeper: startKeeper(folder, cgroup) }
      }),
      ({ cgroup, folder, keeper }) =>
        Effect.gen(function* () {
          for (let i = 0; cgroup !== undefined && !cgroup.remove() && i < 100; i++) {
            cgroup.kill()
            yield* Effect.sleep(5)
          }
          yield* removeFolder(folder)
          yield* endKeeper(keeper)
        })
    ),
    ({ cgroup, folder }) => {
      const setpriv = found("setpriv")
      const prlimit = found("prlimit")
      const wrap = ({ addressSpaceMb, dataMb, mark }: ResourceLimits): ReadonlyArray<string> => {
        const words: Array<string> = []
        if (setpriv !== undefined) words.push(setpriv, "--pdeathsig", "KILL", "--")
        if (prlimit !== undefined) {
          words.push(prlimit, "--core=0", `--rttime=${mark}`)
          if (addressSpaceMb !== undefined) words.push(`--as=${Math.ceil(addressSpaceMb * 1_048_576)}`)
          if (dataMb !== undefined) words.push(`--data=${Math.ceil(dataMb * 1_048_576)}`)
          words.push("--")
        }
        return words
      }
      return { folder, cgroup, wrap }
    }
  )
