import { useQuery } from '@tanstack/react-query'
import { Lock, ShieldCheck } from 'lucide-react'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { lineQuery } from '../invoices/lent-for.ts'
import { may } from '../may.ts'
import { useMe } from '../queries.ts'
import { Button } from '../ui/Button.tsx'

interface TopUpSummaryProps {
  /** Minor units. */
  amount: number
  payLabel: string
  busy: boolean
  disabled: boolean
  /** A note for the customer, or the progress. */
  note: string
}

/**
 * The balance after the payment, and the pay button: beside the form, or at the foot of a phone's
 * screen.
 */
export function TopUpSummary({ amount, payLabel, busy, disabled, note }: TopUpSummaryProps) {
  const t = useTexts('topUp')
  const user = useMe()
  const { money } = useFormat()
  const { currency } = user
  const { data } = useQuery({ ...lineQuery, enabled: may('money:read') })
  // The next top-up first repays money lent on the credit line.
  const owed = Math.min(amount, data?.creditLine?.owed ?? 0)
  const next = money(user.balance + amount - owed, currency)
  return (
    <>
      <aside aria-label={t.topUp.summary} className="card sticky top-20 p-5 max-lg:hidden">
        <h2 className="text-base font-semibold">{t.topUp.summary}</h2>
        <dl className="num mt-4 grid gap-2.5 text-sm">
          <div className="flex justify-between">
            <dt className="text-ink-2">{t.topUp.current}</dt>
            <dd>{money(user.balance, currency)}</dd>
          </div>
          <div className="flex justify-between">
            <dt className="text-ink-2">{t.topUp.added}</dt>
            <dd className={amount > 0 ? 'font-medium text-success' : 'text-ink-3'}>
              {amount > 0 ? '+' : ''}
              {money(amount, currency)}
            </dd>
          </div>
          <div className="flex justify-between">
            <dt className="text-ink-2">{t.topUp.fee}</dt>
            <dd>{money(0, currency)}</dd>
          </div>
          {owed > 0 ? (
            <div className="flex justify-between">
              <dt className="text-ink-2">{t.topUp.owed}</dt>
              <dd>{money(-owed, currency)}</dd>
            </div>
          ) : null}
          <div className="mt-1 flex items-baseline justify-between border-t border-border pt-3.5">
            <dt className="font-medium">{t.topUp.next}</dt>
            <dd className="text-xl font-semibold tracking-[-.015em]">{next}</dd>
          </div>
        </dl>
        <Button
          type="submit"
          form="top-up"
          size="lg"
          busy={busy}
          disabled={disabled}
          className="num mt-5 w-full"
        >
          <Lock aria-hidden className="size-4 shrink-0" />
          {payLabel}
        </Button>
        {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role */}
        <p role="status" className="mt-4 flex gap-2 text-xs text-ink-3">
          <ShieldCheck aria-hidden className="size-4 shrink-0 text-success" />
          {note}
        </p>
      </aside>
      <div
        className={
          'no-print fixed inset-x-0 bottom-0 z-20 short:static border-t border-border ' +
          'bg-surface p-3 pb-[max(.75rem,env(safe-area-inset-bottom))] lg:hidden'
        }
      >
        {owed > 0 ? (
          <p className="num mx-auto mb-2 flex max-w-xl justify-between gap-3 text-xs text-ink-3">
            {t.topUp.owed}
            <span>{money(-owed, currency)}</span>
          </p>
        ) : null}
        <div className="mx-auto flex max-w-xl items-center gap-3">
          <p className="text-xs whitespace-nowrap text-ink-3">
            {t.topUp.next}
            <span className="num block text-base font-semibold text-ink">{next}</span>
          </p>
          <Button
            type="submit"
            form="top-up"
            size="lg"
            busy={busy}
            disabled={disabled}
            className="num min-w-0 flex-1 px-2"
          >
            <span className="truncate">{payLabel}</span>
          </Button>
        </div>
      </div>
    </>
  )
}
