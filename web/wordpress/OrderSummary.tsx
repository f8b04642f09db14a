import { lazy, memo, Suspense } from 'react'
import type * as z from 'zod/mini'
import { effectivePlanPrice, type MonthlyLines } from '../../contract/pricing.ts'
import type { Plan, Region } from '../../contract/wordpress.ts'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { useMe } from '../queries.ts'
import { Button } from '../ui/Button.tsx'
import { Flag } from '../ui/Flag.tsx'
import { loadWithReview } from './load-review.ts'
import { diskMb, type OrderForm } from './order-form.ts'

/** Loaded after the form, with texts of its own: it asks for the older invoices. */
const WalletLine = lazy(() => loadWithReview(() => import('./WalletLine.tsx')))

interface SummaryProps {
  form: OrderForm
  region: z.output<typeof Region> | undefined
  plan: Plan | undefined
  price: MonthlyLines
  /** The first thing that is missing, as text. */
  missing: string | undefined
}

/** The price, line by line, and the order button. It stays in view while the form is filled in. */
export const OrderSummary = memo(function OrderSummary({
  form,
  region,
  plan,
  price,
  missing,
}: SummaryProps) {
  const t = useTexts('servers')
  const user = useMe()
  const { money, disk, ram } = useFormat()
  const amount = (value: number) => money(value, user.currency)
  const ssd = diskMb(form.disk)
  const mariadb = diskMb(form.mariadb)
  const mariadbPrice = price.mariadbDisk === 0 ? t.order.included : amount(price.mariadbDisk)

  return (
    <aside aria-label={t.order.summary} className="card sticky top-20 max-lg:hidden">
      <div className="p-5">
        <h2 className="text-base font-semibold">{t.order.summary}</h2>
        <p className="mt-1 flex min-h-5 items-center gap-2 text-sm text-ink-2">
          {region ? (
            <>
              <Flag country={region.country} />
              {region.name}
            </>
          ) : (
            <span className="text-ink-3">{t.order.noRegion}</span>
          )}
        </p>
        <dl className="mt-4 grid gap-3 text-sm">
          <Line
            term={plan ? t.order.planLine(plan.name) : t.order.plan}
            detail={plan ? `${t.server.cpu(plan.cpu)} · ${t.wp.ram(ram(plan.ram))}` : '—'}
            value={plan ? amount(price.plan) : '—'}
          />
          <Line
            term={t.order.ssd}
            detail={ssd > 0 ? t.server.gb(disk(ssd)) : '—'}
            value={ssd > 0 ? amount(price.disk) : '—'}
          />
          <Line
            term={t.order.mariadb}
            detail={mariadb > 0 ? t.server.gb(disk(mariadb)) : '—'}
            value={mariadb === 0 ? '—' : mariadbPrice}
            quiet={price.mariadbDisk === 0}
          />
          <Line
            term={t.order.containerLine}
            detail={
              plan
                ? t.order.containerCount(form.containers, amount(effectivePlanPrice(plan)))
                : String(form.containers)
            }
            value={plan ? amount(price.containers) : '—'}
          />
        </dl>
      </div>
      <div className="border-t border-border p-5">
        <div className="flex items-baseline justify-between gap-3">
          <span className="text-sm font-medium">{t.order.total}</span>
          <output
            form="order"
            className="num text-2xl font-semibold tracking-[-.02em] whitespace-nowrap"
          >
            {amount(price.total)}
            <span className="text-xs font-normal tracking-normal text-ink-3">
              {t.common.perMonth}
            </span>
          </output>
        </div>
        <Button
          type="submit"
          form="order"
          size="lg"
          className="mt-4 w-full"
          disabled={missing !== undefined}
        >
          {t.order.review}
        </Button>
        <p className="mt-2.5 text-center text-xs text-ink-3">{missing ?? t.order.onlyAfter}</p>
      </div>
      <Suspense fallback={<p className="h-10 rounded-b-xl bg-subtle" />}>
        <WalletLine total={price.total} />
      </Suspense>
    </aside>
  )
})

function Line({
  term,
  detail,
  value,
  quiet = false,
}: {
  term: string
  detail: string
  value: string
  quiet?: boolean
}) {
  return (
    <div className="flex items-start justify-between gap-3">
      <dt className="min-w-0 font-medium">
        {term}
        <span className="num block text-xs font-normal text-ink-3">{detail}</span>
      </dt>
      <dd className={quiet ? 'num shrink-0 text-ink-3' : 'num shrink-0'}>{value}</dd>
    </div>
  )
}

/** The same total and button at the bottom edge of a phone. */
export const OrderBar = memo(function OrderBar({
  total,
  missing,
}: {
  total: number
  missing: string | undefined
}) {
  const t = useTexts('servers')
  const user = useMe()
  const { money } = useFormat()
  return (
    <div
      className={
        'no-print fixed inset-x-0 bottom-0 z-20 short:static border-t border-border ' +
        'bg-surface p-3 pb-[max(.75rem,env(safe-area-inset-bottom))] lg:hidden'
      }
    >
      {missing === undefined ? null : (
        <p className="mb-2 text-center text-xs text-ink-2">{missing}</p>
      )}
      <div className="mx-auto flex max-w-xl items-center gap-3">
        <p className="text-xs whitespace-nowrap text-ink-3">
          {t.order.totalPerMonth}
          <span className="num block text-lg font-semibold text-ink">
            {money(total, user.currency)}
          </span>
        </p>
        <Button
          type="submit"
          form="order"
          size="lg"
          className="min-w-0 flex-1 px-2"
          disabled={missing !== undefined}
        >
          <span className="truncate">{t.order.reviewShort}</span>
        </Button>
      </div>
    </div>
  )
})
