/**
 * Blanks what may stand around a program: a Markdown fence, a `#!` line. The text keeps its length and its lines.
 */

const isBreak = (code: number): boolean => code === 10 || code === 13

/** The end of the line that begins at an offset, without its terminator. */
const lineEnd = (text: string, from: number, to: number): number => {
  let at = from
  while (at < to && !isBreak(text.charCodeAt(at))) at += 1
  return at
}

const afterBreak = (text: string, end: number, to: number): number =>
  end >= to ? to : text.charCodeAt(end) === 13 && text.charCodeAt(end + 1) === 10 ? end + 2 : end + 1

const isBlank = (line: string): boolean => /^[ \t]*$/u.test(line)

interface Region {
  readonly from: number
  readonly to: number
}

/** The text inside a fence that holds everything between two offsets; undefined if there is none. */
const insideFence = (text: string, from: number, to: number): Region | undefined => {
  let start = text.charCodeAt(from) === 0xfeff ? from + 1 : from
  let end = lineEnd(text, start, to)
  while (end < to && isBlank(text.slice(start, end))) {
    start = afterBreak(text, end, to)
    end = lineEnd(text, start, to)
  }
  const fence = /^ {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/u.exec(text.slice(start, end))
  const mark = fence?.[1] ?? fence?.[2]
  if (mark === undefined) return undefined
  const closes = (line: string): boolean => {
    const run = /^ {0,3}(`{3,}|~{3,})[ \t]*$/u.exec(line)?.[1]
    return run !== undefined && run[0] === mark[0] && run.length >= mark.length
  }
  const inside = afterBreak(text, end, to)
  for (let at = inside; at < to;) {
    const stop = lineEnd(text, at, to)
    // The first fence that closes it must be the end of the text: otherwise there is prose, or a second fence.
    if (closes(text.slice(at, stop)))
      return isBlank(text.slice(stop, to).replace(/[\r\n]/gu, "")) ? { from: inside, to: at } : undefined
    at = afterBreak(text, stop, to)
  }
  return undefined
}

const blank = (text: string): string => text.replace(/[^\n\r\u2028\u2029]/gu, " ")

/** How many fences around each other are taken off. */
const depth = 3

/** The program without its fence and its `#!` line, every other character in its place. */
export const unwrap = (program: string): string => {
  let region: Region = { from: 0, to: program.length }
  for (let level = 0; level < depth; level++) {
    const inner = insideFence(program, region.from, region.to)
    if (inner === undefined) break
    region = inner
  }
  let { from } = region
  const first = program.charCodeAt(from) === 0xfeff ? from + 1 : from
  if (program.startsWith("#!", first)) from = lineEnd(program, first, region.to)
  if (from === 0 && region.to === program.length) return program
  return blank(program.slice(0, from)) + program.slice(from, region.to) + blank(program.slice(region.to))
}
