import type { UseQueryResult } from '@tanstack/react-query'
import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { LoadError } from '../ui/State.tsx'

/** The link at a card's upper right. */
export function More({ link }: { link: ReactNode }) {
  return (
    <span
      className={
        '-mr-1.5 inline-flex shrink-0 items-center rounded-md text-sm font-medium ' +
        'text-primary-ink hover:bg-primary-soft [&>a]:rounded-md [&>a]:py-0.5 [&>a]:pl-1.5'
      }
    >
      {link}
      <ChevronRight aria-hidden className="pointer-events-none mr-1 size-4" />
    </span>
  )
}

interface LoadedProps<D> {
  query: UseQueryResult<D>
  skeleton: ReactNode
  children: (data: D) => ReactNode
}

/**
 * A card's content: a skeleton while it loads, an error with a retry if it fails, and the content
 * otherwise.
 */
export function Loaded<D>({ query, skeleton, children }: LoadedProps<D>) {
  const t = useTexts('dashboard')
  if (query.data !== undefined) return children(query.data)
  if (query.isError)
    return (
      <LoadError
        text={messageOf(query.error)}
        retryLabel={t.common.retry}
        onRetry={() => void query.refetch()}
      />
    )
  return skeleton
}
