import type { Currency } from '../../contract/money.ts'
import { useFormat } from '../format.ts'
import { cx } from '../ui/cx.ts'

/** Green for incoming money, red for outgoing; the sign shows the same. */
export const amountInk = (amount: number): string => (amount < 0 ? 'text-danger' : 'text-success')

export function Amount({
  amount,
  currency,
  className,
}: {
  amount: number
  currency: Currency
  className?: string
}) {
  const { signed } = useFormat()
  return (
    <span className={cx('num whitespace-nowrap', amountInk(amount), className)}>
      {signed(amount, currency)}
    </span>
  )
}

/** The arrow beside an entry: in or out. Lists contain many, so it is as small as possible. */
export function DirectionMark({ amount }: { amount: number }) {
  const received = amount > 0
  return (
    <svg
      aria-hidden
      viewBox="-9 -9 42 42"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
      className={
        received
          ? 'size-7 shrink-0 rounded-full bg-success-soft text-success'
          : 'size-7 shrink-0 rounded-full bg-subtle text-ink-2'
      }
    >
      <path d={received ? 'M17 7 7 17M17 17H7V7' : 'M7 7h10v10M7 17 17 7'} />
    </svg>
  )
}
