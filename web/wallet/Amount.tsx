import { ArrowDownLeft, ArrowUpRight } from 'lucide-react'
import type { Currency } from '../../contract/money.ts'
import { useFormat } from '../format.ts'
import { cx } from '../ui/cx.ts'

/** Green plus or red minus: sign and colour say the same. */
export function Amount({ amount, currency, className }: { amount: number; currency: Currency; className?: string }) {
  const { signed } = useFormat()
  return (
    <span className={cx('num whitespace-nowrap', amount < 0 ? 'text-danger' : 'text-success', className)}>{signed(amount, currency)}</span>
  )
}

/** The arrow beside a movement: in or out. */
export function DirectionMark({ amount }: { amount: number }) {
  const received = amount > 0
  return (
    <span
      aria-hidden
      className={cx(
        'grid size-7 shrink-0 place-items-center rounded-full',
        received ? 'bg-success-soft text-success' : 'bg-subtle text-ink-2',
      )}
    >
      {received ? <ArrowDownLeft className="size-4" /> : <ArrowUpRight className="size-4" />}
    </span>
  )
}
