/**
 * What the kernel counts of a container: by its control groups where the engine runs on this host, else by the engine.
 */
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { folderOf, mounts } from "../ControlGroup.ts"

const read = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

/** The figures of one container; undefined what cannot be said now. */
export interface Accounts {
  readonly cpuMs: () => number | undefined
  readonly memoryBytes: () => number | undefined
  readonly peakMemoryMb: () => number | undefined
}

const positive = (text: string | undefined, unit: number): number | undefined => {
  const number = Number(text) / unit
  return number > 0 ? number : undefined
}

/** Whether a process of this host is one of a container. */
export const isInside = (pid: number, id: string): boolean => read(`/proc/${pid}/cgroup`).includes(id)

/** The control groups of a container whose first process is known; undefined where it is not one of this host's. */
export const local = (pid: number, id: string): Accounts | undefined => {
  const own = read(`/proc/${pid}/cgroup`)
  if (pid <= 0 || !own.includes(id)) return undefined
  const all = mounts()
  const folderFor = (controller: string): string | undefined => {
    const mount = all.find((each) => each.type === "cgroup" && each.options.includes(controller))
    const path = new RegExp(`^\\d+:(?:[^:]*,)?${controller}(?:,[^:]*)?:(.*)$`, "mu").exec(own)?.[1]
    return mount === undefined || path === undefined ? undefined : folderOf(mount, path)
  }
  const cpu = folderFor("cpuacct")
  const memory = folderFor("memory")
  if (cpu !== undefined && memory !== undefined) {
    return {
      cpuMs: () => positive(read(join(cpu, "cpuacct.usage")), 1e6),
      memoryBytes: () => positive(read(join(memory, "memory.usage_in_bytes")), 1),
      peakMemoryMb: () => positive(read(join(memory, "memory.max_usage_in_bytes")), 1_048_576)
    }
  }
  const mount = all.find((each) => each.type === "cgroup2")
  const path = /^0::(.*)$/mu.exec(own)?.[1]
  const folder = mount === undefined || path === undefined ? undefined : folderOf(mount, path)
  if (folder === undefined || read(join(folder, "cpu.stat")) === "") return undefined
  return {
    cpuMs: () => positive(/^usage_usec (\d+)$/mu.exec(read(join(folder, "cpu.stat")))?.[1], 1e3),
    memoryBytes: () => positive(read(join(folder, "memory.current")), 1),
    peakMemoryMb: () => positive(read(join(folder, "memory.peak")), 1_048_576)
  }
}

const Stats = Schema.Struct({
  cpu_stats: Schema.Struct({ cpu_usage: Schema.Struct({ total_usage: Schema.Finite }) }),
  memory_stats: Schema.Struct({
    usage: Schema.optionalKey(Schema.Finite),
    max_usage: Schema.optionalKey(Schema.Finite)
  })
})

/** Figures as an engine told them last. */
export class Told implements Accounts {
  #cpuMs: number | undefined
  #memoryBytes: number | undefined
  #peakBytes = 0

  /** Takes an answer of the engine. */
  take(body: unknown): void {
    const stats = Schema.decodeUnknownOption(Stats)(body)
    if (stats._tag === "None") return
    const { cpu_stats, memory_stats } = stats.value
    this.#cpuMs = Math.max(this.#cpuMs ?? 0, cpu_stats.cpu_usage.total_usage / 1e6)
    this.#memoryBytes = memory_stats.usage
    this.#peakBytes = Math.max(this.#peakBytes, memory_stats.max_usage ?? memory_stats.usage ?? 0)
  }

  readonly cpuMs = (): number | undefined => this.#cpuMs
  readonly memoryBytes = (): number | undefined => this.#memoryBytes
  readonly peakMemoryMb = (): number | undefined => (this.#peakBytes > 0 ? this.#peakBytes / 1_048_576 : undefined)
}
