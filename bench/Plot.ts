/**
 * The results as an SVG: how many times faster than the harness, and how each thing grows.
 */
import { growths } from "./Report.ts"
import type { Results } from "./Results.ts"
import { shown } from "./Statistics.ts"

const width = 960
const left = 390
const right = 90
const line = 24

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("`", "")

const text = (x: number, y: number, content: string, more = ""): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${more}>${escape(content)}</text>`

const bars = (results: Results, top: number): { readonly svg: string; readonly bottom: number } => {
  const letters = ["a", "b", "c", "d", "e", "f", "h", "i"]
  const rows = letters
    .flatMap((letter) => results.measures(letter))
    .map((measure) => ({ measure, ratio: results.ratio(measure, "worker", "harness") }))
    .filter(({ ratio }) => Number.isFinite(ratio))
  const highest = Math.max(10, ...rows.map(({ ratio }) => ratio))
  const lowest = Math.min(0.5, ...rows.map(({ ratio }) => ratio))
  const x = (ratio: number): number =>
    left + ((Math.log(ratio) - Math.log(lowest)) / (Math.log(highest) - Math.log(lowest))) * (width - left - right)
  const parts = [
    text(16, top, "The worker backend: how many times faster than the harness's (logarithmic)", ' class="title"')
  ]
  rows.forEach(({ measure, ratio }, i) => {
    const y = top + 18 + i * line
    const [from, to] = ratio >= 1 ? [x(1), x(ratio)] : [x(ratio), x(1)]
    parts.push(
      text(left - 10, y + 14, measure, ' text-anchor="end"'),
      `<rect x="${from.toFixed(1)}" y="${y + 3}" width="${Math.max(1, to - from).toFixed(1)}" height="15" class="${ratio >= 1 ? "faster" : "slower"}"/>`,
      text(Math.max(x(ratio), x(1)) + 6, y + 15, shown(ratio))
    )
  })
  const bottom = top + 18 + rows.length * line
  parts.push(`<line x1="${x(1).toFixed(1)}" x2="${x(1).toFixed(1)}" y1="${top + 14}" y2="${bottom}" class="axis"/>`)
  return { svg: parts.join("\n"), bottom }
}

const colours: { readonly [who: string]: string } = { worker: "#1565c0", python: "#2e7d32", harness: "#c62828" }

/** A logarithmic scale on which the values fill a length. */
const scale = (values: ReadonlyArray<number>, size: number) => {
  const low = Math.log(Math.min(...values))
  const span = Math.max(1e-9, Math.log(Math.max(...values)) - low)
  return (value: number): number => ((Math.log(value) - low) / span) * size
}

const curves = (results: Results, top: number): { readonly svg: string; readonly bottom: number } => {
  const all = growths(results)
  const names = [...new Set(all.map(({ name }) => name))]
  if (names.length === 0) return { svg: "", bottom: top }
  const [columns, cellWidth, cellHeight] = [2, width / 2, 230]
  const parts = [text(16, top, "Milliseconds against size, both logarithmic", ' class="title"')]
  Object.entries(colours).forEach(([who, colour], i) => {
    parts.push(text(420 + i * 110, top, who, ` fill="${colour}" style="fill:${colour}"`))
  })
  names.forEach((name, i) => {
    const originX = (i % columns) * cellWidth + 60
    const originY = top + 30 + Math.floor(i / columns) * cellHeight
    const [plotWidth, plotHeight] = [cellWidth - 100, cellHeight - 70]
    const series = all.filter((each) => each.name === name)
    const points = series.flatMap((each) => each.points)
    const x = scale(
      points.map(([size]) => size),
      plotWidth
    )
    const y = scale(
      points.map(([, ms]) => ms),
      plotHeight
    )
    const sizes = points.map(([size]) => size)
    const times = points.map(([, ms]) => ms)
    parts.push(
      text(originX, originY, name),
      `<rect x="${originX}" y="${originY + 10}" width="${plotWidth}" height="${plotHeight}" class="frame"/>`,
      text(originX, originY + plotHeight + 26, Math.min(...sizes).toLocaleString("en-US")),
      text(
        originX + plotWidth,
        originY + plotHeight + 26,
        Math.max(...sizes).toLocaleString("en-US"),
        ' text-anchor="end"'
      ),
      text(originX - 6, originY + 22, shown(Math.max(...times)), ' text-anchor="end"'),
      text(originX - 6, originY + plotHeight + 8, shown(Math.min(...times)), ' text-anchor="end"')
    )
    for (const { points: own, who } of series) {
      const path = own.map(
        ([size, ms]) => `${(originX + x(size)).toFixed(1)},${(originY + 10 + plotHeight - y(ms)).toFixed(1)}`
      )
      parts.push(
        `<polyline points="${path.join(" ")}" fill="none" stroke="${colours[who] ?? "#555"}" stroke-width="2"/>`
      )
    }
  })
  return { svg: parts.join("\n"), bottom: top + 30 + Math.ceil(names.length / columns) * cellHeight }
}

export const plot = (results: Results): string => {
  const first = bars(results, 30)
  const second = curves(results, first.bottom + 40)
  const height = second.bottom + 10
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="12">
<style>text{fill:#222}.title{font-size:15px;font-weight:bold}.faster{fill:#1565c0}.slower{fill:#c62828}.axis{stroke:#222}.frame{fill:none;stroke:#bbb}</style>
<rect width="${width}" height="${height}" fill="#fff"/>
${first.svg}
${second.svg}
</svg>
`
}
