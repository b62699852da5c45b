/**
 * Programs that need no compiler: short JavaScript that TypeScript reads in just the same way. V8 judges them in the host
 * in microseconds, so they wait for no thread to load TypeScript. Whatever is doubtful is left to the compiler.
 */
import { mayBeCostly } from "./costly.ts"
import type { Compiled } from "./locate.ts"

/** Characters of the longest text that is judged here: V8 parses so much in well under a millisecond. */
const longest = 16_384

const space = /^(?:\s|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\/)+/u

/** Beginnings that a repair is about (a fence, a lone function), and those that only the compiler reads. */
const doubtfulBeginning = /^(?:[`~#(/]|async\b|function\b|[\p{ID_Start}$_][\p{ID_Continue}$]*\s*(?:\/|=>))/u

/** Words and marks that mean more in TypeScript, in a module, or in a script. */
const doubtfulWord = /\b(?:main|using|import\b(?!\s*\()|export|accessor)\b|\\u|<!--|-->|^#!|\uFEFF/u

/** Type arguments look like two comparisons. */
const perhapsTypeArguments = (program: string): boolean =>
  program.includes("<") && program.replaceAll("=>", "").includes(">")

const AsyncFunction: FunctionConstructor = Object.getPrototypeOf(async () => {}).constructor

/** Whether V8 takes a text as the strict body of an async function; nothing of it runs. */
const isBody = (program: string): boolean => {
  try {
    return typeof new AsyncFunction(`"use strict";${program}`) === "function"
  } catch {
    return false
  }
}

const open = '(async function(){"use strict";'

/** The program as the compiler would give it; undefined where that takes the compiler. */
export const plain = (program: string): Compiled | undefined => {
  if (program.length > longest || doubtfulWord.test(program) || perhapsTypeArguments(program)) return undefined
  if (mayBeCostly(program) || doubtfulBeginning.test(program.replace(space, "")) || !isBody(program)) return undefined
  return { code: `${open}${program}\n})`, columnOffset: -open.length, prefix: open.length, imports: [] }
}
