import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef } from 'react'
import { messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { LoadMore } from '../ui/LoadMore.tsx'
import { Empty, LoadError, SkeletonRows } from '../ui/State.tsx'
import { Filters } from './Filters.tsx'
import { EmptyWallet } from './EmptyWallet.tsx'
import { PagedRows } from './paged-rows.ts'
import {
  filterOf,
  newestTransactionQuery,
  transactionListQuery,
  type ListFilter,
} from './queries.ts'
import { TransactionTable } from './TransactionTable.tsx'

/** Loaded on demand, because few users open it. */
const EntryDialog = lazy(() => loadWanted(() => import('./EntryDialog.tsx')))

const route = getRouteApi('/app/transactions')
/** This many pages are reloaded when a new entry has arrived; a longer list only shows a notice. */
const refreshedPages = 3

interface ListProps {
  /** Called when the list turns out to be empty or not. */
  onEmpty: (isEmpty: boolean) => void
}

/** The list below its filters, page by page, and the entry that the address names. */
export function TransactionList({ onEmpty }: ListProps) {
  const t = useTexts('wallet')
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { direction, search, from, to, entry } = route.useSearch()
  const filter = useMemo(
    () => filterOf({ direction, search, from, to }),
    [direction, search, from, to],
  )
  const filtered = Object.values(filter).some((value) => value !== undefined)
  const list = transactionListQuery(filter)
  const {
    data,
    isPending,
    isError,
    isFetchNextPageError,
    error,
    refetch,
    hasNextPage,
    fetchNextPage,
    isFetchingNextPage,
    isPlaceholderData,
  } = useInfiniteQuery({ ...list, placeholderData: keepPreviousData })
  const rows = useMemo(() => new PagedRows(data?.pages.map((page) => page.result) ?? []), [data])
  const isEmpty = data !== undefined && rows.length === 0
  useEffect(() => onEmpty(isEmpty), [isEmpty, onEmpty])

  // Shown entries never change. New ones are noticed by reading only the newest entry, however long
  // the list is.
  const newest = useQuery({
    ...newestTransactionQuery(filter),
    enabled: data !== undefined && !isPlaceholderData,
  })
  const isKnown = (wanted: string) =>
    data?.pages.some((page) => page.result.some(({ id }) => id === wanted))
  const grown =
    !isPlaceholderData && typeof newest.data === 'string' && isKnown(newest.data) === false
  const short = (data?.pages.length ?? 0) <= refreshedPages
  useEffect(() => {
    if (grown && short) void refetch()
  }, [grown, short, refetch])

  const more = useCallback(() => void fetchNextPage(), [fetchNextPage])
  const canLoad = hasNextPage && !isFetchingNextPage && !isFetchNextPageError && !isPlaceholderData
  // A search may find nothing in one batch of the wallet and continue in the next.
  const looking = rows.length === 0 && hasNextPage
  useEffect(() => {
    if (looking && canLoad) more()
  }, [looking, canLoad, more])

  // Starts from the present address, because a second change may come before the first one is
  // rendered.
  const show = useCallback(
    (change: ListFilter) =>
      void navigate({
        to: '/transactions',
        search: (now: ListFilter) => ({ ...now, entry: undefined, ...change }),
        replace: true,
      }),
    [navigate],
  )

  return (
    <>
      <section className="card overflow-hidden" aria-label={t.wallet.title}>
        {rows.length > 0 || filtered || isPending ? (
          <Filters filter={filter} onChange={show} />
        ) : null}
        {grown && !short ? (
          <div className="flex justify-center border-b border-border p-3">
            <Button
              variant="soft"
              size="sm"
              onClick={() => {
                window.scrollTo(0, 0)
                void queryClient.resetQueries({ queryKey: list.queryKey })
              }}
            >
              {t.wallet.newer}
            </Button>
          </div>
        ) : null}
        <div
          aria-busy={isPlaceholderData || undefined}
          className={isPlaceholderData ? 'opacity-60 transition-opacity' : undefined}
        >
          {isPending || (looking && !isFetchNextPageError) ? (
            <SkeletonRows rows={8} className="p-5" />
          ) : null}
          {looking ? (
            <output className="block px-5 pb-5 text-center text-sm text-ink-2">
              {t.wallet.looking}
            </output>
          ) : null}
          {isError && !data ? (
            <LoadError
              text={messageOf(error)}
              retryLabel={t.common.retry}
              onRetry={() => void refetch()}
            />
          ) : null}
          {data && rows.length === 0 && !looking ? <Nothing filtered={filtered} /> : null}
          {rows.length > 0 ? (
            <TransactionTable rows={rows} filter={filter} hasMore={hasNextPage} />
          ) : null}
          {rows.length > 0 && canLoad ? <EndSentinel key={rows.length} onVisible={more} /> : null}
          {isFetchNextPageError ? (
            <LoadMore
              list={{ hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage }}
              label={t.common.retry}
              failedText={t.wallet.loadMoreFailed}
              retryLabel={t.common.retry}
              className="border-t border-border p-5"
            />
          ) : null}
          {hasNextPage && !isFetchNextPageError && rows.length > 0 ? (
            <SkeletonRows rows={3} className="border-t border-border p-5" />
          ) : null}
        </div>
      </section>
      <output className="sr-only">{data ? t.wallet.rows(rows.length) : ''}</output>
      <Suspense fallback={null}>
        {entry === undefined ? null : (
          <EntryDialog
            id={entry}
            onClose={() =>
              void navigate({
                to: '/transactions',
                search: filter,
                replace: true,
                resetScroll: false,
              })
            }
          />
        )}
      </Suspense>
    </>
  )
}

/** Loading begins this many pixels before the end. */
const aheadPx = 2500

/**
 * The end of the loaded list. It is observed again after each page, because after a short page it
 * is still in view.
 */
function EndSentinel({ onVisible }: { onVisible: () => void }) {
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!end.current) return
    const observer = new IntersectionObserver(
      (seen) => seen.at(-1)?.isIntersecting === true && onVisible(),
      {
        rootMargin: `0px 0px ${aheadPx}px 0px`,
      },
    )
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [onVisible])
  return <div ref={end} />
}

function Nothing({ filtered }: { filtered: boolean }) {
  const t = useTexts('wallet')
  return (
    <Empty text={filtered ? t.wallet.emptyFiltered : t.entries.empty} art={<EmptyWallet />}>
      {filtered ? (
        <Link to="/transactions" className={buttonClass('outline')}>
          {t.wallet.showAll}
        </Link>
      ) : (
        <Link to="/payment" className={buttonClass()}>
          {t.nav.topUp}
        </Link>
      )}
    </Empty>
  )
}
