import { Link } from '@tanstack/react-router'
import { memo, useCallback, useEffect, useRef } from 'react'
import type { Transaction } from '../../contract/wallet.ts'
import { formatTime, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { cx } from '../ui/cx.ts'
import { useNarrow } from '../ui/narrow.ts'
import { headCell, headRow, row as rowClass } from '../ui/table.ts'
import { VirtualRows } from '../ui/VirtualRows.tsx'
import { Amount, DirectionMark } from './Amount.tsx'
import { TransactionNote } from './Note.tsx'
import type { ListFilter } from './queries.ts'

/** One height for every row, so that the place of the hundred-thousandth is known without drawing the others. */
const rowPx = { wide: 57, narrow: 88 }

/** Without height of its own: the row has it. */
const cell = 'px-3 py-0 first:pl-5 last:pr-5'

/** Loading begins this far before the end is reached. */
const aheadPx = 2500

interface TableProps {
  rows: readonly Transaction[]
  filter: ListFilter
  canLoad: boolean
  onNearEnd: () => void
}

export function TransactionTable({ rows, filter, canLoad, onNearEnd }: TableProps) {
  const t = useTexts('wallet')
  const isNarrow = useNarrow()
  const end = useRef<HTMLDivElement>(null)
  // Seen anew after each page, because the end of a page that was short is in view still.
  useEffect(() => {
    if (!end.current || !canLoad) return
    const observer = new IntersectionObserver((seen) => seen.at(-1)?.isIntersecting === true && onNearEnd(), {
      rootMargin: `0px 0px ${aheadPx}px 0px`,
    })
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [canLoad, onNearEnd, rows.length])
  const draw = useCallback(
    (entry: Transaction, number: number) => <Row key={entry.id} entry={entry} number={number} filter={filter} />,
    [filter],
  )

  return (
    <>
      <table className="w-full table-fixed text-sm" aria-rowcount={canLoad ? -1 : rows.length + 1}>
        <caption className="sr-only">{t.wallet.title}</caption>
        <colgroup>
          <col className="w-20 max-sm:hidden" />
          <col />
          <col className="w-44 max-sm:w-34" />
          <col className="w-46 max-sm:hidden" />
        </colgroup>
        <thead className="max-sm:sr-only">
          <tr className={cx(headRow, 'border-t-0')} aria-rowindex={1}>
            <th scope="col" className={headCell}>
              {t.wallet.number}
            </th>
            <th scope="col" className={headCell}>
              {t.entries.note}
            </th>
            <th scope="col" className={cx(headCell, 'text-right')}>
              {t.entries.amount}
            </th>
            <th scope="col" className={headCell}>
              {t.entries.created}
            </th>
          </tr>
        </thead>
        <VirtualRows rows={rows} rowPx={isNarrow ? rowPx.narrow : rowPx.wide} row={draw} />
      </table>
      <div ref={end} />
    </>
  )
}

const Row = memo(function Row({ entry, number, filter }: { entry: Transaction; number: number; filter: ListFilter }) {
  const t = useTexts('wallet')
  const { money } = useFormat()
  const time = formatTime(entry.created * 1000)
  return (
    <tr className={cx(rowClass, 'relative h-[57px] max-sm:h-[88px]')} aria-rowindex={number + 1}>
      <td className={cx(cell, 'num text-ink-3 max-sm:hidden')}>{number}</td>
      <td className={cx(cell, 'min-w-0')}>
        <div className="flex items-center gap-3">
          <DirectionMark amount={entry.amount} />
          <span className="min-w-0">
            <Link
              to="/transactions"
              search={{ ...filter, entry: entry.id }}
              resetScroll={false}
              preload={false}
              className="line-clamp-3 sm:line-clamp-2 after:absolute after:inset-0 after:content-[''] focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-primary-ink"
            >
              <TransactionNote description={entry.description} />
            </Link>
            <span className="num block text-xs text-ink-3 sm:hidden">{time}</span>
          </span>
        </div>
      </td>
      <td className={cx(cell, 'text-right font-medium')}>
        <Amount amount={entry.amount} currency={entry.currency} />
        <span className="num block text-xs font-normal text-ink-3">
          <span className="sr-only">{t.wallet.ending}: </span>
          {money(entry.ending_balance, entry.currency)}
        </span>
      </td>
      <td className={cx(cell, 'num whitespace-nowrap text-ink-2 max-sm:hidden')}>
        <time dateTime={new Date(entry.created * 1000).toISOString()}>{time}</time>
      </td>
    </tr>
  )
})
