/**
 * The standard streams: what is written there, and how it reads on a terminal.
 */
import * as Effect from "effect/Effect"

type Target = "stdout" | "stderr"

// A reader that went away is no failure of the run: `code-runtime run report.ts | head -1`.
const ignore = (): void => undefined

/** Lets a closed pipe pass in silence, for the rest of the process. */
export const tolerateClosedPipes = (): void => {
  process.stdout.on("error", ignore)
  process.stderr.on("error", ignore)
}

const writers = {
  stdout: process.stdout.write.bind(process.stdout),
  stderr: process.stderr.write.bind(process.stderr)
}

/** Keeps standard output for the result: what else this process prints there, a module of bindings say, goes to standard error. */
export const reserveStandardOutput = (): void => {
  process.stdout.write = writers.stderr
}

/** Characters that a terminal obeys instead of showing; a tab and the end of a line are harmless. */
// oxlint-disable-next-line no-control-regex -- they are the point
const commands = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/gu

/** Text of a program for a terminal: what would steer the terminal is spelt as an escape such as `\u001b`. */
export const harmless = (text: string): string =>
  text
    .replaceAll("\r\n", "\n")
    .replace(commands, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Whether a person reads it. */
export const isTerminal = (target: Target): boolean => process[target].isTTY === true

/** Writes lines and waits until they are handed over or the reader is gone. */
export const writeLine = (target: Target, text: string): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const line = text.endsWith("\n") ? text : `${text}\n`
    writers[target](isTerminal(target) ? harmless(line) : line, () => resume(Effect.void))
  })
