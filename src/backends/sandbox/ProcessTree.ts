/**
 * What `/proc` of the host tells of the processes inside a sandbox. All of them descend from its first one, which also
 * adopts the orphans, so nothing can leave the tree.
 */
import { readdirSync, readFileSync } from "node:fs"
import { cpuMs as cpuMsOf, peakMemoryMb as peakMemoryMbOf, statusMb } from "../process/ProcessTable.ts"

const read = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

const threads = (pid: number): ReadonlyArray<string> => {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** Whether a process lives; one that is dead and waits for its parent does not. */
export const isAlive = (pid: number): boolean => {
  const stat = read(`/proc/${pid}/stat`)
  return stat !== "" && !"ZX".includes(stat.charAt(stat.lastIndexOf(")") + 2))
}

/** More than any guest may have. */
const mostProcesses = 4096

/** The children of a process. */
export const children = (pid: number): ReadonlyArray<number> =>
  // A child belongs to the thread that started it.
  threads(pid).flatMap((thread) => {
    const listed = read(`/proc/${pid}/task/${thread}/children`).trim()
    return listed === "" ? [] : listed.split(" ").map(Number)
  })

/** A process and all its descendants, oldest first. */
export const tree = (root: number): ReadonlyArray<number> => {
  const found = [root]
  for (let at = 0; at < found.length && found.length < mostProcesses; at++) found.push(...children(found[at] ?? 0))
  return found
}

/** Its number in each pid namespace that it is in, from the host's to its own. */
export const numbers = (pid: number): ReadonlyArray<number> =>
  (/^NSpid:\s+(.*)$/mu.exec(read(`/proc/${pid}/status`))?.[1] ?? "").split(/\s+/u).map(Number)

/** CPU time of a tree of processes, and of those that they waited for, in milliseconds. */
export const cpuMs = (root: number): number | undefined => {
  let sum: number | undefined
  for (const pid of tree(root)) {
    const ms = cpuMsOf(pid)
    if (ms !== undefined) sum = (sum ?? 0) + ms
  }
  return sum
}

/** The most memory that the biggest process of a tree ever held, in MiB. */
export const peakMemoryMb = (root: number): number | undefined => {
  const peaks = tree(root).flatMap((pid) => peakMemoryMbOf(pid) ?? [])
  return peaks.length === 0 ? undefined : Math.max(...peaks)
}

/** Private writable memory and address space of the biggest process of a tree, in MiB. */
export const sizesMb = (root: number): { readonly dataMb: number; readonly addressSpaceMb: number } => {
  let dataMb = 0
  let addressSpaceMb = 0
  for (const pid of tree(root)) {
    const status = read(`/proc/${pid}/status`)
    dataMb = Math.max(dataMb, statusMb(status, "VmData") ?? 0)
    addressSpaceMb = Math.max(addressSpaceMb, statusMb(status, "VmSize") ?? 0)
  }
  return { dataMb, addressSpaceMb }
}
