import type { ReactNode } from 'react'

interface PageHeadProps {
  title: string
  /** Shown instead of the title, for a heading that is more than text. */
  heading?: ReactNode
  sub?: ReactNode
  children?: ReactNode
}

/** The h1 gets the focus after navigation, so that a screen reader and the keyboard begin there. */
export function PageHead({ title, heading, sub, children }: PageHeadProps) {
  return (
    <div className="mb-6 flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
      <div className="min-w-0">
        <h1 tabIndex={-1} className="text-2xl font-semibold tracking-[-.02em]">
          {heading ?? title}
        </h1>
        {sub ? <div className="mt-1 text-sm text-ink-2">{sub}</div> : null}
      </div>
      {children ? <div className="flex flex-wrap items-center gap-2">{children}</div> : null}
    </div>
  )
}
