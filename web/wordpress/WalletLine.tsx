import { Link } from '@tanstack/react-router'
import { WalletMinimal } from 'lucide-react'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { topUpOf } from '../payments/shortfall.ts'
import { useConfig, useMe } from '../queries.ts'
import { useShortfall } from './use-shortfall.ts'

/** What the wallet holds for an order of this price, minor units, and what it lacks. */
export default function WalletLine({ total }: { total: number }) {
  const t = useTexts('servers', 'review')
  const user = useMe()
  const { payments } = useConfig()
  const { money } = useFormat()
  const balance = money(user.balance, user.currency)
  const { short, older } = useShortfall(total)
  const enough =
    total > 0
      ? t.review.enough(balance, Math.floor(user.balance / total))
      : `${t.shell.balance} ${balance}`
  return (
    <p className="num flex items-center gap-2 rounded-b-xl bg-subtle px-5 py-3 text-xs text-ink-2">
      <WalletMinimal aria-hidden className="size-4 shrink-0 text-ink-3" />
      {total > 0 && short > 0 ? (
        <>
          <span className="text-warning">
            {older > 0
              ? t.review.shortWithOlder(
                  balance,
                  money(short, user.currency),
                  money(short - older, user.currency),
                )
              : t.review.short(balance, money(short, user.currency))}
          </span>
          <Link
            to="/payment"
            search={topUpOf(short, user.currency, payments[user.region_code]?.min ?? 0)}
            className={
              'ml-auto font-medium whitespace-nowrap text-primary-ink underline ' +
              'underline-offset-4'
            }
          >
            {t.nav.topUp}
          </Link>
        </>
      ) : (
        enough
      )}
    </p>
  )
}
