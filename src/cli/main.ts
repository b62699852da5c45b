#!/usr/bin/env node
/**
 * The entry of the command line: what takes longest is begun before anything else is loaded.
 */
import { readFileSync } from "node:fs"
import { plain } from "../backends/typescript-compiler/plain.ts"
import { prepare } from "../backends/typescript-compiler/PreparedThreads.ts"
import { languageOf } from "./Language.ts"
import { refuseOldNode } from "./NodeVersion.ts"

/** Whether a file holds a program that needs no compiler. */
const isPlain = (file: string): boolean => {
  try {
    return plain(readFileSync(file, "utf8")) !== undefined
  } catch {
    // The command says later what is wrong with it.
    return true
  }
}

/** A guess that a TypeScript program is to be compiled; a wrong one costs a thread that nobody takes. */
const compiles = ([command, ...rest]: ReadonlyArray<string>): boolean =>
  (command === "run" || command === "check") &&
  rest.some((arg) => arg === "-" || (languageOf(arg) === "typescript" && !isPlain(arg))) &&
  !rest.some((arg) => arg.includes("python") || languageOf(arg) === "python")

refuseOldNode()
if (compiles(process.argv.slice(2))) prepare()
const { start } = await import("./Process.ts")
await start()
