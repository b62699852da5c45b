/**
 * How a program's exception reads: its message, the program's own stack frames, and a code frame of the first.
 */
import type { StackFrame } from "./Frame.ts"

/** An exception as its parts, from the one that must be told to those that help. */
export interface Exception {
  readonly message: string
  readonly details?: string | undefined
  /** Innermost first, in places of the program. */
  readonly frames: ReadonlyArray<StackFrame>
}

const linesAround = 2
const widthOfCode = 160

/** Lines as an editor counts them. */
const linesOf = (program: string): ReadonlyArray<string> => program.split(/\r\n|[\n\r\u2028\u2029]/u)

const at = (frame: StackFrame, file: string): string => {
  const place = `${file}:${frame.line}${frame.column === undefined ? "" : `:${frame.column}`}`
  return frame.name === undefined || frame.name === "" ? place : `${frame.name} (${place})`
}

/** A part of a long line that shows the column. */
const excerpt = (line: string, column: number): { readonly text: string; readonly column: number } => {
  if (line.length <= widthOfCode) return { text: line, column }
  const from = Math.max(0, Math.min(column - 1 - widthOfCode / 2, line.length - widthOfCode))
  const head = from === 0 ? "" : "..."
  const tail = from + widthOfCode >= line.length ? "" : "..."
  return { text: `${head}${line.slice(from, from + widthOfCode)}${tail}`, column: column - from + head.length }
}

/** The lines around a place, the line itself marked, with a caret under the column; empty for a place outside the program. */
export const codeFrame = (program: string, frame: StackFrame): string => {
  const lines = linesOf(program)
  if (frame.line > lines.length) return ""
  const first = Math.max(1, frame.line - linesAround)
  const last = Math.min(lines.length, frame.line + linesAround)
  const width = String(last).length
  const rows: Array<string> = []
  for (let number = first; number <= last; number++) {
    const here = number === frame.line
    const { column, text } = excerpt(lines[number - 1] ?? "", here ? (frame.column ?? 1) : 1)
    rows.push(`${here ? ">" : " "} ${String(number).padStart(width)} | ${text}`.trimEnd())
    if (here && frame.column !== undefined) {
      // Tabs stay tabs, so that the caret stands where the editor shows the column.
      const pad = text.slice(0, column - 1).replace(/[^\t]/gu, " ")
      const length = frame.endColumn === undefined ? 1 : Math.max(1, frame.endColumn - frame.column)
      const most = Math.max(1, text.length - column + 1)
      rows.push(`  ${" ".repeat(width)} | ${pad}${"^".repeat(Math.min(length, most))}`)
    }
  }
  return rows.join("\n")
}

/**
 * The texts of an exception, the fullest first and the message alone last: whoever has little room takes the first that
 * fits. `file` is what the program is called in places, such as `program.ts`.
 */
export const render = (exception: Exception, program: string, file: string): ReadonlyArray<string> => {
  const { details, frames, message } = exception
  const first = frames[0]
  const headed = details === undefined || details === "" ? message : `${message}\n${details}`
  if (first === undefined) return headed === message ? [message] : [headed, message]
  const stack = `${headed}\n${frames.map((frame) => `    at ${at(frame, file)}`).join("\n")}`
  const code = codeFrame(program, first)
  const shorter = [stack, `${message}\n    at ${at(first, file)}`, message]
  return code === "" ? shorter : [`${stack}\n\n${code}`, ...shorter]
}
