/**
 * Memory and CPU time of this process and all that it has started.
 */
import { readdirSync, readFileSync } from "node:fs"

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    // It is gone, or another's.
    return ""
  }
}

/** The fields of a process's `stat` after its name, which may hold anything. */
const statOf = (pid: number): ReadonlyArray<string> => {
  const stat = read(`/proc/${pid}/stat`)
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")
}

const treeOf = (root: number): ReadonlyArray<number> => {
  const children = new Map<number, Array<number>>()
  for (const name of readdirSync("/proc")) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    const parent = Number(statOf(pid)[1])
    children.set(parent, [...(children.get(parent) ?? []), pid])
  }
  const tree = [root]
  for (const pid of tree) tree.push(...(children.get(pid) ?? []))
  return tree
}

/** Memory in MB, each shared page once: the sum of the proportional set sizes. */
export const memoryMb = (): number => {
  let kilobytes = 0
  for (const pid of treeOf(process.pid)) {
    kilobytes += Number(/^Pss:\s+(\d+) kB$/mu.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0)
  }
  return kilobytes / 1024
}

/** CPU time so far, in milliseconds; of children in steps of a tick, 10 ms. */
export const cpuMs = (): number => {
  const { system, user } = process.cpuUsage()
  let ms = (user + system) / 1000
  for (const pid of treeOf(process.pid)) {
    if (pid === process.pid) continue
    const stat = statOf(pid)
    ms += 10 * (Number(stat[11] ?? 0) + Number(stat[12] ?? 0))
  }
  return ms
}
