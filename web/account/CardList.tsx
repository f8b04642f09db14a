import type { ReactNode } from 'react'
import { messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Empty, LoadError, SkeletonRows } from '../ui/State.tsx'

interface CardListProps<T> {
  /** Undefined while the list loads, or after loading failed. */
  items: readonly T[] | undefined
  error: Error | null
  onRetry: () => unknown
  /** The text for an empty list; without it, nothing is shown. */
  empty?: string | undefined
  /** Below that: what ends it. */
  first?: ReactNode
  /** An `li` with its key. */
  row: (item: T) => ReactNode
  /** Lines of the skeleton while the list loads. */
  rows?: number
}

/** The list of a card: loading, failed, empty, or there. */
export function CardList<T>({
  items,
  error,
  onRetry,
  empty,
  first,
  row,
  rows = 2,
}: CardListProps<T>) {
  const t = useTexts()
  if (items)
    return items.length > 0 ? (
      <ul className="divide-y divide-border border-t border-border">{items.map(row)}</ul>
    ) : (
      empty && <Empty text={empty}>{first}</Empty>
    )
  return error ? (
    <LoadError text={messageOf(error)} retryLabel={t.common.retry} onRetry={() => void onRetry()} />
  ) : (
    <div aria-busy="true" className="px-5 pb-5">
      <SkeletonRows rows={rows} />
    </div>
  )
}
