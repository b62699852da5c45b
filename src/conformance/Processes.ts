/**
 * What of a run is left in the machine, on systems with `/proc`; elsewhere nothing is found.
 */
import * as Effect from "effect/Effect"
import { readdirSync, readFileSync, readlinkSync } from "node:fs"

/** Seconds that a `sleep` of a program may be found by, unlike any other's. */
export const mark = (): string => `${3000 + Math.floor(Math.random() * 1000)}.${process.pid}${Date.now() % 100_000}`

const commandOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8")
  } catch {
    return ""
  }
}

/** Processes whose command line has a text in it, zombies left out. */
export const withCommand = (text: string): ReadonlyArray<number> => {
  let entries: ReadonlyArray<string> = []
  try {
    entries = readdirSync("/proc")
  } catch {
    return []
  }
  return entries.filter((entry) => /^\d+$/u.test(entry) && commandOf(entry).includes(text)).map(Number)
}

/** Waits until a process with this text as an argument of its own is there, or a while has passed. */
export const appears = (text: string): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    for (let i = 0; i < 200; i++) {
      // A shell that is about to start it has the text within a longer argument.
      if (withCommand(text).some((pid) => commandOf(String(pid)).split("\0").includes(text))) return true
      yield* Effect.sleep(10)
    }
    return false
  })

/** Ends what a case left behind. */
export const sweep = (text: string): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const pid of withCommand(text)) {
      try {
        process.kill(pid, "SIGKILL")
      } catch {
        // It ended by itself.
      }
    }
  })

const count = (folder: string): number => {
  try {
    return readdirSync(folder).length
  } catch {
    return 0
  }
}

/** Children of this process, by their parent's own account. */
export const children = (): ReadonlyArray<number> => {
  const found: Array<number> = []
  let entries: ReadonlyArray<string> = []
  try {
    entries = readdirSync("/proc")
  } catch {
    return found
  }
  for (const entry of entries) {
    if (!/^\d+$/u.test(entry)) continue
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "utf8")
      if (stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] === String(process.pid)) found.push(Number(entry))
    } catch {
      // It ended.
    }
  }
  return found
}

/** The command lines of the children of this process. */
export const commands = (): ReadonlyArray<string> =>
  children().map((pid) => `${pid}: ${commandOf(String(pid)).replaceAll("\0", " ")}`)

/** Threads, descriptors and children of this process. */
export const snapshot = (): { readonly threads: number; readonly descriptors: number; readonly children: number } => ({
  threads: count("/proc/self/task"),
  descriptors: descriptors().length,
  children: children().length
})

/** What each open descriptor of this process leads to. */
export const descriptors = (): ReadonlyArray<string> => {
  const found: Array<string> = []
  try {
    for (const fd of readdirSync("/proc/self/fd")) {
      try {
        found.push(readlinkSync(`/proc/self/fd/${fd}`))
      } catch {
        // The one that read the folder.
      }
    }
  } catch {
    // No /proc here.
  }
  return found
}

/** What there is once guests that were booting or ending have done so: two looks in a row that agree. */
export const steady = Effect.gen(function* () {
  let last = snapshot()
  for (let i = 0; i < 50; i++) {
    yield* Effect.sleep(150)
    const now = snapshot()
    if (now.threads === last.threads && now.children === last.children && now.descriptors === last.descriptors) break
    last = now
  }
  return last
})
