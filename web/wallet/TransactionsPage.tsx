import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import type { Transaction } from '../../contract/wallet.ts'
import { messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { formatTime, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import type { LoadInput } from '../routes.tsx'
import { RowBlocks } from '../ui/RowBlocks.tsx'
import { Button, buttonClass } from '../ui/Button.tsx'
import { cx } from '../ui/cx.ts'
import { PageHead } from '../ui/PageHead.tsx'
import { Segmented } from '../ui/Segmented.tsx'
import { Empty, LoadError, SkeletonRows } from '../ui/State.tsx'
import { cell, headCell, headRow, row } from '../ui/table.ts'
import { Amount, DirectionMark } from './Amount.tsx'
import { TransactionNote } from './Note.tsx'
import { EmptyWallet } from './Illustration.tsx'
import { transactionListQuery, type Direction } from './queries.ts'

const route = getRouteApi('/app/transactions')

const directionOf = (value: unknown): Direction | undefined => (value === 'in' || value === 'out' ? value : undefined)

export const load = ({ queryClient, search }: LoadInput) =>
  queryClient.prefetchInfiniteQuery(transactionListQuery(directionOf(search['direction'])))

export default function TransactionsPage() {
  const t = useTexts()
  const navigate = useNavigate()
  const { direction } = route.useSearch()
  const { data, isPending, isError, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    transactionListQuery(direction),
  )
  const pages = data?.pages.map((page) => page.result) ?? []
  const empty = pages.every((page) => page.length === 0)

  return (
    <>
      <title>{`${t.wallet.title} · ${brand}`}</title>
      <PageHead title={t.wallet.title} sub={t.wallet.sub}>
        <Segmented
          label={t.wallet.filter}
          value={direction ?? 'all'}
          options={[
            { value: 'all', label: t.wallet.all },
            { value: 'in', label: t.wallet.in },
            { value: 'out', label: t.wallet.out },
          ]}
          onChange={(value) => void navigate({ to: '/transactions', search: value === 'all' ? {} : { direction: value }, replace: true })}
        />
      </PageHead>
      <section className="card overflow-hidden" aria-label={t.wallet.title}>
        {isPending ? <SkeletonRows rows={8} className="p-5" /> : null}
        {isError && !data ? <LoadError text={messageOf(error)} retryLabel={t.common.retry} onRetry={() => void refetch()} /> : null}
        {data && empty ? (
          direction === undefined ? (
            <Empty text={t.wallet.empty} art={<EmptyWallet />}>
              <Link to="/payment" className={buttonClass()}>
                {t.nav.topUp}
              </Link>
            </Empty>
          ) : (
            <Empty text={t.wallet.emptyFiltered} art={<EmptyWallet />}>
              <Link to="/transactions" className={buttonClass('outline')}>
                {t.wallet.showAll}
              </Link>
            </Empty>
          )
        ) : null}
        {!empty ? (
          <>
            <Table pages={pages} />
            {hasNextPage ? (
              <div className="flex justify-center border-t border-border p-4">
                <Button variant="outline" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                  {t.common.loadMore}
                </Button>
              </div>
            ) : null}
          </>
        ) : null}
      </section>
    </>
  )
}

function Table({ pages }: { pages: Transaction[][] }) {
  const t = useTexts()
  return (
    <table className="w-full table-fixed text-sm">
      <caption className="sr-only">{t.wallet.title}</caption>
      <colgroup>
        <col className="w-18 max-sm:hidden" />
        <col />
        <col className="w-38 max-sm:w-36" />
        <col className="w-44 max-md:hidden" />
        <col className="w-46 max-sm:hidden" />
      </colgroup>
      <thead className="max-sm:sr-only">
        <tr className={cx(headRow, 'border-t-0')}>
          <th scope="col" className={headCell}>
            {t.wallet.number}
          </th>
          <th scope="col" className={headCell}>
            {t.wallet.note}
          </th>
          <th scope="col" className={cx(headCell, 'text-right')}>
            {t.wallet.amount}
          </th>
          <th scope="col" className={cx(headCell, 'text-right max-md:hidden')}>
            {t.wallet.ending}
          </th>
          <th scope="col" className={headCell}>
            {t.wallet.created}
          </th>
        </tr>
      </thead>
      <RowBlocks blocks={pages} row={(entry, number) => <Row key={entry.id} entry={entry} number={number} />} />
    </table>
  )
}

function Row({ entry, number }: { entry: Transaction; number: number }) {
  const { money } = useFormat()
  const time = formatTime(entry.created * 1000)
  return (
    <tr className={row}>
      <td className={cx(cell, 'num text-ink-3 max-sm:hidden')}>{number}</td>
      <td className={cx(cell, 'min-w-0')}>
        <div className="flex items-center gap-3">
          <DirectionMark amount={entry.amount} />
          <span className="min-w-0">
            <span className="line-clamp-3 sm:line-clamp-2">
              <TransactionNote description={entry.description} />
            </span>
            <span className="num block text-xs text-ink-3 sm:hidden">{time}</span>
          </span>
        </div>
      </td>
      <td className={cx(cell, 'text-right font-medium')}>
        <Amount amount={entry.amount} currency={entry.currency} />
        <span className="num block text-xs font-normal text-ink-3 md:hidden">{money(entry.ending_balance, entry.currency)}</span>
      </td>
      <td className={cx(cell, 'num text-right whitespace-nowrap text-ink-2 max-md:hidden')}>
        {money(entry.ending_balance, entry.currency)}
      </td>
      <td className={cx(cell, 'num whitespace-nowrap text-ink-2 max-sm:hidden')}>
        <time dateTime={new Date(entry.created * 1000).toISOString()}>{time}</time>
      </td>
    </tr>
  )
}
