/**
 * Control groups of version 2: where the host may make one, a guest and all that it ever started are counted and ended
 * together, whatever sessions and parents they give themselves.
 */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return undefined
  }
}

/** The folder of this process's own group; undefined where there is none. */
const ownFolder = (): string | undefined => {
  const own = /^0::(\/.*)$/mu.exec(read("/proc/self/cgroup") ?? "")?.[1]
  if (own === undefined) return undefined
  for (const line of (read("/proc/self/mountinfo") ?? "").split("\n")) {
    const [before = "", after = ""] = line.split(" - ")
    const [, , , root = "", mounted = ""] = before.split(" ")
    if (!after.startsWith("cgroup2 ")) continue
    if (root === "/") return join(mounted, own)
    if (own === root || own.startsWith(`${root}/`)) return join(mounted, own.slice(root.length))
  }
  return undefined
}

/** One group: a folder of the control group file system. */
export class Cgroup {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  /** A group below this process's own; undefined where the host may not make one that can be ended as a whole. */
  static make(name: string): Cgroup | undefined {
    const own = ownFolder()
    if (own === undefined) return undefined
    const group = Cgroup.#in(join(own, name))
    if (group === undefined) return undefined
    // Linux 5.14 was the first with `cgroup.kill`.
    if (read(join(group.folder, "cgroup.events")) !== undefined && group.kill()) return group
    group.remove()
    return undefined
  }

  static #in(folder: string): Cgroup | undefined {
    try {
      mkdirSync(folder, { recursive: true })
      return new Cgroup(folder)
    } catch {
      return undefined
    }
  }

  /** A group below this one. */
  child(name: string): Cgroup | undefined {
    return Cgroup.#in(join(this.folder, name))
  }

  /** Bounds the memory of all members together, where this host's groups can; tells whether they can. */
  limitMemory(bytes: number): boolean {
    const bounded = this.#write("memory.max", String(bytes))
    if (bounded) this.#write("memory.swap.max", "0")
    return bounded
  }

  /** Takes a process in; what it starts from now on is in too. */
  join(pid: number): boolean {
    return this.#write("cgroup.procs", String(pid))
  }

  /** Ends every member. */
  kill(): boolean {
    return this.#write("cgroup.kill", "1")
  }

  /** CPU time of all members, those that are gone included, in milliseconds. */
  cpuMs(): number | undefined {
    const microseconds = /^usage_usec (\d+)$/mu.exec(read(join(this.folder, "cpu.stat")) ?? "")?.[1]
    return microseconds === undefined ? undefined : Number(microseconds) / 1000
  }

  /** Whether the kernel ended a member for want of memory. */
  ranOutOfMemory(): boolean {
    return /^oom_kill [1-9]/mu.test(read(join(this.folder, "memory.events")) ?? "")
  }

  /** Removes the group; false while it has members. */
  remove(): boolean {
    try {
      rmdirSync(this.folder)
      return true
    } catch (error) {
      return error instanceof Error && "code" in error && error.code === "ENOENT"
    }
  }

  #write(file: string, text: string): boolean {
    try {
      writeFileSync(join(this.folder, file), text, { flag: "r+" })
      return true
    } catch {
      return false
    }
  }
}
