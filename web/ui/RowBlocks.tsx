import { memo, useEffect, useRef, useState, type ReactNode } from 'react'

/** Blocks this far outside the view are drawn already, so that scrolling never shows a gap. */
const marginPx = 1500
const rowPx = 53
/** Drawn at once; all others when they come near. */
const first = 2

interface RowBlocksProps<T> {
  /** The rows as they were loaded, a page each. */
  blocks: readonly (readonly T[])[]
  /** Draws one row; `number` counts from 1 over all blocks. Depends on nothing else. */
  row: (entry: T, number: number) => ReactNode
}

/** A long table's body: however many rows are loaded, only those near the view are in the document. The table's layout is fixed. */
export function RowBlocks<T>({ blocks, row }: RowBlocksProps<T>) {
  let before = 0
  return blocks.map((rows, index) => {
    const start = before
    before += rows.length
    return <Block key={start} rows={rows} start={start} row={row as RowBlocksProps<unknown>['row']} shown={index < first} />
  })
}

interface BlockProps {
  rows: readonly unknown[]
  start: number
  row: RowBlocksProps<unknown>['row']
  shown: boolean
}

const Block = memo(
  function Block({ rows, start, row, shown }: BlockProps) {
    const body = useRef<HTMLTableSectionElement>(null)
    const [near, setNear] = useState(shown)
    const [height, setHeight] = useState(rows.length * rowPx)
    useEffect(() => {
      const element = body.current
      if (!element) return
      const observer = new IntersectionObserver(
        ([entry]) => {
          if (!entry) return
          if (!entry.isIntersecting && entry.boundingClientRect.height > 0) setHeight(entry.boundingClientRect.height)
          setNear(entry.isIntersecting)
        },
        { rootMargin: `${marginPx}px 0px` },
      )
      observer.observe(element)
      return () => observer.disconnect()
    }, [])
    return (
      <tbody ref={body}>
        {near ? (
          rows.map((entry, index) => row(entry, start + index + 1))
        ) : (
          <tr aria-hidden>
            {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label */}
            <td colSpan={99} style={{ height }} />
          </tr>
        )}
      </tbody>
    )
  },
  (before, after) => before.rows === after.rows && before.start === after.start,
)
