import { memo, useEffect, useRef, useState, type CSSProperties, type ReactNode } from 'react'

/**
 * Rows rendered before and after the visible ones, so that scrolling never shows a gap; they are
 * rendered after the visible rows.
 */
const marginPx = 600
/** Rows come and go so many at a time, so that most scroll events change nothing. */
const step = 5
/**
 * A user who scrolls far scrolls on: the margin of a place that is left at once would be rendered
 * in vain.
 */
const restMs = 100

interface Span {
  readonly first: number
  readonly last: number
}

/**
 * The rows in view of a table whose body begins `above` pixels over the window's top, and those
 * within `margin` pixels around, in whole `unit`s.
 */
const span = (above: number, margin: number, rowPx: number, unit: number): Span => ({
  first: Math.max(0, Math.floor((above - margin) / rowPx / unit) * unit),
  last: Math.max(unit, Math.ceil((above + window.innerHeight + margin) / rowPx / unit) * unit),
})

const isElsewhere = (now: Span, seen: Span): boolean =>
  now.last < seen.first || now.first > seen.last

/**
 * The rows to draw after `now`: all that are seen, one step further into the margin on either side,
 * and none beyond it.
 */
function next(now: Span, seen: Span, wide: Span): Span {
  if (isElsewhere(now, seen)) return seen
  const first = Math.min(seen.first, Math.max(wide.first, now.first - step))
  const last = Math.max(seen.last, Math.min(wide.last, now.last + step))
  return first === now.first && last === now.last ? now : { first, last }
}

/** What is asked of a list, so that it need not be an array. */
export interface Rows<T> {
  readonly length: number
  slice(begin: number, end: number): T[]
}

interface VirtualRowsProps<T> {
  rows: Rows<T>
  /** Height of each row in the browser's own text size, `rem`: all are of one height. */
  rowRem: number
  /** Draws one row with its number from 1, as high as `--row` says. Depends on nothing else. */
  row: (entry: T, number: number) => ReactNode
}

/**
 * A long table's body: however many rows are loaded, only those near the view are in the document.
 * The page scrolls, and the rows with it.
 */
export function VirtualRows<T>({ rows, rowRem, row }: VirtualRowsProps<T>) {
  const [remPx] = useState(() =>
    Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
  )
  // Whole pixels: what a browser rounds by itself would put the last of many rows elsewhere.
  const rowPx = Math.round(rowRem * remPx)
  const body = useRef<HTMLTableSectionElement>(null)
  // A screenful: the margin comes with the first look.
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
      // The margin comes step by step, a frame for each: none of them is long.
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
    // The browser keeps what is in view in its place when something comes above it: a row, never a
    // gap, which shrinks as rows come.
    <tr aria-hidden className="[overflow-anchor:none]">
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label */}
      <td className="p-0" style={{ height: px }} />
    </tr>
  ) : null
})
