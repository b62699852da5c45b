/**
 * The command line as a real process. `CODE_RUNTIME_CLI` names another entry than the sources, such as
 * `dist/cli/main.js`.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const entry = resolve(root, process.env["CODE_RUNTIME_CLI"] ?? "src/cli/main.ts")

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves once standard error contains the text. */
  readonly says: (text: string) => Promise<void>
}

/** A folder of files that lasts as long as the tests of one file. */
export const makeFolder = (files: { readonly [name: string]: string }): string => {
  const folder = mkdtempSync(join(tmpdir(), "code-runtime-cli-"))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  afterAll(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Starts the command line in a folder, in a process group of its own; standard input stays open. `flags` are Node's. */
export const start = (cwd: string, args: ReadonlyArray<string>, flags: ReadonlyArray<string> = []): Started => {
  const child = spawn(process.execPath, [...flags, entry, ...args], { cwd, stdio: "pipe", detached: true })
  let stdout = ""
  let stderr = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  const ended = once(child, "close").then(([code]: ReadonlyArray<unknown>) => ({
    code: typeof code === "number" ? code : null,
    stdout,
    stderr
  }))
  const says = async (text: string): Promise<void> => {
    while (!stderr.includes(text)) {
      const more = await Promise.race([once(child.stderr, "data").then(() => true), ended.then(() => false)])
      if (!more && !stderr.includes(text)) throw new Error(`it ended without saying ${text}: ${stderr}`)
    }
  }
  return { child, ended, says }
}

/** Runs the command line in a folder to its end. */
export const run = (cwd: string, args: ReadonlyArray<string>, input = ""): Promise<Ended> => {
  const { child, ended } = start(cwd, args)
  child.stdin?.on("error", () => undefined)
  child.stdin?.end(input)
  return ended
}
