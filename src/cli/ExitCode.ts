/**
 * The exit codes of the command line: one for each way to end, so that a script can branch on it.
 */
import type { FailureKind } from "../domain/CodeRun.ts"

/** The program ran to its end, or compiled. */
export const success = 0

/** Nothing ran: a wrong flag, a missing file, bindings or a backend that cannot be used. */
export const usage = 2

/** A fault of the command line itself. */
export const fault = 70

/** Failures of a run, by kind. */
export const failures: { readonly [kind in FailureKind]: number } = {
  exception: 1,
  timeout: 3,
  abort: 4,
  "worker-exit": 5,
  "invalid-output": 6,
  "output-limit": 7
}

/** Signals that abort a run: 128 and the signal's number, as shells say it. */
export const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

const ends = `  70  a fault of code-runtime itself
  129, 130, 143   aborted by SIGHUP, SIGINT (Ctrl-C), SIGTERM; a second one ends it at once`

/** The table for the help of `check`. */
export const checkTable = `  0   the program compiles
  1   it does not
  2   nothing was compiled: a wrong flag, a missing file, no Python
${ends}`

/** The table for the help. */
export const table = `  0   success: the program ended by itself; check: it compiles
  1   exception: it threw, does not parse, left a rejection unhandled, or waits for what cannot come
  2   nothing ran: a wrong flag, a missing file, bindings or a backend that cannot be used
  3   timeout: --compute-ms or --max-wall-ms expired
  4   abort: the runtime ended the run
  5   worker-exit: the program exited, was killed, or ran out of memory
  6   invalid-output: the value is not lossless JSON
  7   output-limit: logs and value exceed --max-output-bytes
${ends}`
