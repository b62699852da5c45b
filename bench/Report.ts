/**
 * The results as Markdown.
 */
import { contestants } from "./Contestant.ts"
import { isRate, type Results, unitOf } from "./Results.ts"
import { median, shown, slope } from "./Statistics.ts"

/** What is aimed at. */
interface Aim {
  readonly text: string
  readonly figure: (results: Results) => number
  /** The aim; a figure at or above it meets it, or at or below where `atMost`. */
  readonly bound: number
  readonly atMost?: boolean
  readonly unit: string
  /** What a floor gives in its place: nobody can be much better. */
  readonly floor?: (results: Results) => { readonly name: string; readonly value: number }
}

/** The floor that stands beside a measure. */
const floorOf = (measure: string, python: boolean): string => {
  if (python) return "bare python"
  if (measure.startsWith("d.")) return "postMessage"
  if (measure.startsWith("e.")) return "native JSON"
  return measure.includes("think time") || measure.startsWith("h.") ? "bare worker, ready" : "bare worker"
}

const times = (text: string, measure: string, bound: number, ours = "worker", peer = "harness"): Aim => ({
  text,
  figure: (results) => results.ratio(measure, ours, peer),
  // Where ours are compared with each other, or with a floor, there is none.
  ...(peer === "harness"
    ? {
        floor: (results: Results) => {
          const name = floorOf(measure, false)
          return { name, value: results.ratio(measure, name, peer) }
        }
      }
    : {}),
  bound,
  unit: "times"
})

const most = (text: string, measure: string, who: string, bound: number, unit: string): Aim => ({
  text,
  figure: (results) => results.median(measure, who),
  floor: (results) => {
    const name = floorOf(measure, who === "python")
    return { name, value: results.median(measure, name) }
  },
  bound,
  atMost: true,
  unit
})

export const aims: ReadonlyArray<Aim> = [
  times("`return 1` with think time, faster than the harness", "a. `return 1`, with think time", 15),
  times("one call with think time, faster than the harness", "b. one call, with think time", 15),
  times("`return 1` back to back, faster than the harness", "a. `return 1`, back to back", 1.5),
  times("one call back to back, faster than the harness", "b. one call, back to back", 1.5),
  times("8 runs at once, runs per second of the harness", "c. runs per second, 8 at once", 1.3),
  times(
    "8 runs at once, runs per second of bare workers",
    "c. runs per second, 8 at once",
    0.9,
    "worker",
    "bare worker"
  ),
  times("a call in sequence, faster than the harness", "d. a call, 1,000 in sequence", 3),
  times("a call in parallel, faster than the harness", "d. a call, 1,000 in parallel", 4),
  times(
    "1 MB of small objects, faster than the harness",
    "e. 1 MB of small objects through a binding and returned",
    25
  ),
  times(
    "8 MB of small objects, faster than the harness",
    "e. 8 MB of small objects through a binding and returned",
    40
  ),
  times(
    "process start to first result, as fast as the harness",
    "f. process start to first result",
    1,
    "cordis plugin"
  ),
  times("10,000 log lines, faster than the harness", "h. 10,000 log lines", 3),
  most("`return 1` of Python with think time", "a. `return 1`, with think time", "python", 3, "ms"),
  {
    text: "Python, 8 runs at once",
    figure: (results) => results.median("c. runs per second, 8 at once", "python"),
    bound: 100,
    unit: "runs/s"
  },
  most("a call of Python in sequence", "d. a call, 1,000 in sequence", "python", 40, "µs"),
  most("a call of Python in parallel", "d. a call, 1,000 in parallel", "python", 8, "µs"),
  most("a standby worker", "g. each standby", "worker", 10, "MB"),
  most("a standby Python", "g. each standby", "python", 6, "MB"),
  most("growth over 1,000 runs, worker", "g. growth over 1,000 runs, after 200 of them", "worker", 5, "MB"),
  most("growth over 1,000 runs, Python", "g. growth over 1,000 runs, after 200 of them", "python", 5, "MB"),
  most(
    "CPU of an idle host with 8 standbys, a second",
    "g. CPU of an idle host with 8 standbys, a second",
    "worker",
    5,
    "ms"
  ),
  times(
    "a burst of 32 with standby, against standby 0",
    "c. a burst of 32 runs after think time",
    0.95,
    "worker",
    "worker, standby 0"
  ),
  times(
    "standby 0: `return 1` back to back, against the harness",
    "a. `return 1`, back to back",
    1,
    "worker, standby 0"
  ),
  times("standby 0: one call back to back, against the harness", "b. one call, back to back", 1, "worker, standby 0"),
  times("standby 0: 8 runs at once, against the harness", "c. runs per second, 8 at once", 1, "worker, standby 0"),
  {
    text: "longest block of the host's event loop by an attack",
    figure: (results) => Math.max(...results.measures("k").map((name) => results.median(name, "worker"))),
    bound: 50,
    atMost: true,
    unit: "ms"
  }
]

const row = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [row(head), row(head.map((_, i) => (i === 0 ? "---" : "---:"))), ...rows.map(row)].join("\n")

export const aimsTable = (results: Results): string => {
  const rows: Array<ReadonlyArray<string>> = []
  for (const { atMost = false, bound, figure, floor, text, unit } of aims) {
    const got = figure(results)
    if (!Number.isFinite(got)) continue
    const met = atMost ? got <= bound : got >= bound
    const least = floor?.(results)
    rows.push([
      text,
      `${atMost ? "at most" : "at least"} ${bound} ${unit}`,
      shown(got),
      met ? "yes" : "no",
      least === undefined || !Number.isFinite(least.value) ? "" : `${shown(least.value)} (${least.name})`
    ])
  }
  return table(["aim", "bound", "measured", "met", "the floor"], rows)
}

/** A cell of a ratio: how many times faster the worker is than another, above 1 where it is. */
const measureTable = (results: Results, measure: string): string => {
  const rows: Array<ReadonlyArray<string>> = []
  for (const { name, role } of contestants) {
    const cell = results.cell(measure, name)
    if (cell === undefined) continue
    if (cell.samples.length === 0) {
      rows.push([
        name,
        role,
        "-",
        "-",
        "-",
        "-",
        (cell.absent ?? "").replaceAll("|", "/").split("\n")[0]?.slice(0, 90) ?? ""
      ])
      continue
    }
    rows.push([
      name,
      role,
      shown(results.median(measure, name)),
      shown(results.p95(measure, name)),
      shown(results.ratio(measure, name, "harness")),
      shown(results.ratio(measure, "worker", name)),
      String(cell.samples.length)
    ])
  }
  const worst = isRate(measure) ? "p5" : "p95"
  return `**${measure}**, ${unitOf(measure)}\n\n${table(
    ["", "role", "median", worst, "× harness", "worker × it", "samples"],
    rows
  )}`
}

const titles: { readonly [letter: string]: string } = {
  a: "a. `return 1`",
  b: "b. One call",
  c: "c. Many runs at once",
  d: "d. 1,000 calls",
  e: "e. Large values",
  f: "f. Process start to first result",
  g: "g. Memory",
  h: "h. Log lines",
  i: "i. Long programs"
}

/** The points of a growth: sizes and medians. */
export const growths = (
  results: Results
): ReadonlyArray<{
  readonly name: string
  readonly who: string
  readonly points: ReadonlyArray<readonly [number, number]>
}> => {
  const found = new Map<string, { name: string; who: string; points: Array<readonly [number, number]> }>()
  for (const measure of results.measures("j")) {
    const [name = "", size = ""] = measure.slice(3).split(": ")
    for (const who of results.contestants(measure)) {
      const value = results.median(measure, who)
      if (!Number.isFinite(value)) continue
      const key = `${name}\n${who}`
      const growth = found.get(key) ?? { name, who, points: [] }
      found.set(key, growth)
      growth.points.push([Number(size), value])
    }
  }
  return [...found.values()].toSorted((a, b) => a.name.localeCompare(b.name) || a.who.localeCompare(b.who))
}

const growthTable = (results: Results): string =>
  table(
    ["what grows", "who", "ms at each size", "slope", "slope of the last step"],
    growths(results).map(({ name, points, who }) => [
      name,
      who,
      points.map(([size, ms]) => `${size.toLocaleString("en-US")}: ${shown(ms)}`).join(", "),
      slope(points).toFixed(2),
      slope(points.slice(-2)).toFixed(2)
    ])
  )

const attackTable = (results: Results): string => {
  const blocks = results.measures("k").map((name) => ({ name: name.slice(3), ms: results.median(name, "worker") }))
  const dead = results.measures("k").filter((name) => results.cell(name, "worker")?.samples.length === 0)
  const worst = blocks.filter(({ ms }) => Number.isFinite(ms)).toSorted((a, b) => b.ms - a.ms)
  const overall = `${worst.length} programs of \`test/attacks\` on the worker backend: median ${shown(median(worst.map(({ ms }) => ms)))} ms, ${
    worst.filter(({ ms }) => ms > 50).length
  } over 50 ms. The longest:`
  const lost = dead.map((name) => `\n\n\`${name.slice(3)}\`: ${results.cell(name, "worker")?.absent ?? ""}`).join("")
  return `${overall}\n\n${table(
    ["attack", "longest block of the host's event loop, ms"],
    worst.slice(0, 12).map(({ ms, name }) => [`\`${name}\``, shown(ms)])
  )}${lost}`
}

/** The whole generated part of the page. */
export const report = (results: Results, facts: ReadonlyArray<readonly [string, string]>): string => {
  const parts = [
    table(
      ["", ""],
      facts.map(([name, value]) => [name, value])
    ).replaceAll("---:", "---")
  ]
  parts.push("### Aims", aimsTable(results))
  parts.push(
    "### Who takes part",
    table(
      ["", "role", "what it is"],
      contestants.map(({ name, note, role }) => {
        const why = results.missing.get(name)
        return [name, role, why === undefined ? note : `${note}. **Absent here**: ${why.replaceAll("|", "/")}`]
      })
    ).replaceAll("---:", "---")
  )
  for (const [letter, title] of Object.entries(titles)) {
    const measures = results.measures(letter)
    if (measures.length === 0) continue
    parts.push(`### ${title}`, ...measures.map((measure) => measureTable(results, measure)))
  }
  if (results.measures("j").length > 0) {
    parts.push("### j. Growth", "A slope of 1 is linear; below 1 a fixed cost shows still.", growthTable(results))
  }
  if (results.measures("k").length > 0) parts.push("### k. The host's event loop under attack", attackTable(results))
  return parts.join("\n\n")
}
