import type { ReactNode } from 'react'
import { cx } from './cx.ts'

const tones = {
  success: 'bg-success-soft text-success',
  danger: 'bg-danger-soft text-danger',
  warning: 'bg-warning-soft text-warning',
  info: 'bg-info-soft text-info',
  primary: 'bg-primary-soft text-primary-ink',
  neutral: 'bg-subtle text-ink-2',
} as const
export type Tone = keyof typeof tones

interface BadgeProps {
  tone?: Tone
  /** A dot beside the word, so that the colour is not the only sign of the state. */
  dot?: boolean
  /** The dot pulses while something is under way. */
  live?: boolean
  children: ReactNode
  className?: string
}

export function Badge({
  tone = 'neutral',
  dot = false,
  live = false,
  children,
  className,
}: BadgeProps) {
  return (
    <span
      className={cx(
        'inline-flex h-6 items-center gap-1.5 rounded-full px-2 text-xs font-medium ' +
          'whitespace-nowrap',
        tones[tone],
        className,
      )}
    >
      {dot ? (
        <span aria-hidden className={cx('size-1.5 rounded-full bg-current', live && 'pulse-dot')} />
      ) : null}
      {children}
    </span>
  )
}
