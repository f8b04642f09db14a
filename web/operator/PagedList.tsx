import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Card } from '../ui/Card.tsx'
import { LoadMore, type PagedRead } from '../ui/LoadMore.tsx'
import { Empty, LoadError, SkeletonRows } from '../ui/State.tsx'
import { useDeskTexts } from './language.ts'

interface Pages<R> extends PagedRead {
  readonly data: { readonly pages: readonly { readonly result: readonly R[] }[] } | undefined
  readonly error: Error | null
  refetch(): unknown
}

/**
 * A card around a list that is read page by page: loading, failed, empty, loaded, and a button for
 * more.
 */
export function PagedList<R>({
  list,
  empty,
  icon,
  children,
}: {
  list: Pages<R>
  empty: string
  icon: LucideIcon
  children: (row: R) => ReactNode
}) {
  const t = useDeskTexts()
  const { data, error } = list
  const rows = data?.pages.flatMap(({ result }) => result)
  return (
    <Card padded={false}>
      {error && !data ? (
        <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void list.refetch()} />
      ) : null}
      {(data ?? error) ? null : <SkeletonRows className="p-5" />}
      {rows?.length === 0 && !list.hasNextPage ? <Empty text={empty} icon={icon} /> : null}
      <ul>{rows?.map((row) => children(row))}</ul>
      <LoadMore
        list={list}
        label={t.more}
        failedText={error?.message ?? ''}
        retryLabel={t.retry}
        className="border-t border-border p-4 first:border-0"
      />
    </Card>
  )
}

/** Classes of a row in such a list. */
export const rowClass =
  'flex flex-wrap items-center gap-x-4 gap-y-2 border-t border-border px-5 py-3 first:border-0'
