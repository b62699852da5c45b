/**
 * The languages of programs.
 */

/** A language that some backend runs. */
export type Language = "typescript" | "python"

/** What a file name says of the language; `undefined` where it says nothing. */
export const languageOf = (file: string): Language | undefined => {
  if (/\.[cm]?[jt]s$/iu.test(file)) return "typescript"
  if (/\.py$/iu.test(file)) return "python"
  return undefined
}
