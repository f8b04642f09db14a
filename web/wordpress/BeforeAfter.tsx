import type { Server } from '../../contract/wordpress.ts'
import { formatDay, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { useMe } from '../queries.ts'
import { TopUpLink } from './TopUpLink.tsx'
import type { Charge } from './use-charge.ts'

interface BeforeAfterProps {
  server: Server
  label: string
  before: string
  after: string
  /** The monthly price of the whole server after the change, minor units. */
  price: number
  charge: Charge
}

/**
 * A change before it is confirmed: old and new values, both prices, and the immediate charge. If
 * the wallet is too short for that, also its balance and the shortfall.
 */
export function BeforeAfter({ server, label, before, after, price, charge }: BeforeAfterProps) {
  const t = useTexts('site', 'parts')
  const { money } = useFormat()
  const { balance } = useMe()
  const { subscription, amount, short, topUp } = charge
  return (
    <div className="rounded-lg bg-subtle p-4 text-sm">
      <table className="w-full">
        <thead>
          <tr className="text-xs text-ink-3">
            <th scope="col">
              <span className="sr-only">{label}</span>
            </th>
            <th scope="col" className="pb-1 text-right font-normal">
              {t.resize.before}
            </th>
            <th scope="col" className="pb-1 pl-4 text-right font-normal">
              {t.resize.after}
            </th>
          </tr>
        </thead>
        <tbody className="num">
          <tr>
            <th scope="row" className="py-1 text-left font-normal text-ink-2">
              {label}
            </th>
            <td className="py-1 text-right">{before}</td>
            <td className="py-1 pl-4 text-right font-semibold">{after}</td>
          </tr>
          <tr>
            <th scope="row" className="py-1 text-left font-normal text-ink-2">
              {t.resize.total}
            </th>
            <td className="py-1 text-right">{money(server.price, server.currency)}</td>
            <td className="py-1 pl-4 text-right font-semibold">{money(price, server.currency)}</td>
          </tr>
        </tbody>
      </table>
      {subscription === undefined || amount === 0 ? null : (
        <p className="num mt-2 flex flex-wrap justify-between gap-x-3 border-t border-border pt-2">
          <span className="text-ink-2">{t.resize.now(formatDay(subscription.periodEnd))}</span>
          <span className="font-semibold">{t.resize.about(money(amount, server.currency))}</span>
        </p>
      )}
      {short > 0 ? (
        <p className="num mt-1 text-warning">
          {t.resize.short(money(balance, server.currency), money(short, server.currency))}
        </p>
      ) : null}
      {topUp > 0 ? <TopUpLink short={topUp} /> : null}
    </div>
  )
}
