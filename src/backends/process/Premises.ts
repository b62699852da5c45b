/**
 * What the guests of one runtime share on the host: a control group where the host may make one, and a keeper, a process
 * that ends them and removes their folders should the host die first.
 */
import * as Effect from "effect/Effect"
import * as RcRef from "effect/RcRef"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { rm } from "node:fs/promises"
import { Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { Cgroup } from "./Cgroup.ts"

/** Where guests live. */
export interface Premises {
  /** A name that no guest on these premises had before. */
  readonly newName: () => string
  /** The path of the private folder of a guest of that name; nobody has made it yet. */
  readonly folderOf: (name: string) => string
  /** Holds the groups of all guests. */
  readonly cgroup: Cgroup | undefined
  /** The command, with its options, through which guests are started that must not outlive the host. */
  readonly deathSignal: ReadonlyArray<string>
}

/** A name for what belongs to this host process, that nobody can foresee. */
export const uniqueName = (): string => {
  // An import would load Web Crypto too, for everybody who imports this library.
  const { randomBytes } = process.getBuiltinModule("node:crypto")
  return `effect-code-runtime-${process.pid}-${randomBytes(9).toString("hex")}`
}

/** Where a tool of the host lies; undefined where it has none. */
export const found = (name: string): string | undefined =>
  [`/usr/bin/${name}`, `/bin/${name}`].find((path) => existsSync(path))

/** Waits for the host's end of the pipe to close, which its death does, whatever killed it. */
const keeping = `read -r _
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  if [ -n "$2" ]; then
    echo 1 > "$2/cgroup.kill"
    rmdir "$2"/*/ "$2"
  fi
  rm -rf -- "$1"*
  [ -d "$2" ] || break
  sleep 0.05
done`

const startKeeper = (folders: string, cgroup: Cgroup | undefined): ChildProcess => {
  const keeper = spawn("/bin/sh", ["-c", keeping, "keeper", folders, cgroup?.folder ?? ""], {
    cwd: "/",
    // A session of its own: what interrupts the host from its terminal must not end the keeper before it.
    detached: true,
    env: { PATH: "/usr/bin:/bin" },
    stdio: ["pipe", "ignore", "ignore"]
  })
  keeper.on("error", () => {})
  keeper.stdin?.on("error", () => {})
  keeper.unref()
  if (keeper.stdin instanceof Socket) keeper.stdin.unref()
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

/** Removes a group whose members are about to be gone. */
const dissolve = async (cgroup: Cgroup): Promise<void> => {
  for (let tries = 0; !(await cgroup.remove()) && tries < 100; tries++) {
    await cgroup.kill()
    await setTimeout(5)
  }
}

/** How long premises that no guest lives on are kept for the next, in milliseconds. */
const keptMs = 200

const take = (useCgroup: boolean): Effect.Effect<Premises, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const name = uniqueName()
        const folders = join(tmpdir(), `${name}-`)
        const cgroup = useCgroup ? await Cgroup.make(name) : undefined
        return { cgroup, folders, keeper: startKeeper(folders, cgroup) }
      }),
      ({ cgroup, keeper }) =>
        Effect.gen(function* () {
          if (cgroup !== undefined) yield* Effect.promise(() => dissolve(cgroup))
          yield* endKeeper(keeper)
        })
    ),
    ({ cgroup, folders }) => {
      const setpriv = found("setpriv")
      let names = 0
      return {
        newName: () => String(++names),
        folderOf: (name) => folders + name,
        cgroup,
        deathSignal: setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"]
      }
    }
  )

/**
 * Premises for the guests of one runtime: taken with the first guest, given up soon after the last is gone, so that an idle
 * runtime has nothing on the host.
 */
export const make = (options: {
  /** Whether to use a control group where the host may make one. */
  readonly cgroup: boolean
}): Effect.Effect<Effect.Effect<Premises, never, Scope.Scope>, never, Scope.Scope> =>
  Effect.map(RcRef.make({ acquire: take(options.cgroup), idleTimeToLive: keptMs }), RcRef.get)
