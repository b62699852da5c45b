/**
 * What is measured, and how one contestant is measured in a process of its own.
 */
import { monitorEventLoopDelay, performance } from "node:perf_hooks"
import { setTimeout as sleep } from "node:timers/promises"
import { type Contestant, Inapplicable, open, type Player } from "./Contestant.ts"
import { memoryMb, cpuMs } from "./ProcessTree.ts"
import { rowsOfMegabyte, type Task } from "./Task.ts"

/** How much is done: `full` for the page, `quick` for a look, `check` to see that it works. */
export type Extent = "full" | "quick" | "check"

/** One figure: the name of the measure, its unit, and the samples of one process. */
export interface Figure {
  readonly measure: string
  readonly samples: ReadonlyArray<number>
  /** Why there are none. */
  readonly absent?: string
}

type Tell = (figure: Figure) => void

/** A group of measures that share a process. */
export interface Group {
  readonly name: string
  /** Which extents have it. */
  readonly extents: ReadonlyArray<Extent>
  /** Rounds of the full extent; others have one. */
  readonly rounds: number
  /** Who takes part. */
  readonly of: (contestant: Contestant) => boolean
  readonly measure: (contestant: Contestant, extent: Extent, tell: Tell) => Promise<void>
}

const one: Task = { kind: "one", size: 1 }
const call: Task = { kind: "call", size: 3 }

const fewer = (extent: Extent, full: number, quick: number): number =>
  extent === "full" ? full : extent === "quick" ? quick : 1

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Tells the samples of a body, or why there are none. */
const attempt = async (tell: Tell, measure: string, body: () => Promise<ReadonlyArray<number>>): Promise<void> => {
  try {
    tell({ measure, samples: await body() })
  } catch (error) {
    // What a floor does not do is no failure.
    if (error instanceof Inapplicable && error.message === "") return
    tell({ measure, samples: [], absent: reasonOf(error) })
    if (!(error instanceof Inapplicable)) console.error(measure, error)
  }
}

const timed = async (body: () => Promise<unknown>): Promise<number> => {
  const from = performance.now()
  await body()
  return performance.now() - from
}

const samplesOf = async (
  player: Player,
  task: Task,
  options: { readonly warm: number; readonly count: number; readonly thinkMs?: number }
): Promise<Array<number>> => {
  for (let i = 0; i < options.warm; i++) await player.perform(task)
  const samples: Array<number> = []
  for (let i = 0; i < options.count; i++) {
    if (options.thinkMs !== undefined) await sleep(options.thinkMs)
    samples.push(await player.perform(task))
  }
  return samples
}

/**
 * Runs that follow each other at once, as the time of a run in each ten of them: with a standby fast runs and slow ones
 * take turns, and only together they say what a run costs.
 */
const blocksOf = async (
  player: Player,
  task: Task,
  options: { readonly warm: number; readonly count: number }
): Promise<Array<number>> => {
  for (let i = 0; i < options.warm; i++) await player.perform(task)
  const samples: Array<number> = []
  const size = Math.min(10, options.count)
  for (let i = 0; i < options.count; i += size) {
    const ms = await timed(async () => {
      for (let j = 0; j < size; j++) await player.perform(task)
    })
    samples.push(ms / size)
  }
  return samples
}

const withPlayer = async (
  contestant: Contestant,
  body: (player: Player) => Promise<void>,
  options: Contestant["options"] = {}
): Promise<void> => {
  const player = await open(contestant, options)
  await body(player)
  await player.dispose()
}

/** What runs programs; the floors that only move data do not. */
const runs = ({ dialect }: Contestant): boolean => dialect !== "none"

/** Long enough for any standby to be ready again. */
const thinkMs = 80

const latency: Group = {
  name: "latency",
  extents: ["full", "quick", "check"],
  rounds: 2,
  of: runs,
  measure: (contestant, extent, tell) =>
    withPlayer(contestant, async (player) => {
      const warm = fewer(extent, 5, 3)
      const count = fewer(extent, 20, 10)
      await attempt(tell, "a. `return 1`, back to back", () => blocksOf(player, one, { warm, count }))
      await attempt(tell, "a. `return 1`, with think time", () => samplesOf(player, one, { warm: 2, count, thinkMs }))
      await attempt(tell, "b. one call, back to back", () => blocksOf(player, call, { warm, count }))
      await attempt(tell, "b. one call, with think time", () => samplesOf(player, call, { warm: 2, count, thinkMs }))
      if (extent === "full") {
        await attempt(tell, "b. one call, 6 ms after the last run", () =>
          samplesOf(player, call, { warm: 2, count, thinkMs: 6 })
        )
      }
    })
}

const perSecond = async (player: Player, concurrency: number, total: number): Promise<number> => {
  let left = total
  const lane = async (): Promise<void> => {
    while (left-- > 0) await player.perform(one)
  }
  const ms = await timed(() => Promise.all(Array.from({ length: concurrency }, lane)))
  return (1000 * total) / ms
}

const throughput: Group = {
  name: "throughput",
  extents: ["full", "quick"],
  rounds: 2,
  of: runs,
  measure: (contestant, extent, tell) =>
    withPlayer(contestant, async (player) => {
      for (let i = 0; i < 4; i++) await player.perform(one)
      for (const concurrency of extent === "full" ? [1, 2, 8, 32] : [8]) {
        const total = fewer(extent, Math.max(40, 2 * concurrency), 40)
        await attempt(tell, `c. runs per second, ${concurrency} at once`, async () => [
          await perSecond(player, concurrency, total),
          await perSecond(player, concurrency, total)
        ])
      }
      if (extent !== "full") return
      await attempt(tell, "c. a burst of 32 runs after think time", async () => {
        const samples: Array<number> = []
        for (let i = 0; i < 3; i++) {
          await sleep(4 * thinkMs)
          samples.push(await timed(() => Promise.all(Array.from({ length: 32 }, () => player.perform(one)))))
        }
        return samples
      })
    })
}

const calls: Group = {
  name: "calls",
  extents: ["full", "quick", "check"],
  rounds: 2,
  of: () => true,
  measure: (contestant, extent, tell) =>
    withPlayer(contestant, async (player) => {
      const size = 1000
      const count = fewer(extent, 7, 3)
      for (const kind of ["sequence", "parallel"] as const) {
        await attempt(tell, `d. a call, 1,000 in ${kind}`, async () => {
          const samples = await samplesOf(player, { kind, size }, { warm: 2, count, thinkMs })
          return samples.map((ms) => (1000 * ms) / size)
        })
      }
      if (contestant.dialect === "none") return
      await attempt(tell, "h. 10,000 log lines", () =>
        samplesOf(player, { kind: "logs", size: 10_000 }, { warm: 1, count: fewer(extent, 5, 2), thinkMs })
      )
    })
}

const rows = (size: number): Task => ({ kind: "rows", size })

const data: Group = {
  name: "data",
  extents: ["full", "quick"],
  rounds: 1,
  of: () => true,
  measure: (contestant, extent, tell) =>
    withPlayer(contestant, async (player) => {
      const slow = contestant.name === "harness"
      await attempt(tell, "e. 1 MB of small objects through a binding and returned", () =>
        samplesOf(player, rows(rowsOfMegabyte), { warm: 1, count: slow ? 2 : fewer(extent, 5, 3), thinkMs })
      )
      if (extent !== "full") return
      await attempt(tell, "e. 8 MB of small objects through a binding and returned", () =>
        samplesOf(player, rows(8 * rowsOfMegabyte), { warm: slow ? 0 : 1, count: slow ? 1 : 3, thinkMs })
      )
      await attempt(tell, "e. a string of 8 MB returned", () =>
        samplesOf(player, { kind: "text", size: 8_000_000 }, { warm: 1, count: slow ? 2 : 3, thinkMs })
      )
    })
}

const compileTime: Group = {
  name: "compile",
  extents: ["full"],
  rounds: 1,
  of: runs,
  measure: (contestant, extent, tell) =>
    withPlayer(contestant, async (player) => {
      for (const size of [30, 500]) {
        await attempt(tell, `i. a new program of ${size} lines, with think time`, () =>
          samplesOf(player, { kind: "lines", size }, { warm: 3, count: fewer(extent, 10, 5), thinkMs })
        )
      }
    })
}

/** A process that waits is ended after half a second, unless one asks for more. */
const keptReady = ({ options }: Contestant): { readonly standbyMs?: number } =>
  options["backend"] === "worker" ? {} : { standbyMs: 60_000 }

/** Until what was started is up, and what was ended is gone. */
const settle = (): Promise<void> => sleep(700)

/** Collects garbage so that V8 also gives back the room that it keeps for new objects: by 12 MB at a time, as it finds fit. */
const collect = (): void => globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" })

const memory: Group = {
  name: "memory",
  extents: ["full"],
  rounds: 1,
  of: ({ name }) => ["worker", "node process", "python", "harness"].includes(name),
  measure: async (contestant, _extent, tell) => {
    const standbys = 8
    const cold = await open(contestant, { standby: 0 })
    await cold.perform(one)
    await settle()
    const idle = memoryMb()
    tell({ measure: "g. the host's process, one run done, nothing kept", samples: [idle] })
    if (contestant.role === "ours" && contestant.options["standby"] === undefined) {
      const warm = await open(contestant, { standby: standbys, ...keptReady(contestant) })
      await settle()
      await settle()
      tell({ measure: "g. each standby", samples: [(memoryMb() - idle) / standbys] })
      const cpu = cpuMs()
      await sleep(3000)
      tell({ measure: "g. CPU of an idle host with 8 standbys, a second", samples: [(cpuMs() - cpu) / 3] })
      await warm.dispose()
      await settle()
    }
    const before = memoryMb()
    const release = Promise.withResolvers<void>()
    const held = Array.from({ length: 8 }, () => cold.hold(release.promise))
    await Promise.all(held.map((each) => each.held))
    tell({ measure: "g. each of 8 runs at once", samples: [(memoryMb() - before) / 8] })
    release.resolve()
    await Promise.all(held.map((each) => each.ended))
    const many = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i += 4) await Promise.all(Array.from({ length: 4 }, () => cold.perform(call)))
    }
    const settled = async (): Promise<number> => {
      collect()
      await settle()
      collect()
      return memoryMb()
    }
    await many(200)
    const early = await settled()
    await many(1000)
    tell({ measure: "g. growth over 1,000 runs, after 200 of them", samples: [(await settled()) - early] })
    await cold.dispose()
  }
}

const growing: ReadonlyArray<{
  readonly name: string
  readonly unit: string
  readonly sizes: ReadonlyArray<number>
  readonly task: (size: number) => Task
  /** The harness is not taken there. */
  readonly tooLong?: number
}> = [
  {
    name: "value, in rows through a binding and returned",
    unit: "rows",
    sizes: [2000, 8000, 32_000, 128_000],
    task: (size) => ({ kind: "rows", size }),
    tooLong: 40_000
  },
  {
    name: "calls in sequence",
    unit: "calls",
    sizes: [250, 1000, 4000, 16_000],
    task: (size) => ({ kind: "sequence", size })
  },
  {
    name: "calls in parallel",
    unit: "calls",
    sizes: [250, 1000, 4000, 16_000],
    task: (size) => ({ kind: "parallel", size })
  },
  { name: "bindings", unit: "bindings", sizes: [10, 100, 1000, 5000], task: (size) => ({ kind: "bindings", size }) },
  { name: "program", unit: "lines", sizes: [100, 400, 1600, 6400], task: (size) => ({ kind: "lines", size }) },
  { name: "log lines", unit: "lines", sizes: [2500, 10_000, 40_000], task: (size) => ({ kind: "logs", size }) }
]

const growth: Group = {
  name: "growth",
  extents: ["full"],
  rounds: 1,
  of: ({ name }) => ["worker", "python", "harness"].includes(name),
  measure: (contestant, _extent, tell) =>
    withPlayer(contestant, async (player) => {
      for (const { name, sizes, task, tooLong } of growing) {
        for (const size of sizes) {
          if (contestant.name === "harness" && tooLong !== undefined && size > tooLong) continue
          await attempt(tell, `j. ${name}: ${size}`, () =>
            samplesOf(player, task(size), { warm: 1, count: 3, thinkMs })
          )
        }
      }
      for (const concurrency of [1, 4, 16, 64]) {
        await attempt(tell, `j. runs at once: ${concurrency}`, async () => {
          const samples: Array<number> = []
          for (let i = 0; i < 3; i++) {
            await sleep(thinkMs)
            samples.push(await timed(() => Promise.all(Array.from({ length: concurrency }, () => player.perform(one)))))
          }
          return samples
        })
      }
    })
}

/** The longest block of this loop while a body runs, in milliseconds. */
export const longestBlock = async (body: () => Promise<unknown>): Promise<number> => {
  const resolution = 1
  const delays = monitorEventLoopDelay({ resolution })
  await sleep(20)
  delays.enable()
  await body()
  // A block is seen once it is over.
  await sleep(5)
  delays.disable()
  return Math.max(0, delays.max / 1e6 - resolution)
}

export const groups: ReadonlyArray<Group> = [latency, throughput, calls, data, compileTime, memory, growth]
