/**
 * How a guest's process ended, and what that says of the guest.
 */
import { constants } from "node:os"
import type { GuestExit } from "../../services/GuestLauncher.ts"
import { outOfMemoryCode } from "./ExitCode.ts"
import type { FatalText } from "./FatalText.ts"

/** How a process ended: by itself, or by a signal. */
export interface Ending {
  readonly code: number | undefined
  readonly signal: string | undefined
}

/** Which last words of an interpreter are none of the program's output, and which of them tell of memory. */
export interface LastWords {
  readonly opening: RegExp
  readonly outOfMemory: RegExp
}

/** The last words of both interpreters. */
export const lastWords: { readonly [language in "typescript" | "python"]: LastWords } = {
  typescript: {
    opening: /\n*(?:<--- Last few GCs --->|FATAL ERROR: |#\n# Fatal |terminate called )/,
    outOfMemory: /out of memory|allocation failed|bad_alloc/i
  },
  python: { opening: /Fatal Python error: |terminate called /, outOfMemory: /MemoryError|bad_alloc/ }
}

/** Signals by which an interpreter ends itself when it can no longer go on, and what a shell makes of the first. */
const aborts: ReadonlySet<string> = new Set(["SIGABRT", "SIGTRAP", "SIGILL"])
const abortCode = 134

/** Names by number; where there are two, such as SIGABRT and SIGIOT, the first is the one that Node uses. */
const signalNames = new Map(
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [number, name])
)

/** The name of a signal; undefined for a number that is none. */
export const signalName = (number: number): string | undefined => signalNames.get(number)

/** The ending that a code tells as shells do: for a signal, 128 and its number. */
export const asShell = (code: number): Ending => {
  const signal = code > 128 ? signalName(code - 128) : undefined
  return { code: signal === undefined ? code : undefined, signal }
}

/** How a guest ended. Its last words are taken from its output where it gave up. */
export const exitOf = (
  { code, signal }: Ending,
  fatal: FatalText,
  words: LastWords,
  ranOutOfMemory: boolean
): GuestExit => {
  const gaveUp = (signal !== undefined && aborts.has(signal)) || code === abortCode
  const last = gaveUp ? fatal.take() : ""
  if (!gaveUp) fatal.release()
  const outOfMemory = code === outOfMemoryCode || words.outOfMemory.test(last) || ranOutOfMemory
  return { code, signal, outOfMemory }
}
