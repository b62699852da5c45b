/**
 * The benchmark: everyone in turn, each in fresh processes, rounds interleaved so that a drift of the machine hits all.
 *
 * `npm run bench` writes `docs/performance.md` between its marks, and `docs/performance.svg`. `npm run bench:quick` does
 * the essential and writes nothing; `--check` does one of everything quick, to see that it works. `--only=TEXT` takes
 * only groups whose name has the text.
 */
import { spawn, spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { cpus, loadavg, release, totalmem } from "node:os"
import { performance } from "node:perf_hooks"
import { fileURLToPath } from "node:url"
import { type Contestant, contestants } from "./Contestant.ts"
import { type Extent, type Figure, groups } from "./Measure.ts"
import { plot } from "./Plot.ts"
import { aimsTable, report } from "./Report.ts"
import { Results, unitOf } from "./Results.ts"
import { shown } from "./Statistics.ts"

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const has = (flag: string): boolean => process.argv.includes(flag)
const option = (name: string): string | undefined =>
  process.argv.find((each) => each.startsWith(`--${name}=`))?.slice(name.length + 3)

const extent: Extent = has("--check") ? "check" : has("--quick") ? "quick" : "full"
const only = option("only") ?? ""
const results = new Results()
const began = performance.now()
const loadBefore = loadavg()[0] ?? 0
const progress = (text: string): void => {
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  console.error(`${seconds.padStart(4)} s  ${text}`)
}

const isFigure = (value: unknown): value is Figure => typeof value === "object" && value !== null && "measure" in value

/** A process of the benchmark; resolves with its exit once everything that it told was taken. */
const start = (args: ReadonlyArray<string>, limitMs: number, take: (figure: Figure) => void): Promise<string> =>
  new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      ["--expose-gc", "--disable-warning=ExperimentalWarning", here("process.ts"), ...args],
      {
        stdio: ["ignore", "pipe", has("--verbose") ? "inherit" : "ignore"]
      }
    )
    const late = setTimeout(() => child.kill("SIGKILL"), limitMs)
    let rest = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) {
        const figure: unknown = JSON.parse(line)
        if (isFigure(figure)) take(figure)
      }
    })
    child.on("close", (code, signal) => {
      clearTimeout(late)
      resolve(code === 0 ? "" : `its process ended with ${signal ?? code ?? "nothing"}`)
    })
  })

/** Time from the spawn of a process to the first line that it prints, in milliseconds. */
const firstResult = (contestant: Contestant): Promise<number> =>
  new Promise((resolve, reject) => {
    const file = new URL(`./contestants/${contestant.file}`, import.meta.url).href
    const from = performance.now()
    const child = spawn(
      process.execPath,
      [here("contestants/first.js"), file, contestant.dialect, JSON.stringify(contestant.options)],
      { stdio: ["ignore", "pipe", "ignore"] }
    )
    let ms: number | undefined
    child.stdout.once("data", () => {
      ms = performance.now() - from
      child.kill("SIGKILL")
    })
    child.on("close", () => (ms === undefined ? reject(new Error("it printed nothing")) : resolve(ms)))
  })

const startTimes = async (count: number): Promise<void> => {
  const taking = contestants.filter(({ dialect, name }) => dialect !== "none" && !results.missing.has(name))
  const failed = new Set<string>()
  for (let round = 0; round < count; round++) {
    for (const contestant of taking) {
      if (failed.has(contestant.name)) continue
      const measure = "f. process start to first result"
      try {
        const ms = await firstResult(contestant)
        // The first of each fills the caches of files.
        if (round > 0 || count === 1) results.add(contestant.name, { measure, samples: [ms] })
      } catch (error) {
        failed.add(contestant.name)
        results.add(contestant.name, { measure, samples: [], absent: String(error) })
      }
    }
  }
}

/** Everyone in one group, as many rounds as it has; who begins changes with the round. */
const playGroup = async (group: (typeof groups)[number]): Promise<void> => {
  const rounds = extent === "full" ? Number(option("rounds") ?? group.rounds) : 1
  for (let round = 0; round < rounds; round++) {
    const taking = contestants.filter(
      (each) => each.startOnly !== true && group.of(each) && !results.missing.has(each.name)
    )
    const order = round % 2 === 0 ? taking : taking.toReversed()
    for (const contestant of order) {
      progress(`${group.name} ${round + 1}/${rounds}: ${contestant.name}`)
      const trouble = await start([contestant.name, group.name, extent], 240_000, (figure) =>
        results.add(contestant.name, figure)
      )
      if (trouble === "") continue
      progress(`${contestant.name}: ${trouble}`)
      results.add(contestant.name, { measure: group.name, samples: [], absent: trouble })
    }
  }
}

/** Every attack once; a host that dies of one is told of, and another goes on after it. */
const playAttacks = async (): Promise<void> => {
  let files = readdirSync(here("../test/attacks")).filter((file) => file.endsWith(".ts"))
  while (files.length > 0) {
    progress(`attacks: ${files.length} left`)
    let done = 0
    const trouble = await start(["worker", "attacks", extent, ...files], 400_000, ({ measure, samples }) => {
      done++
      results.add("worker", { measure: `k. ${measure}`, samples })
    })
    const victim = files[done]
    if (victim !== undefined) results.add("worker", { measure: `k. ${victim}`, samples: [], absent: trouble })
    files = files.slice(done + 1)
  }
}

const versionOf = (path: string): string => {
  const file = here(path)
  if (!existsSync(file)) return "absent"
  const manifest: unknown = JSON.parse(readFileSync(file, "utf8"))
  return typeof manifest === "object" && manifest !== null && "version" in manifest ? String(manifest.version) : "?"
}

const facts = (): ReadonlyArray<readonly [string, string]> => {
  const peers = [
    "@deepseek-ai/dsh-code-runtime-worker-thread",
    "isolated-vm",
    "quickjs-emscripten",
    "deno",
    "@pydantic/monty"
  ]
  const python = spawnSync("/usr/bin/python3", ["--version"], { encoding: "utf8" }).stdout
  return [
    ["Date", new Date().toISOString().slice(0, 10)],
    ["Command", `\`npm run bench${extent === "full" ? "" : `:${extent}`}\``],
    [
      "Machine",
      `${cpus().length} × ${cpus()[0]?.model.trim() ?? "?"}, ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release()}`
    ],
    // A page of a busy machine says so.
    ["Load average, before and after", `${shown(loadBefore)}, ${shown(loadavg()[0] ?? 0)}`],
    ["Node", process.version],
    ["CPython", python === undefined || python === null ? "absent" : python.trim().replace("Python ", "")],
    ["effect", versionOf("../node_modules/effect/package.json")],
    ...peers.map((name): readonly [string, string] => [`\`${name}\``, versionOf(`node_modules/${name}/package.json`)])
  ]
}

const print = (): void => {
  for (const letter of "abcdefghi") {
    for (const measure of results.measures(letter)) {
      console.log(`\n${measure} (${unitOf(measure)})`)
      for (const name of results.contestants(measure)) {
        const cell = results.cell(measure, name)
        const figures =
          cell === undefined || cell.samples.length === 0
            ? `absent: ${cell?.absent?.split("\n")[0] ?? ""}`
            : [
                shown(results.median(measure, name)).padStart(9),
                shown(results.p95(measure, name)).padStart(9),
                `${shown(results.ratio(measure, name, "harness")).padStart(9)} x harness`
              ].join("")
        console.log(`  ${name.padEnd(20)}${figures}`)
      }
    }
  }
  for (const [name, why] of results.missing) console.log(`\n${name} is absent here: ${why}`)
  console.log(`\n${aimsTable(results)}`)
}

const begin = "<!-- bench:begin -->"
const end = "<!-- bench:end -->"

const write = (): void => {
  const page = here("../docs/performance.md")
  const text = readFileSync(page, "utf8")
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error("docs/performance.md has lost its marks")
  writeFileSync(page, `${text.slice(0, from + begin.length)}\n\n${report(results, facts())}\n\n${text.slice(to)}`)
  writeFileSync(here("../docs/performance.svg"), plot(results))
  spawnSync(here("../node_modules/.bin/oxfmt"), [page], { stdio: "ignore" })
}

if (!existsSync(here("node_modules"))) {
  // A peer that cannot be installed is told of as absent.
  const installed = spawnSync("npm", ["ci", "--prefix", here("."), "--no-audit", "--no-fund"], { stdio: "inherit" })
  if (installed.status !== 0) progress("the peers could not be installed")
}
for (const group of groups) {
  if (group.extents.includes(extent) && group.name.includes(only)) await playGroup(group)
}
if ("start".includes(only)) {
  progress("process start to first result")
  await startTimes(extent === "full" ? 16 : extent === "quick" ? 5 : 1)
}
if (extent === "full" && "attacks".includes(only)) await playAttacks()
print()
for (const { name, role } of contestants) {
  const failed = role === "ours" ? results.failures(name) : []
  for (const failure of failed) console.log(`${name} failed: ${failure}`)
  if (failed.length > 0) process.exitCode = 1
}
if (extent === "full" && only === "") write()
progress("done")
