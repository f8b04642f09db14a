import { useNavigate } from '@tanstack/react-router'
import { memo, useCallback, useMemo, type MouseEvent } from 'react'
import { formatMoney } from '../../contract/money.ts'
import type { Transaction } from '../../contract/wallet.ts'
import { formatTime, signedMoney } from '../format.ts'
import { useLanguage, useTexts, type Language } from '../i18n/index.ts'
import { cx } from '../ui/cx.ts'
import { useNarrow, useWide } from '../ui/narrow.ts'
import { headCell, headRow, row as rowClass } from '../ui/table.ts'
import { VirtualRows, type Rows } from '../ui/VirtualRows.tsx'
import { amountInk } from './Amount.tsx'
import { TransactionNote } from './Note.tsx'
import type { ListFilter } from './queries.ts'

/**
 * All rows have one height, so that the position of the hundred-thousandth is known without
 * rendering the others.
 */
const rowRem = { wide: 3.5625, narrow: 5.5 }

/** Without a height of its own, because the row has one. */
const cell = 'px-3 py-0 first:pl-5 last:pr-5'
const rowLook = cx(rowClass, 'relative h-(--row)')
const numberCell = cx(cell, 'num text-ink-3')
/**
 * The arrow is the cell's background image, which costs less than three elements in each row. On
 * the narrowest phones there is only the sign and the colour.
 */
const noteCell =
  'movement py-0 pr-3 pl-13 max-sm:pl-15 max-[22.5rem]:bg-none max-[22.5rem]:pr-0 ' +
  'max-[22.5rem]:pl-5'
const amountCell = cx(cell, 'num text-right font-medium whitespace-nowrap')
const timeCell = cx(cell, 'num whitespace-nowrap text-ink-2')
const balanceCell = cx(cell, 'num text-right whitespace-nowrap text-ink-2')

interface TableProps {
  rows: Rows<Transaction>
  filter: ListFilter
  /** Older entries exist that are not loaded. */
  hasMore: boolean
}

export const TransactionTable = memo(function TransactionTable({
  rows,
  filter,
  hasMore,
}: TableProps) {
  const t = useTexts('wallet')
  const language = useLanguage()
  const isNarrow = useNarrow()
  const isWide = useWide()
  const navigate = useNavigate()
  const open = useCallback(
    (event: MouseEvent<HTMLAnchorElement>) => {
      if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
        return
      event.preventDefault()
      void navigate({
        to: '/transactions',
        search: { ...filter, entry: event.currentTarget.dataset['entry'] },
        resetScroll: false,
      })
    },
    [navigate, filter],
  )
  const address = useMemo(() => addressOf(filter), [filter])
  const draw = useCallback(
    (entry: Transaction, number: number) => (
      <Row
        key={entry.id}
        entry={entry}
        number={number}
        address={`${address}${encodeURIComponent(entry.id)}`}
        onOpen={open}
        balanceText={t.wallet.balance}
        language={language}
        isNarrow={isNarrow}
        isWide={isWide}
      />
    ),
    [address, open, t, language, isNarrow, isWide],
  )

  return (
    <table className="w-full table-fixed text-sm" aria-rowcount={hasMore ? -1 : rows.length + 1}>
      <caption className="sr-only">{t.wallet.title}</caption>
      <colgroup>
        <col className="w-20 max-sm:hidden" />
        <col />
        <col className="w-44 max-sm:w-34" />
        <col className="w-46 max-sm:hidden" />
        {isWide ? <col className="w-40" /> : null}
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
          {isWide ? (
            <th scope="col" className={cx(headCell, 'text-right')}>
              {t.wallet.balance}
            </th>
          ) : null}
        </tr>
      </thead>
      <VirtualRows rows={rows} rowRem={isNarrow ? rowRem.narrow : rowRem.wide} row={draw} />
    </table>
  )
})

/** The address of an entry under a filter, without the entry's id. */
const addressOf = (filter: ListFilter): string => {
  const search = new URLSearchParams(
    Object.entries(filter).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )
  search.set('entry', '')
  return `/transactions?${search.toString()}`
}

interface RowProps {
  entry: Transaction
  number: number
  address: string
  onOpen: (event: MouseEvent<HTMLAnchorElement>) => void
  balanceText: string
  isNarrow: boolean
  /** The balance has a column; otherwise it is a line below the amount. */
  isWide: boolean
  language: Language
}

/**
 * A jump through a long list renders a screenful of these between two frames. So a row has few
 * elements, no hooks, and a plain link, because each of the router's links would watch the address.
 */
const Row = memo(function Row({
  entry,
  number,
  address,
  onOpen,
  balanceText,
  language,
  isNarrow,
  isWide,
}: RowProps) {
  const balance = formatMoney(entry.ending_balance, entry.currency, language)
  const time = formatTime(entry.created * 1000)
  return (
    <tr className={rowLook} aria-rowindex={number + 1}>
      {isNarrow ? null : <td className={numberCell}>{number}</td>}
      <td className={noteCell} data-out={entry.amount > 0 ? undefined : ''}>
        <a
          href={address}
          data-entry={entry.id}
          onClick={onOpen}
          className={
            'line-clamp-3 max-[20rem]:line-clamp-2 sm:line-clamp-2 after:absolute ' +
            "after:inset-0 after:content-[''] " +
            'focus-visible:outline-none focus-visible:after:outline-2 ' +
            'focus-visible:after:-outline-offset-2 focus-visible:after:outline-primary-ink'
          }
        >
          <TransactionNote description={entry.description} />
        </a>
        {isNarrow ? <span className="num block text-xs text-ink-3">{time}</span> : null}
      </td>
      <td className={cx(amountCell, amountInk(entry.amount))}>
        {signedMoney(entry.amount, entry.currency, language)}
        {isWide ? null : (
          <span className="block text-xs font-normal text-ink-3">
            {balanceText} <span className="max-sm:block">{balance}</span>
          </span>
        )}
      </td>
      {isNarrow ? null : (
        <td className={timeCell}>
          <time dateTime={new Date(entry.created * 1000).toISOString()}>{time}</time>
        </td>
      )}
      {isWide ? <td className={balanceCell}>{balance}</td> : null}
    </tr>
  )
})
