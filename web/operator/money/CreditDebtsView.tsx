import { useInfiniteQuery } from '@tanstack/react-query'
import { HandCoins } from 'lucide-react'
import { useState } from 'react'
import { formatMoney } from '../../../contract/money.ts'
import { debtAges } from '../../../contract/operator-money.ts'
import { Badge } from '../../ui/Badge.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { dayOf, useDeskLanguage, useDeskTexts } from '../language.ts'
import { PagedList, rowClass } from '../PagedList.tsx'
import { DeskLink } from '../path.tsx'
import { StateChoice } from '../StateChoice.tsx'
import { creditDebtsQuery, type DebtAge } from './queries.ts'

const ages: readonly DebtAge[] = ['all', ...debtAges]

/** Money lent on credit lines and still owed, by age. */
export function CreditDebtsView() {
  const t = useDeskTexts()
  const words = t.money.credit
  const [age, setAge] = useState<DebtAge>('all')
  const language = useDeskLanguage()
  const list = useInfiniteQuery(creditDebtsQuery(age))
  return (
    <>
      <PageHead title={words.title} sub={words.sub}>
        <StateChoice
          label={words.age}
          states={ages}
          names={words.ages}
          value={age}
          onChange={setAge}
        />
      </PageHead>
      <PagedList list={list} empty={words.empty} icon={HandCoins}>
        {(one) => (
          <li key={one.id} className={rowClass}>
            <span className="min-w-0 flex-1 basis-60">
              {one.customer ? (
                <DeskLink
                  to={`/customers/${one.customer.id}`}
                  className="block text-sm font-medium break-words text-primary-ink hover:underline"
                >
                  {one.customer.name}
                </DeskLink>
              ) : null}
              <span className="num block text-xs [overflow-wrap:anywhere] text-ink-3">
                {[
                  one.invoice,
                  one.subject,
                  words.lent(formatMoney(one.lent, one.currency, language), dayOf(one.lentAt)),
                ]
                  .filter((part) => part !== null)
                  .join(' · ')}
              </span>
            </span>
            <span className="num text-sm font-medium whitespace-nowrap">
              {formatMoney(one.owed, one.currency, language)}
            </span>
            <Badge tone={one.age === 'current' ? 'neutral' : 'danger'} dot>
              {one.age === 'current' ? words.due(dayOf(one.dueAt)) : words.over(one.daysOver)}
            </Badge>
          </li>
        )}
      </PagedList>
    </>
  )
}
