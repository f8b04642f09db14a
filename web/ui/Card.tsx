import { useId, type ReactNode } from 'react'
import { cx } from './cx.ts'

interface CardProps {
  title?: ReactNode
  sub?: ReactNode
  action?: ReactNode
  children: ReactNode
  className?: string
  /** False where a table reaches the card's edges. */
  padded?: boolean
}

export function Card({ title, sub, action, children, className, padded = true }: CardProps) {
  const titleId = useId()
  return (
    <section
      aria-labelledby={title ? titleId : undefined}
      className={cx('card flex min-w-0 flex-col', className)}
    >
      {title ? (
        <header className="flex items-start justify-between gap-3 px-5 pt-4 pb-3">
          <div className="min-w-0">
            <h2 id={titleId} className="text-base font-semibold">
              {title}
            </h2>
            {sub ? <p className="mt-0.5 text-xs text-ink-3">{sub}</p> : null}
          </div>
          {action}
        </header>
      ) : null}
      <div
        className={cx('min-h-0 min-w-0 flex-1', padded && 'px-5 pb-5', padded && !title && 'pt-5')}
      >
        {children}
      </div>
    </section>
  )
}
