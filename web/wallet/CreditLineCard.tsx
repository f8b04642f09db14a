import { Link } from '@tanstack/react-router'
import type { CreditLine } from '../../contract/billing.ts'
import type { Currency } from '../../contract/money.ts'
import { formatDay, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { buttonClass } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Note } from '../ui/State.tsx'

/**
 * The credit line: its limit, the amount owed, and when that is due. Only few customers have one.
 */
export default function CreditLineCard({
  line,
  currency,
}: {
  line: CreditLine
  currency: Currency
}) {
  const t = useTexts('wallet')
  const { money } = useFormat()
  const { limit, termDays, owed, available, dueAt, stopped } = line
  const facts = [
    [t.credit.limit, limit > 0 ? money(limit, currency) : t.credit.ended],
    [t.credit.owed, money(owed, currency)],
    [t.credit.available, money(available, currency)],
    ...(dueAt === null ? [] : [[t.credit.dueBy, formatDay(dueAt)] as const]),
  ] as const
  return (
    <Card
      title={t.credit.title}
      sub={limit > 0 && termDays !== null ? t.credit.sub(termDays) : t.credit.subEnded}
      className="mb-5"
      action={
        owed > 0 ? (
          <Link to="/payment" className={buttonClass('outline', 'sm')}>
            {t.credit.topUp}
          </Link>
        ) : undefined
      }
    >
      {stopped === 'overdue' || stopped === 'chargeback' ? (
        <Note tone="warning" className="mb-4">
          {t.credit.stopped[stopped]}
        </Note>
      ) : null}
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-4">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt className="text-xs text-ink-3">{name}</dt>
            <dd className="num mt-0.5 font-medium">{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}
