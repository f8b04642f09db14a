import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Empty, LoadError, SkeletonRows } from '../ui/State.tsx'
import { useDeskTexts } from './language.ts'

interface Pages<R> {
  readonly data: { readonly pages: readonly { readonly result: readonly R[] }[] } | undefined
  readonly error: Error | null
  readonly hasNextPage: boolean
  readonly isFetchingNextPage: boolean
  refetch(): unknown
  fetchNextPage(): unknown
}

/** A card around a list that is read page by page: loading, failed, empty, there, and more. */
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
      {list.hasNextPage ? (
        <div className="border-t border-border p-4 text-center first:border-0">
          <Button
            variant="outline"
            busy={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            {t.more}
          </Button>
        </div>
      ) : null}
    </Card>
  )
}

/** A row of such a list. */
export const rowClass =
  'flex flex-wrap items-center gap-x-4 gap-y-2 border-t border-border px-5 py-3 first:border-0'
