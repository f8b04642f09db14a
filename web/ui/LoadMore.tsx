import { Button, type ButtonVariant } from './Button.tsx'
import { cx } from './cx.ts'

/** The part of a TanStack infinite query that this needs. */
export interface PagedRead {
  readonly hasNextPage: boolean
  readonly isFetchingNextPage: boolean
  readonly isFetchNextPageError: boolean
  fetchNextPage(): unknown
}

/**
 * The button for a list's next page; nothing where there is none. A failed page is reported beside
 * the same button, which retries.
 */
export function LoadMore({
  list: { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage },
  label,
  failedText,
  retryLabel,
  variant = 'outline',
  size,
  className,
}: {
  list: PagedRead
  label: string
  failedText: string
  retryLabel: string
  variant?: ButtonVariant
  size?: 'sm'
  className?: string
}) {
  if (!hasNextPage) return null
  return (
    <div className={cx('grid justify-items-center gap-2 text-center', className)}>
      {isFetchNextPageError ? (
        <p role="alert" className="text-sm text-danger">
          {failedText}
        </p>
      ) : null}
      <Button
        variant={variant}
        {...(size && { size })}
        busy={isFetchingNextPage}
        onClick={() => void fetchNextPage()}
      >
        {isFetchNextPageError ? retryLabel : label}
      </Button>
    </div>
  )
}
