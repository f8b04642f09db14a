import { CircleAlert, RotateCw, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
import { cx } from './cx.ts'

/** A grey block of the final size, shown while data is loading. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden className={cx('skeleton block', className)} />
}

/** Lines of a list or table that is still loading. */
export function SkeletonRows({ rows = 4, className }: { rows?: number; className?: string }) {
  return (
    <div aria-hidden className={cx('skeletons grid gap-4', className)}>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="flex items-center gap-3">
          <Skeleton className="size-7 shrink-0 rounded-full" />
          <Skeleton className="h-4 flex-1" />
          <Skeleton className="h-4 w-24" />
        </div>
      ))}
    </div>
  )
}

interface LoadErrorProps {
  text: string
  retryLabel: string
  onRetry: () => void
  /** The server's id of this failure, to quote to support. */
  reference?: string | undefined
  className?: string
}

/** A failed load, shown inside its card; the rest of the page keeps working. */
export function LoadError({ text, retryLabel, onRetry, reference, className }: LoadErrorProps) {
  return (
    <div
      role="alert"
      className={cx('flex flex-col items-center gap-3 px-5 py-8 text-center', className)}
    >
      <CircleAlert aria-hidden className="size-6 text-danger" strokeWidth={1.75} />
      <p className="max-w-sm text-sm text-ink-2">{text}</p>
      {reference ? <p className="font-mono text-2xs text-ink-3">{reference}</p> : null}
      <Button variant="outline" size="sm" onClick={onRetry}>
        <RotateCw aria-hidden className="size-3.5" />
        {retryLabel}
      </Button>
    </div>
  )
}

interface EmptyProps {
  text: string
  /** An icon in a circle for what is missing; or `art`, a drawing. */
  icon?: LucideIcon
  art?: ReactNode
  children?: ReactNode
  className?: string
}

export function Empty({ text, icon: Icon, art, children, className }: EmptyProps) {
  return (
    <div className={cx('flex flex-col items-center gap-4 px-5 py-10 text-center', className)}>
      {Icon ? (
        <span
          aria-hidden
          className="grid size-14 place-items-center rounded-full bg-primary-soft text-primary-ink"
        >
          <Icon className="size-7" strokeWidth={1.6} />
        </span>
      ) : null}
      {art}
      <p className="text-sm text-ink-2">{text}</p>
      {children}
    </div>
  )
}

const notes = {
  danger: 'bg-danger-soft text-danger',
  warning: 'bg-warning-soft text-warning',
  info: 'bg-info-soft text-info',
  success: 'bg-success-soft text-success',
} as const

/** A message inside a form or page. */
export function Note({
  tone,
  children,
  className,
  role,
}: {
  tone: keyof typeof notes
  children: ReactNode
  className?: string
  role?: 'alert' | 'status'
}) {
  return (
    <div role={role} className={cx('rounded-lg px-4 py-3 text-sm', notes[tone], className)}>
      {children}
    </div>
  )
}
