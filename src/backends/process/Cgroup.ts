/**
 * Control groups of version 2: where the host may make one, a guest and all that it ever started are counted and ended
 * together, whatever sessions and parents they give themselves.
 */
import { readFileSync } from "node:fs"
import { mkdir, rmdir, writeFile } from "node:fs/promises"
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

/**
 * One group: a folder of the control group file system.
 *
 * Whatever changes a group may wait 10 ms and more for the kernel, so all of that is asynchronous; looking is not.
 */
export class Cgroup {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  /** A group below this process's own; undefined where the host may not make one that can be ended as a whole. */
  static async make(name: string): Promise<Cgroup | undefined> {
    const own = ownFolder()
    if (own === undefined) return undefined
    const group = new Cgroup(join(own, name))
    // Linux 5.14 was the first with `cgroup.kill`.
    if ((await group.#create()) && group.#read("cgroup.events") !== "" && (await group.kill())) return group
    await group.remove()
    return undefined
  }

  /** A group below this one, which exists when a process has joined it. */
  child(name: string): Cgroup {
    return new Cgroup(join(this.folder, name))
  }

  /**
   * Makes the group and takes a process in; what that starts from then on is in too. The members together may use so many
   * bytes of memory, where this host's groups can bound them. Tells whether the process is in.
   */
  async join(pid: number, memoryBytes: number): Promise<boolean> {
    if (!(await this.#create())) return false
    if (await this.#write("memory.max", String(memoryBytes))) await this.#write("memory.swap.max", "0")
    return this.#write("cgroup.procs", String(pid))
  }

  /** Ends every member. */
  kill(): Promise<boolean> {
    return this.#write("cgroup.kill", "1")
  }

  /** Whether it has no living member. */
  isEmpty(): boolean {
    return !/^populated 1$/mu.test(this.#read("cgroup.events"))
  }

  /** CPU time of all members, those that are gone included, in milliseconds. */
  cpuMs(): number | undefined {
    const microseconds = /^usage_usec (\d+)$/mu.exec(this.#read("cpu.stat"))?.[1]
    return microseconds === undefined ? undefined : Number(microseconds) / 1000
  }

  /** Whether the kernel ended a member for want of memory. */
  ranOutOfMemory(): boolean {
    return /^oom_kill [1-9]/mu.test(this.#read("memory.events"))
  }

  /** Removes the group; false while it has members or groups below it. */
  async remove(): Promise<boolean> {
    try {
      await rmdir(this.folder)
      return true
    } catch (error) {
      return error instanceof Error && "code" in error && error.code === "ENOENT"
    }
  }

  async #create(): Promise<boolean> {
    try {
      await mkdir(this.folder, { recursive: true })
      return true
    } catch {
      return false
    }
  }

  async #write(file: string, text: string): Promise<boolean> {
    try {
      await writeFile(join(this.folder, file), text, { flag: "r+" })
      return true
    } catch {
      return false
    }
  }

  #read(file: string): string {
    return read(join(this.folder, file)) ?? ""
  }
}
