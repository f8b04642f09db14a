/** A server's figures over time, prepared for drawing. Pure. */
import type { UsageHistory, UsagePoint } from '../../contract/wordpress-usage.ts'

/** One value per span; null where it is unknown. */
export type Values = readonly (number | null)[]

/** Rows by span, from the first to the current one; undefined where there is no row. */
export function spansOf(history: UsageHistory): readonly (UsagePoint | undefined)[] {
  const ms = history.minutes * 60_000
  const from = Date.parse(history.from)
  const count = Math.max(1, Math.ceil((Date.parse(history.to) - from) / ms))
  const spans: (UsagePoint | undefined)[] = Array.from({ length: count })
  for (const point of history.points) {
    const index = Math.round((Date.parse(point.at) - from) / ms)
    if (index >= 0 && index < count) spans[index] = point
  }
  return spans
}

/** Counted values: a span without a row between two rows counts 0, any other is unknown. */
export function counts(
  spans: readonly (UsagePoint | undefined)[],
  of: (point: UsagePoint) => number,
): Values {
  const first = spans.findIndex((point) => point !== undefined)
  const last = spans.findLastIndex((point) => point !== undefined)
  return spans.map((point, index) => {
    if (point) return of(point)
    return first >= 0 && index > first && index < last ? 0 : null
  })
}

/** Measured values: the last one is kept for an hour, because an unvisited server has no rows. */
export function levels(
  spans: readonly (UsagePoint | undefined)[],
  minutes: number,
  of: (point: UsagePoint) => number | null,
): Values {
  const held = Math.floor(60 / minutes)
  let since = Infinity
  let value: number | null = null
  const last = spans.findLastIndex((point) => point !== undefined)
  return spans.map((point, index) => {
    if (point) {
      value = of(point)
      since = 0
    } else since += 1
    return since <= held && index <= last ? value : null
  })
}

export const sumOf = (values: Values): number =>
  values.reduce<number>((sum, value) => sum + (value ?? 0), 0)

/** An SVG path over a square of 100; each gap begins a new piece. */
export function pathOf(values: Values, top: number): string {
  const step = 100 / Math.max(1, values.length - 1)
  let path = ''
  let isDrawing = false
  for (const [index, value] of values.entries()) {
    if (value !== null) {
      const y = 100 - (Math.min(value, top) / top) * 100
      path += `${isDrawing ? 'L' : 'M'}${(index * step).toFixed(2)} ${y.toFixed(2)}`
    }
    isDrawing = value !== null
  }
  return path
}

/** The same for values between two gaps, which are no line: each is a dot. */
export function dotsOf(values: Values, top: number): string {
  const isAlone = (index: number): boolean =>
    (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null
  return pathOf(
    values.map((value, index) => (isAlone(index) ? value : null)),
    top,
  ).replaceAll(/M[^M]+/g, '$&h0.01')
}
