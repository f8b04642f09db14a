import { useInfiniteQuery } from '@tanstack/react-query'
import { ReceiptText } from 'lucide-react'
import { formatMoney } from '../../../contract/money.ts'
import { Badge } from '../../ui/Badge.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { dayOf, useDeskLanguage, useDeskTexts } from '../language.ts'
import { PagedList, rowClass } from '../PagedList.tsx'
import { DeskLink } from '../path.tsx'
import { overdueQuery } from './queries.ts'

/** Unpaid invoices of renewals, longest overdue first. */
export function OverdueView() {
  const t = useDeskTexts()
  const words = t.overview.overdue
  const language = useDeskLanguage()
  const list = useInfiniteQuery(overdueQuery)
  return (
    <>
      <PageHead title={words.title} sub={words.sub} />
      <PagedList list={list} empty={words.empty} icon={ReceiptText}>
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
                <DeskLink to={`/invoices/${one.id}`} className="text-primary-ink hover:underline">
                  {one.number ?? t.customer.draft}
                </DeskLink>
                {one.subject === null ? null : ` · ${one.subject}`}
              </span>
            </span>
            <span className="num text-sm font-medium whitespace-nowrap">
              {formatMoney(one.total, one.currency, language)}
            </span>
            <Badge tone={one.suspended ? 'danger' : 'warning'} dot>
              {one.suspended ? words.suspended(dayOf(one.dueAt)) : words.due(dayOf(one.dueAt))}
            </Badge>
          </li>
        )}
      </PagedList>
    </>
  )
}
