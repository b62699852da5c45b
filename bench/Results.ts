/**
 * What was measured, of everyone, in every round.
 */
import type { Figure } from "./Measure.ts"
import { median, quantile } from "./Statistics.ts"

export interface Cell {
  readonly samples: ReadonlyArray<number>
  readonly absent: string | undefined
}

/** All samples of a measure by contestant. */
export class Results {
  readonly #cells = new Map<string, Map<string, { samples: Array<number>; absent: string | undefined }>>()
  /** Contestants that could not be opened here, and why. */
  readonly missing = new Map<string, string>()

  add(contestant: string, figure: Figure): void {
    if (figure.measure === "") {
      this.missing.set(contestant, figure.absent ?? "")
      return
    }
    const cells =
      this.#cells.get(figure.measure) ?? new Map<string, { samples: Array<number>; absent: string | undefined }>()
    this.#cells.set(figure.measure, cells)
    const cell = cells.get(contestant) ?? { samples: [], absent: undefined }
    cells.set(contestant, cell)
    cell.samples.push(...figure.samples)
    if (figure.absent !== undefined) cell.absent = figure.absent
  }

  /** The measures in the order in which they were first told, by their letter. */
  measures(letter: string): ReadonlyArray<string> {
    return [...this.#cells.keys()].filter((name) => name.startsWith(`${letter}.`))
  }

  /** What a contestant was asked for and did not give. */
  failures(contestant: string): ReadonlyArray<string> {
    return [...this.#cells].flatMap(([measure, cells]) => {
      const absent = measure.startsWith("k.") ? undefined : cells.get(contestant)?.absent
      return absent === undefined ? [] : [`${measure}: ${absent}`]
    })
  }

  cell(measure: string, contestant: string): Cell | undefined {
    return this.#cells.get(measure)?.get(contestant)
  }

  contestants(measure: string): ReadonlyArray<string> {
    return [...(this.#cells.get(measure)?.keys() ?? [])]
  }

  /** NaN where there is no figure. */
  median(measure: string, contestant: string): number {
    return median(this.cell(measure, contestant)?.samples ?? [])
  }

  /** The worst but for one in twenty: of a rate the low end. */
  p95(measure: string, contestant: string): number {
    const samples = this.cell(measure, contestant)?.samples ?? []
    return quantile(samples, isRate(measure) ? 0.05 : 0.95)
  }

  /** How many times faster the first is than the second. */
  ratio(measure: string, ours: string, peer: string): number {
    const [mine, theirs] = [this.median(measure, ours), this.median(measure, peer)]
    return isRate(measure) ? mine / theirs : theirs / mine
  }
}

/** More is better. */
export const isRate = (measure: string): boolean => measure.includes("per second")

export const unitOf = (measure: string): string => {
  if (isRate(measure)) return "runs/s"
  if (measure.startsWith("d.")) return "µs"
  if (measure.startsWith("g.") && !measure.includes("CPU")) return "MB"
  return "ms"
}
