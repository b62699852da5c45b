/**
 * The process of the command line: its services, its exit code.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { LogToStderr } from "effect/References"
import { readFileSync } from "node:fs"
import * as CliError from "effect/cli/CliError"
import * as CommandLine from "./CommandLine.ts"
import * as ExitCode from "./ExitCode.ts"
import { Interruption, listen } from "./Interruption.ts"
import { reserveStandardOutput, tolerateClosedPipes, writeLine } from "./Output.ts"
import * as Services from "./Services.ts"
import { Stopped } from "./Stopped.ts"

const version = (): string => {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
  const found =
    typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : undefined
  return typeof found === "string" ? found : "unknown"
}

/** What is still to be told of an ending, and its exit code. */
const conclude = (cause: Cause.Cause<unknown>): Effect.Effect<number> => {
  const error = Cause.squash(cause)
  if (error instanceof Stopped) {
    const told = error.message === "" ? Effect.void : writeLine("stderr", `error: ${error.message}`)
    return Effect.as(told, error.exitCode)
  }
  // The presenter has told what is wrong with the invocation.
  if (CliError.isCliError(error)) {
    return Effect.succeed(error._tag === "ShowHelp" && error.errors.length === 0 ? ExitCode.success : ExitCode.usage)
  }
  return Effect.as(writeLine("stderr", `code-runtime failed: ${Cause.pretty(cause)}`), ExitCode.fault)
}

/** Runs the command that the process's arguments name and ends the process. */
export const start = async (): Promise<never> => {
  tolerateClosedPipes()
  reserveStandardOutput()
  // A module of bindings that never finishes loading is waited for until a signal comes.
  setInterval(() => {}, 1_000_000)
  const exit = await CommandLine.main(version(), process.argv.slice(2)).pipe(
    Effect.as(ExitCode.success),
    Effect.catchCause(conclude),
    Effect.provide(
      Layer.mergeAll(
        Services.layer,
        CommandLine.presentation,
        Layer.succeed(Interruption, listen()),
        // Standard output carries results alone.
        Layer.succeed(LogToStderr, true)
      )
    ),
    Effect.runPromiseExit
  )
  // Modules of bindings may hold the process open; whatever was written is written.
  process.exit(Exit.isSuccess(exit) ? exit.value : ExitCode.fault)
}
