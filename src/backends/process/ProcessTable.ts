/**
 * What `/proc` tells of processes.
 */
import { readdirSync, readFileSync } from "node:fs"

const read = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

/** Ticks of a second in `/proc/<pid>/stat`: a constant of Linux on every platform that Node knows. */
const ticksPerSecond = 100

/** The fields of a process's `stat` from the third on, its state; empty for one that is gone. */
const statOf = (pid: number): ReadonlyArray<string> => {
  const stat = read(`/proc/${pid}/stat`)
  return stat === "" ? [] : stat.slice(stat.lastIndexOf(")") + 2).split(" ")
}

/** CPU time of a process, all its threads and the children that it waited for, in milliseconds. */
export const cpuMs = (pid: number): number | undefined => {
  const stat = statOf(pid)
  if (stat.length < 15) return undefined
  let ticks = 0
  for (let field = 11; field < 15; field++) ticks += Number(stat[field])
  return (ticks * 1000) / ticksPerSecond
}

/** A figure of a process's `status` that is given in kB, in MiB. */
export const statusMb = (status: string, key: string): number | undefined => {
  const kilobytes = new RegExp(`^${key}:\\s+(\\d+) kB$`, "mu").exec(status)?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
}

/** Peak memory of a process in MiB. */
export const peakMemoryMb = (pid: number): number | undefined => statusMb(read(`/proc/${pid}/status`), "VmHWM")

/** Living processes that carry a mark: a value of their real-time limit, which every child inherits. */
export const marked = (mark: number): ReadonlyArray<number> => {
  const found: Array<number> = []
  const carries = new RegExp(`^Max realtime timeout +${mark} `, "mu")
  for (const name of readdirSync("/proc")) {
    const pid = Number(name)
    if (!Number.isInteger(pid) || !carries.test(read(`/proc/${pid}/limits`))) continue
    const [state] = statOf(pid)
    if (state !== undefined && state !== "Z" && state !== "X") found.push(pid)
  }
  return found
}

/** Sends a signal; a process that is gone is no error. Negative: a process group. */
export const signal = (pid: number, name: "SIGKILL" | "SIGSTOP"): void => {
  try {
    process.kill(pid, name)
  } catch {
    // It ended by itself.
  }
}
