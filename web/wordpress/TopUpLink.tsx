import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { topUpOf } from '../payments/shortfall.ts'
import { useConfig, useMe } from '../queries.ts'
import { buttonClass } from '../ui/Button.tsx'

/** A link to the top-up, beside an action that the wallet cannot pay. */
export function TopUpLink({ short }: { short: number }) {
  const t = useTexts('site')
  const user = useMe()
  const { payments } = useConfig()
  const { money } = useFormat()
  const min = payments[user.region_code]?.min ?? 0
  return (
    <Link
      to="/payment"
      search={topUpOf(short, user.currency, min)}
      className={`${buttonClass('outline', 'sm')} mt-2`}
    >
      <Plus aria-hidden className="size-4" />
      {t.progress.topUp(money(Math.max(short, min), user.currency))}
    </Link>
  )
}
