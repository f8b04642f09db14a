import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useId } from 'react'
import { formatDay, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { useMe } from '../queries.ts'
import { buttonClass } from '../ui/Button.tsx'
import { cx } from '../ui/cx.ts'
import type { Runway } from '../../contract/billing.ts'

interface WalletCardProps {
  /** Undefined while it is unknown: then nothing is shown about it. */
  runway: Runway | undefined
  className?: string
}

function HowLong({ runway, balance }: { runway: Runway; balance: number }) {
  const t = useTexts('dashboard')
  if (runway.days === 0) return t.dashboard.runwayShort
  if (runway.emptyAt !== null)
    return (
      <>
        {t.dashboard.runwayBefore}{' '}
        <b className="num font-semibold text-white">{formatDay(runway.emptyAt)}</b>
      </>
    )
  if (runway.monthly > 0) return t.dashboard.runwayFar
  return balance === 0 ? t.dashboard.emptyWallet : t.dashboard.nothingRenews
}

/** The balance, and how long it lasts. */
export function WalletCard({ runway, className }: WalletCardProps) {
  const t = useTexts('dashboard')
  const user = useMe()
  const { money } = useFormat()
  const id = useId()
  const line = runway?.creditLine
  return (
    <section
      aria-labelledby={id}
      className={cx(
        'wallet relative flex flex-col overflow-hidden rounded-xl p-5 shadow-card sm:p-6',
        className,
      )}
    >
      <div className="flex items-center justify-between">
        <h2 id={id} className="text-sm font-medium text-white/80">
          {t.dashboard.balance}
        </h2>
        <span className="rounded-full bg-white/14 px-2.5 py-0.5 text-xs font-medium">
          {t.dashboard.prepaid}
        </span>
      </div>
      <p className="num mt-2 text-3xl font-semibold tracking-[-.025em]">
        {money(user.balance, user.currency)}
      </p>
      <p className="mt-1 min-h-5 text-sm text-white/80">
        {runway ? <HowLong runway={runway} balance={user.balance} /> : null}
      </p>
      {line && line.owed > 0 && line.dueAt !== null ? (
        <p className="num mt-1 text-sm font-medium">
          {t.dashboard[line.stopped === 'overdue' ? 'owesLate' : 'owes'](
            money(line.owed, user.currency),
            formatDay(line.dueAt),
          )}
        </p>
      ) : null}
      <dl className="num mt-5 grid grid-cols-2 gap-4 border-t border-white/15 pt-4 text-sm">
        <div>
          <dt className="text-xs text-white/75">{t.dashboard.renewsMonthly}</dt>
          <dd className="mt-0.5 font-medium">
            {runway ? money(runway.monthly, user.currency) : t.dashboard.never}
          </dd>
        </div>
        <div>
          <dt className="text-xs text-white/75">{t.dashboard.emptyOn}</dt>
          <dd className="mt-0.5 font-medium">
            {runway && runway.emptyAt !== null ? formatDay(runway.emptyAt) : t.dashboard.never}
          </dd>
        </div>
      </dl>
      <div className="mt-auto flex flex-wrap gap-2 pt-6">
        <Link to="/payment" className={cx(buttonClass('white'), 'flex-1 sm:flex-none')}>
          <Plus aria-hidden className="size-4" />
          {t.dashboard.topUp}
        </Link>
        <Link to="/transactions" className={cx(buttonClass('glass'), 'flex-1 sm:flex-none')}>
          {t.dashboard.seeTransactions}
        </Link>
      </div>
    </section>
  )
}
