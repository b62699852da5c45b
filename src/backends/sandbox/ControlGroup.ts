/**
 * Control groups of both versions: where the host may make one, a sandbox's memory is bounded and its processes are
 * counted by the kernel as one whole.
 */
import * as Effect from "effect/Effect"
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** What a group bounds. */
export interface Bounds {
  readonly memoryBytes: number | undefined
  readonly processes: number
}

/** Where groups can be made: a folder for each controller; in version 2 one folder for all. */
export interface Place {
  readonly version: 1 | 2
  readonly memory: string
  readonly pids: string | undefined
  readonly cpu: string | undefined
}

const prefix = "effect-code-runtime-sandbox-"

const read = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

const write = (file: string, text: string): boolean => {
  try {
    writeFileSync(file, text, { flag: "r+" })
    return true
  } catch {
    return false
  }
}

const isWritable = (folder: string): boolean => {
  try {
    accessSync(folder, constants.W_OK)
    accessSync(join(folder, "cgroup.procs"), constants.W_OK)
    return true
  } catch {
    return false
  }
}

export interface Mount {
  readonly root: string
  readonly at: string
  readonly type: string
  readonly options: ReadonlyArray<string>
}

/** Where control groups are mounted. */
export const mounts = (): ReadonlyArray<Mount> =>
  read("/proc/self/mountinfo")
    .split("\n")
    .flatMap((line) => {
      const [before = "", after = ""] = line.split(" - ")
      const [, , , root, at] = before.split(" ")
      const [type = "", , options = ""] = after.split(" ")
      return root !== undefined && at !== undefined && type.startsWith("cgroup")
        ? [{ root, at, type, options: options.split(",") }]
        : []
    })

/** The folder of a group that `/proc/self/cgroup` names, below where its hierarchy is mounted. */
export const folderOf = (mount: Mount, path: string): string | undefined => {
  if (mount.root === "/") return join(mount.at, path)
  return path === mount.root || path.startsWith(`${mount.root}/`)
    ? join(mount.at, path.slice(mount.root.length))
    : undefined
}

const findVersion1 = (all: ReadonlyArray<Mount>, own: string): Place | undefined => {
  const folderFor = (controller: string): string | undefined => {
    const mount = all.find((each) => each.type === "cgroup" && each.options.includes(controller))
    const path = new RegExp(`^\\d+:(?:[^:]*,)?${controller}(?:,[^:]*)?:(.*)$`, "mu").exec(own)?.[1]
    const folder = mount === undefined || path === undefined ? undefined : folderOf(mount, path)
    return folder !== undefined && isWritable(folder) ? folder : undefined
  }
  const memory = folderFor("memory")
  return memory === undefined ? undefined : { version: 1, memory, pids: folderFor("pids"), cpu: folderFor("cpuacct") }
}

const findVersion2 = (all: ReadonlyArray<Mount>, own: string): Place | undefined => {
  const mount = all.find((each) => each.type === "cgroup2")
  const path = /^0::(.*)$/mu.exec(own)?.[1]
  const ownFolder = mount === undefined || path === undefined ? undefined : folderOf(mount, path)
  if (mount === undefined || ownFolder === undefined) return undefined
  // A group with members hands out no controllers, so ours is often a sibling of the host's own.
  for (let folder = ownFolder; folder.startsWith(mount.at) && isWritable(folder); folder = dirname(folder)) {
    const given = () => read(join(folder, "cgroup.subtree_control")).trim().split(" ")
    const has = () => ["memory", "pids"].every((controller) => given().includes(controller))
    if (has() || (write(join(folder, "cgroup.subtree_control"), "+memory +pids") && has())) {
      return { version: 2, memory: folder, pids: folder, cpu: folder }
    }
  }
  return undefined
}

/** The place where this host may make groups; undefined where it may not. */
export const find = (): Place | undefined => {
  const all = mounts()
  const own = read("/proc/self/cgroup")
  return findVersion2(all, own) ?? findVersion1(all, own)
}

const foldersOf = (place: Place): ReadonlyArray<string> => [
  ...new Set([place.memory, place.pids, place.cpu].filter((folder) => folder !== undefined))
]

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

/** Removes empty groups of hosts that died before they could. */
export const sweep = (place: Place): void => {
  for (const folder of foldersOf(place)) {
    for (const name of readdirSync(folder)) {
      if (!name.startsWith(prefix) || isAlive(Number.parseInt(name.slice(prefix.length), 10))) continue
      try {
        rmdirSync(join(folder, name))
      } catch {
        // It has members still, or somebody else was faster.
      }
    }
  }
}

let made = 0

/** The group of one sandbox. */
export class ControlGroup {
  readonly #version: 1 | 2
  readonly #folders: ReadonlyArray<string>
  readonly #memory: string
  readonly #cpu: string | undefined
  #cpuMs: number | undefined
  #peakMemoryMb: number | undefined
  #kills = 0
  #removed = false

  private constructor(place: Place, name: string) {
    this.#version = place.version
    this.#folders = foldersOf(place).map((folder) => join(folder, name))
    this.#memory = join(place.memory, name)
    this.#cpu = place.cpu === undefined ? undefined : join(place.cpu, name)
  }

  /** Makes a group; undefined where the host may not after all. */
  static make(place: Place, bounds: Bounds): ControlGroup | undefined {
    const name = `${prefix}${process.pid}-${++made}-${Math.random().toString(36).slice(2)}`
    const group = new ControlGroup(place, name)
    try {
      for (const folder of group.#folders) mkdirSync(folder)
    } catch {
      group.#tryRemove()
      return undefined
    }
    const memory = bounds.memoryBytes === undefined ? undefined : String(Math.ceil(bounds.memoryBytes))
    if (memory !== undefined && place.version === 1) {
      write(join(group.#memory, "memory.limit_in_bytes"), memory)
      write(join(group.#memory, "memory.memsw.limit_in_bytes"), memory)
    } else if (memory !== undefined) {
      write(join(group.#memory, "memory.max"), memory)
      write(join(group.#memory, "memory.swap.max"), "0")
    }
    if (place.pids !== undefined) write(join(place.pids, name, "pids.max"), String(bounds.processes))
    return group
  }

  /** Takes a process in, with all that it starts from now on; whether the kernel did. */
  join(pid: number): boolean {
    return this.#folders.every((folder) => write(join(folder, "cgroup.procs"), String(pid)))
  }

  /** CPU time of all members, those that are gone included, in milliseconds. */
  cpuMs(): number | undefined {
    if (this.#cpu !== undefined && !this.#removed) {
      const measured =
        this.#version === 1
          ? Number(read(join(this.#cpu, "cpuacct.usage"))) / 1e6
          : Number(/^usage_usec (\d+)$/mu.exec(read(join(this.#cpu, "cpu.stat")))?.[1]) / 1e3
      if (measured > 0) this.#cpuMs = measured
    }
    return this.#cpuMs
  }

  /** Memory that the members hold now, in bytes. */
  memoryBytes(): number {
    return Number(read(join(this.#memory, this.#version === 1 ? "memory.usage_in_bytes" : "memory.current")))
  }

  /** Most memory that the members ever held, in MiB. */
  peakMemoryMb(): number | undefined {
    if (!this.#removed) {
      const file = this.#version === 1 ? "memory.max_usage_in_bytes" : "memory.peak"
      const measured = Number(read(join(this.#memory, file))) / 1_048_576
      if (measured > 0) this.#peakMemoryMb = measured
    }
    return this.#peakMemoryMb
  }

  /** Whether the kernel ended a member for want of memory. */
  ranOutOfMemory(): boolean {
    if (!this.#removed) {
      const file = this.#version === 1 ? "memory.oom_control" : "memory.events"
      this.#kills = Number(/^oom_kill (\d+)$/mu.exec(read(join(this.#memory, file)))?.[1] ?? 0)
    }
    return this.#kills > 0
  }

  /** Removes the group, which it can once the last member is gone; waits for that. */
  readonly remove: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    this.cpuMs()
    this.peakMemoryMb()
    this.ranOutOfMemory()
    for (let waited = 0; !this.#tryRemove() && waited < 5000; waited += 1) yield* Effect.sleep(1)
  })

  #tryRemove(): boolean {
    let gone = true
    for (const folder of this.#folders) {
      try {
        rmdirSync(folder)
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) gone = false
      }
    }
    this.#removed = gone
    return gone
  }
}
