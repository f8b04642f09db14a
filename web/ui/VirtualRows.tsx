import { memo, startTransition, useEffect, useRef, useState, type ReactNode } from 'react'

/** Drawn before and after what is seen, so that scrolling never shows a gap; by the by, after what is seen itself. */
const marginPx = 600
/** Rows come and go so many at a time, so that most scroll events change nothing. */
const step = 5

/** The rows of a stretch of the table that begins `above` pixels below its top, is as high as the window, and reaches `margin` pixels further both ways. */
const span = (above: number, margin: number, rowPx: number) => ({
  first: Math.max(0, Math.floor((above - margin) / rowPx / step) * step),
  last: Math.max(step, Math.ceil((above + window.innerHeight + margin) / rowPx / step) * step),
})

interface VirtualRowsProps<T> {
  rows: readonly T[]
  /** Height of each row: all are of one height. */
  rowPx: number
  /** Draws one row, of exactly that height, with its number from 1. Depends on nothing else. */
  row: (entry: T, number: number) => ReactNode
}

/** A long table's body: however many rows are loaded, only those near the view are in the document. The page scrolls, and the rows with it. */
export function VirtualRows<T>({ rows, rowPx, row }: VirtualRowsProps<T>) {
  const body = useRef<HTMLTableSectionElement>(null)
  // A screenful: the margin comes with the first look.
  const [{ first, last }, setShown] = useState(() => ({ first: 0, last: Math.ceil(window.innerHeight / rowPx / step) * step }))

  useEffect(() => {
    let frame = 0
    const look = () => {
      frame = 0
      if (!body.current) return
      const above = -body.current.getBoundingClientRect().top
      const seen = span(above, 0, rowPx)
      const wide = span(above, marginPx, rowPx)
      // What is seen is drawn at once, beside what of the rest is there already; the margin may take its time.
      setShown((now) => {
        if (now.first <= seen.first && now.last >= seen.last) return now
        const apart = now.last < seen.first || now.first > seen.last
        return apart
          ? seen
          : { first: Math.max(wide.first, Math.min(now.first, seen.first)), last: Math.min(wide.last, Math.max(now.last, seen.last)) }
      })
      startTransition(() => setShown((now) => (now.first === wide.first && now.last === wide.last ? now : wide)))
    }
    const soon = () => {
      frame ||= requestAnimationFrame(look)
    }
    look()
    window.addEventListener('scroll', soon, { passive: true })
    window.addEventListener('resize', soon)
    return () => {
      cancelAnimationFrame(frame)
      window.removeEventListener('scroll', soon)
      window.removeEventListener('resize', soon)
    }
  }, [rowPx])

  const begin = Math.min(first, Math.max(0, rows.length - step))
  const shown = rows.slice(begin, last)
  return (
    <tbody ref={body}>
      <Gap px={begin * rowPx} />
      {shown.map((entry, index) => row(entry, begin + index + 1))}
      <Gap px={(rows.length - begin - shown.length) * rowPx} />
    </tbody>
  )
}

const Gap = memo(function Gap({ px }: { px: number }) {
  return px > 0 ? (
    <tr aria-hidden>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label */}
      <td className="p-0" style={{ height: px }} />
    </tr>
  ) : null
})
