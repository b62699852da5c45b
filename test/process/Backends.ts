/**
 * The two backends, and what their programs leave behind.
 */
import { randomInt } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as PromiseAdapter from "../../src/adapters/PromiseAdapter.ts"
import * as NodeProcess from "../../src/backends/node-process/NodeProcess.ts"
import * as PythonProcess from "../../src/backends/python-process/PythonProcess.ts"
import type { LimitsInput } from "../../src/domain/Limits.ts"

export type Language = "python" | "typescript"
export const languages: ReadonlyArray<Language> = ["typescript", "python"]

/** A runtime, disposed when it goes out of scope. */
export const open = (
  language: Language,
  options: LimitsInput & { readonly cgroup?: boolean } = {}
): Promise<PromiseAdapter.PromiseCodeRuntime> =>
  language === "python"
    ? PromiseAdapter.make(PythonProcess.layer(options))
    : PromiseAdapter.make(NodeProcess.layer(options))

const read = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

/** An argument by which a process is found; `sleep` takes it as seconds. */
export const newMark = (): string => `300.${randomInt(100_000_000, 999_999_999)}`

/** Living processes with a text among their arguments. */
export const processesWith = (text: string): ReadonlyArray<number> =>
  readdirSync("/proc").flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid) || pid === process.pid || !read(`/proc/${pid}/cmdline`).includes(text)) return []
    const stat = read(`/proc/${pid}/stat`)
    const state = stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3)
    return state === "" || state === "Z" || state === "X" ? [] : [pid]
  })

/** Folders of the guests of a host. */
export const foldersOf = (host: number | undefined): ReadonlyArray<string> =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`effect-code-runtime-${host}-`))

/** Zombies and other children of this process. */
export const childrenOf = (host: number): ReadonlyArray<number> =>
  readdirSync("/proc").flatMap((name) => {
    const stat = read(`/proc/${name}/stat`)
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] === String(host) ? [Number(name)] : []
  })
