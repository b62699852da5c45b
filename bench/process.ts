/**
 * One fresh process of the benchmark: measures one group of one contestant, or attacks, and tells a line of JSON for
 * each figure.
 */
import { readFileSync } from "node:fs"
import { contestants, open } from "./Contestant.ts"
import { type Extent, groups, longestBlock } from "./Measure.ts"

const [name, groupName, extentName = "full", ...files] = process.argv.slice(2)
const extent: Extent = extentName === "quick" || extentName === "check" ? extentName : "full"
const tell = (figure: object): void => void process.stdout.write(`${JSON.stringify(figure)}\n`)

const contestant = contestants.find((each) => each.name === name)
if (contestant === undefined) throw new Error(`there is no contestant ${String(name)}`)

if (groupName === "attacks") {
  const { open: openRuntime } = await import(new URL(`./contestants/${contestant.file}`, import.meta.url).href)
  // The limits and functions of the tests that run the same programs.
  const runtime = await openRuntime({
    ...contestant.options,
    computeMs: 1000,
    maxWallMs: 3000,
    maxMemoryMb: 128,
    maxOutputBytes: 1 << 20,
    maxBindingBytes: 1 << 20
  })
  const functions = {
    echo: (args: unknown) => args,
    fail: () => Promise.reject(new Error("refused")),
    never: () => new Promise(() => {})
  }
  const errorClass = { name: "ToolError", memberNameProperty: "tool" }
  const attack = (program: string) => runtime.run({ program, bindings: [{ global: "tools", functions, errorClass }] })
  for (let i = 0; i < 20; i++) await attack(`return ${i}`)
  for (const file of files) {
    const program = readFileSync(new URL(`../test/attacks/${file}`, import.meta.url), "utf8")
    tell({ measure: file, samples: [await longestBlock(() => attack(program))] })
  }
  await runtime.dispose()
} else {
  const group = groups.find((each) => each.name === groupName)
  if (group === undefined) throw new Error(`there is no group ${String(groupName)}`)
  // What cannot be opened here is told once, by the first group.
  const opened = await open(contestant).then(
    (player) => player.dispose().then(() => undefined),
    (error: unknown) => (error instanceof Error ? error.message : String(error))
  )
  if (opened === undefined) await group.measure(contestant, extent, tell)
  else tell({ measure: "", samples: [], absent: opened.split("\n")[0] ?? "" })
}
// A peer may leave something that keeps its process alive.
process.exit(0)
