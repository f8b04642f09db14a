import { memo, useEffect, useRef, useState, type ReactNode } from 'react'

/** Drawn before and after what is seen, so that scrolling never shows a gap. */
const marginPx = 900
/** Rows come and go so many at a time, so that most scroll events change nothing. */
const step = 10

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
  const [{ first, last }, setShown] = useState({ first: 0, last: step * 4 })

  useEffect(() => {
    let frame = 0
    const look = () => {
      frame = 0
      if (!body.current) return
      const above = -body.current.getBoundingClientRect().top
      const from = Math.max(0, Math.floor((above - marginPx) / rowPx / step) * step)
      const to = Math.max(step, Math.ceil((above + window.innerHeight + marginPx) / rowPx / step) * step)
      setShown((now) => (now.first === from && now.last === to ? now : { first: from, last: to }))
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
