/**
 * What a Markdown page holds for a test: its code blocks, its links, its tables, its anchors.
 */

/** A fenced block of code. */
export interface Block {
  /** The first word after the fence. */
  readonly language: string
  /** The words after the language. */
  readonly words: ReadonlyArray<string>
  readonly text: string
  /** The line of its opening fence, from 1. */
  readonly line: number
  /** The line of its closing fence, from 1. */
  readonly end: number
}

export interface Link {
  readonly target: string
  readonly line: number
}

export interface Table {
  /** The heading above it. */
  readonly heading: string
  /** The cells of its first row. */
  readonly header: ReadonlyArray<string>
  /** The cells of each row below the rule. */
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
}

export interface Page {
  readonly blocks: ReadonlyArray<Block>
  readonly links: ReadonlyArray<Link>
  readonly tables: ReadonlyArray<Table>
  /** What `#...` may name, as GitHub makes it from headings. */
  readonly anchors: ReadonlySet<string>
}

const opening = /^( {0,3})(`{3,}|~{3,})([^`]*)$/u

const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
    .replace(/ /gu, "-")

/** The cells of a line of a table; undefined for any other line. */
const cellsOf = (line: string): ReadonlyArray<string> | undefined =>
  /^\|.*\|$/u.test(line)
    ? line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim())
    : undefined

/** Reads a page; a fence that is never closed is an error. */
export const read = (markdown: string): Page => {
  const blocks: Array<Block> = []
  const links: Array<Link> = []
  const tables: Array<Table> = []
  const anchors = new Set<string>()
  let section = ""
  const lines = markdown.split("\n")
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ""
    const fence = opening.exec(line)
    if (fence !== null) {
      const [, indent = "", mark = "", info = ""] = fence
      const close = new RegExp(`^ {0,3}${mark[0]}{${mark.length},}\\s*$`, "u")
      const end = lines.findIndex((each, index) => index > at && close.test(each))
      if (end < 0) throw new Error(`line ${at + 1}: the fence is never closed`)
      const [language = "", ...words] = info.trim().split(/\s+/u)
      const text = lines
        .slice(at + 1, end)
        .map((each) => (each.startsWith(indent) ? each.slice(indent.length) : each))
        .join("\n")
      blocks.push({ language, words, text, line: at + 1, end: end + 1 })
      at = end
      continue
    }
    const heading = /^#{1,6} (.*?)#*$/u.exec(line)?.[1]
    if (heading !== undefined) {
      section = heading.trim()
      const base = anchorOf(heading)
      let anchor = base
      for (let more = 1; anchors.has(anchor); more++) anchor = `${base}-${more}`
      anchors.add(anchor)
    }
    const header = cellsOf(line)
    if (header !== undefined && cellsOf(lines[at + 1] ?? "")?.every((cell) => /^-+$/u.test(cell)) === true) {
      const rest = lines.slice(at + 2)
      const end = rest.findIndex((each) => cellsOf(each) === undefined)
      tables.push({ heading: section, header, rows: rest.slice(0, end).flatMap((each) => [cellsOf(each) ?? []]) })
    }
    const prose = line.replace(/`[^`]*`/gu, "")
    for (const [, target = ""] of prose.matchAll(/\]\(([^)\s]+)\)/gu)) links.push({ target, line: at + 1 })
  }
  return { blocks, links, tables, anchors }
}
