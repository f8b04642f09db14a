import type { ReactNode } from 'react'
import { useLater } from './Later.tsx'
import { LoadMore, type PagedRead } from './LoadMore.tsx'
import { LoadError, SkeletonRows } from './State.tsx'

interface PagedCardProps {
  label: string
  list: PagedRead & {
    readonly isPending: boolean
    readonly isError: boolean
    readonly data: unknown
    /** The rows are those of the search before, until the new ones are there. */
    readonly isPlaceholderData?: boolean
    refetch(): unknown
  }
  /** Number of items loaded so far. */
  count: number
  /** Lines of the skeleton. */
  rows: number
  errorText: string
  retryLabel: string
  moreLabel: string
  /** The search field above the rows. */
  search?: ReactNode
  /** Shown instead of an empty list. */
  empty: ReactNode
  children: ReactNode
}

/**
 * The card around a list: loading, failed, empty, loaded, and more. It comes in the second
 * rendering, so that a press of the menu shows the page's head at once.
 */
export function PagedCard({
  label,
  list,
  count,
  rows,
  errorText,
  retryLabel,
  moreLabel,
  search,
  empty,
  children,
}: PagedCardProps) {
  if (!useLater()) return <div aria-hidden data-later className="card h-72" />
  return (
    <section
      aria-label={label}
      aria-busy={list.isPlaceholderData}
      className="card overflow-hidden aria-busy:[&>:not(search)]:opacity-60"
    >
      {search}
      {list.isPending ? <SkeletonRows rows={rows} className="p-5" /> : null}
      {list.isError && !list.data ? (
        <LoadError text={errorText} retryLabel={retryLabel} onRetry={() => void list.refetch()} />
      ) : null}
      {list.data && count === 0 ? empty : null}
      {count > 0 ? children : null}
      <LoadMore
        list={list}
        label={moreLabel}
        failedText={errorText}
        retryLabel={retryLabel}
        className="border-t border-border p-4"
      />
    </section>
  )
}
