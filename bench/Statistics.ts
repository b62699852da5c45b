/**
 * Medians, percentiles and slopes.
 */

/** The value that a share of the samples is at or below, between neighbours by their distance; NaN for no samples. */
export const quantile = (samples: ReadonlyArray<number>, share: number): number => {
  const sorted = samples.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const low = sorted[Math.floor(at)] ?? Number.NaN
  const high = sorted[Math.ceil(at)] ?? Number.NaN
  return low + (high - low) * (at - Math.floor(at))
}

export const median = (samples: ReadonlyArray<number>): number => quantile(samples, 0.5)

/** The slope of the straight line through points in a log-log plot: 1 where twice the size takes twice the time. */
export const slope = (points: ReadonlyArray<readonly [number, number]>): number => {
  const logs = points.map(([x, y]): readonly [number, number] => [Math.log(x), Math.log(y)])
  const meanX = logs.reduce((sum, [x]) => sum + x, 0) / logs.length
  const meanY = logs.reduce((sum, [, y]) => sum + y, 0) / logs.length
  const product = logs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0)
  const square = logs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
  return product / square
}

/** A figure with three digits that count. */
export const shown = (value: number): string => {
  if (!Number.isFinite(value)) return "-"
  const size = Math.abs(value)
  if (size >= 1000) return Math.round(value).toLocaleString("en-US")
  return size >= 100
    ? value.toFixed(0)
    : size >= 10
      ? value.toFixed(1)
      : size >= 1
        ? value.toFixed(2)
        : value.toFixed(3)
}
