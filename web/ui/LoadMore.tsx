import { Button, type ButtonVariant } from './Button.tsx'
import { cx } from './cx.ts'

/** A list that is read page by page, as TanStack Query has it. */
export interface PagedRead {
  readonly hasNextPage: boolean
  readonly isFetchingNextPage: boolean
  readonly isFetchNextPageError: boolean
  fetchNextPage(): unknown
}

/**
 * The way to the next page of a list; nothing where there is none. A page that could not be loaded
 * is said beside the same button, which keeps its place and tries again.
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
