/**
 * The program's text.
 */
import * as Effect from "effect/Effect"
import { readFile } from "node:fs/promises"
import * as ExitCode from "./ExitCode.ts"
import { Stopped } from "./Stopped.ts"

const reasons: { readonly [code: string]: string } = {
  ENOENT: "there is no such file",
  EISDIR: "it is a directory",
  EACCES: "it may not be read"
}

/** Why a file cannot be used, in words. */
export const whyUnreadable = (error: unknown): string => {
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : ""
  return reasons[code] ?? (error instanceof Error ? error.message : String(error))
}

const readStandardInput = async (): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString("utf8")
}

/** Reads a program: a file, or standard input for `-`. */
export const read = (file: string): Effect.Effect<string, Stopped> =>
  Effect.tryPromise({
    try: () => (file === "-" ? readStandardInput() : readFile(file, "utf8")),
    catch: (error) =>
      new Stopped({ exitCode: ExitCode.usage, message: `cannot read the program ${file}: ${whyUnreadable(error)}` })
  })
