/**
 * Finds the place in a program of a place in the code that was made from it.
 */
import { SourceMap } from "node:module"

/** What the compiler thread answers for a program that compiled: plain data. */
export interface Compiled {
  readonly code: string
  readonly columnOffset: number
  /** Characters that stand before the program on its first line. */
  readonly prefix: number
  /** Parts of the prefix that stand for an import: from and to in the prefix, offset of the import in the program. */
  readonly imports: ReadonlyArray<readonly [from: number, to: number, offset: number]>
  /** Text that was inserted into the program: where, and how long it is. */
  readonly inserted?: readonly [offset: number, length: number]
  /** The mappings of a source map, where the code was printed anew. */
  readonly mappings?: string
}

/** Where the lines of a text start, as JavaScript counts lines. */
export const lineStarts = (text: string): ReadonlyArray<number> => {
  const starts = [0]
  for (const match of text.matchAll(/\r\n|[\n\r\u2028\u2029]/gu)) starts.push(match.index + match[0].length)
  return starts
}

/** The line and column, from 1, of an offset. */
export const placeAt = (
  starts: ReadonlyArray<number>,
  offset: number
): { readonly line: number; readonly column: number } => {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
}

/** The offset in a text of a line and column from 0; undefined outside the text. */
const offsetAt = (text: string, starts: ReadonlyArray<number>, line: number, column: number): number | undefined => {
  const start = starts[line]
  if (start === undefined || column < 0) return undefined
  const offset = start + column
  return offset < (starts[line + 1] ?? text.length + 1) ? offset : undefined
}

/**
 * Makes the function that finds places. Nothing is decoded before its first use; the indexes that it makes then are
 * kept as long as the function.
 */
export const makeLocate = (
  program: string,
  compiled: Compiled
): ((line: number, column: number) => { readonly line: number; readonly column: number } | undefined) => {
  let programStarts: ReadonlyArray<number> | undefined
  let codeStarts: ReadonlyArray<number> | undefined
  let map: SourceMap | undefined

  /** From an offset in the source with prefix and insertion to an offset in the program. */
  const toProgram = (source: number): number | undefined => {
    if (source < compiled.prefix) {
      return compiled.imports.find(([from, to]) => from <= source && source < to)?.[2]
    }
    let offset = source - compiled.prefix
    if (compiled.inserted !== undefined && offset >= compiled.inserted[0]) {
      if (offset < compiled.inserted[0] + compiled.inserted[1]) return undefined
      offset -= compiled.inserted[1]
    }
    return offset <= program.length ? offset : undefined
  }

  /** From a line and column (from 0) of the source with prefix and insertion to its offset there. */
  const sourceOffset = (starts: ReadonlyArray<number>, line: number, column: number): number | undefined => {
    const start = starts[line]
    if (start === undefined) return undefined
    if (line === 0) return column
    const { inserted } = compiled
    return start + column + compiled.prefix + (inserted !== undefined && start > inserted[0] ? inserted[1] : 0)
  }

  const mapped = (starts: ReadonlyArray<number>, mappings: string, code: number): number | undefined => {
    map ??= new SourceMap({
      version: 3,
      file: "program.js",
      sources: ["program.ts"],
      sourcesContent: [],
      names: [],
      mappings,
      sourceRoot: ""
    })
    const at = placeAt(codeStarts ?? [], code)
    // The first line of the printed code begins after what was put around it.
    const shift = at.line === 1 ? compiled.columnOffset : 0
    const entry = map.findEntry(at.line - 1, at.column - 1 + shift)
    if (!("originalLine" in entry)) return undefined
    const start = sourceOffset(starts, entry.originalLine, entry.originalColumn)
    if (start === undefined) return undefined
    const offset = toProgram(start)
    if (offset === undefined || entry.generatedLine !== at.line - 1) return offset
    // Between two entries the text is often the same, and then the place within it is known exactly.
    const delta = at.column - 1 + shift - entry.generatedColumn
    return program.startsWith(compiled.code.slice(code - delta, code), offset) ? toProgram(start + delta) : offset
  }

  return (line, column) => {
    codeStarts ??= lineStarts(compiled.code)
    programStarts ??= lineStarts(program)
    const code = offsetAt(compiled.code, codeStarts, line - 1, column - 1 - (line === 1 ? compiled.columnOffset : 0))
    if (code === undefined) return undefined
    const offset = compiled.mappings === undefined ? toProgram(code) : mapped(programStarts, compiled.mappings, code)
    return offset === undefined ? undefined : placeAt(programStarts, offset)
  }
}
