import { memo, useEffect, useRef, useState, type CSSProperties, type ReactNode } from 'react'

/**
 * Rows rendered before and after the visible ones, so that scrolling never shows a gap; they are
 * rendered after the visible rows.
 */
const marginPx = 600
/** Rows are added and removed in steps of this many, so that most scroll events change nothing. */
const step = 5
/**
 * The margin is rendered only after scrolling has rested this long, ms: a user who scrolls far
 * passes many places at once.
 */
const restMs = 100

interface Span {
  readonly first: number
  readonly last: number
}

/**
 * The rows in view of a table whose body begins `above` pixels over the window's top, and those
 * within `margin` pixels around, rounded to multiples of `unit`.
 */
const span = (above: number, margin: number, rowPx: number, unit: number): Span => ({
  first: Math.max(0, Math.floor((above - margin) / rowPx / unit) * unit),
  last: Math.max(unit, Math.ceil((above + window.innerHeight + margin) / rowPx / unit) * unit),
})

const isElsewhere = (now: Span, seen: Span): boolean =>
  now.last < seen.first || now.first > seen.last

/**
 * The rows to render after `now`: all that are in view, and one step further into the margin on
 * either side, but none beyond it.
 */
function next(now: Span, seen: Span, wide: Span): Span {
  if (isElsewhere(now, seen)) return seen
  const first = Math.min(seen.first, Math.max(wide.first, now.first - step))
  const last = Math.max(seen.last, Math.min(wide.last, now.last + step))
  return first === now.first && last === now.last ? now : { first, last }
}

/** The part of an array that this needs, so that a list can be something else. */
export interface Rows<T> {
  readonly length: number
  slice(begin: number, end: number): T[]
}

interface VirtualRowsProps<T> {
  rows: Rows<T>
  /** Height of each row in `rem`, the browser's own text size. All rows have one height. */
  rowRem: number
  /**
   * Renders one row with its number from 1, at the height `--row`. It must depend on nothing else.
   */
  row: (entry: T, number: number) => ReactNode
}

/**
 * A long table's body: however many rows are loaded, only those near the view are in the document.
 * The page itself scrolls.
 */
export function VirtualRows<T>({ rows, rowRem, row }: VirtualRowsProps<T>) {
  const [remPx] = useState(() =>
    Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
  )
  // Whole pixels: a browser's own rounding would add up over many rows and misplace the last one.
  const rowPx = Math.round(rowRem * remPx)
  const body = useRef<HTMLTableSectionElement>(null)
  // At first one screenful; the margin is added after the first measurement.
  const [shown, setShown] = useState<Span>(() => span(0, 0, rowPx, 1))
  const latest = useRef(shown)

  useEffect(() => {
    let frame = 0
    let rest: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      frame = 0
      if (!body.current) return
      const above = -body.current.getBoundingClientRect().top
      const seen = span(above, 0, rowPx, 1)
      if (isElsewhere(latest.current, seen)) {
        clearTimeout(rest)
        rest = setTimeout(() => {
          rest = undefined
          soon()
        }, restMs)
      }
      const wide = rest === undefined ? span(above, marginPx, rowPx, step) : seen
      const now = next(latest.current, seen, wide)
      if (now === latest.current) return
      latest.current = now
      setShown(now)
      // The margin grows by one step per frame, so that no frame takes long.
      if (now.first !== wide.first || now.last !== wide.last) soon()
    }
    const soon = () => {
      frame ||= requestAnimationFrame(look)
    }
    look()
    window.addEventListener('scroll', soon, { passive: true })
    window.addEventListener('resize', soon)
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(rest)
      window.removeEventListener('scroll', soon)
      window.removeEventListener('resize', soon)
    }
  }, [rowPx])

  const begin = Math.min(shown.first, Math.max(0, rows.length - step))
  const inside = rows.slice(begin, shown.last)
  return (
    <tbody ref={body} style={{ '--row': `${rowPx}px` } as CSSProperties}>
      <Gap px={begin * rowPx} />
      {inside.map((entry, index) => row(entry, begin + index + 1))}
      <Gap px={(rows.length - begin - inside.length) * rowPx} />
    </tbody>
  )
}

const Gap = memo(function Gap({ px }: { px: number }) {
  return px > 0 ? (
    // The browser's scroll anchoring must choose a row and never this gap, which shrinks as rows
    // are added.
    <tr aria-hidden className="[overflow-anchor:none]">
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label */}
      <td className="p-0" style={{ height: px }} />
    </tr>
  ) : null
})
