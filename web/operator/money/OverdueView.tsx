import { useInfiniteQuery } from '@tanstack/react-query'
import { ReceiptText } from 'lucide-react'
import { formatMoney } from '../../../contract/money.ts'
import { useState } from 'react'
import type { StaffSession } from '../../../contract/operator.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { endpointOfAct } from '../act-fields.ts'
import { ActDialog, type WantedAct } from '../ActDialog.tsx'
import { dayOf, useDeskLanguage, useDeskTexts } from '../language.ts'
import { PagedList, rowClass } from '../PagedList.tsx'
import { DeskLink } from '../path.tsx'
import { overdueQuery } from './queries.ts'

/** Unpaid invoices of renewals, longest overdue first. */
export function OverdueView({ session }: { session: StaffSession }) {
  const t = useDeskTexts()
  const words = t.overview.overdue
  const language = useDeskLanguage()
  const list = useInfiniteQuery(overdueQuery)
  const [wanted, setWanted] = useState<WantedAct>()
  const may = mayDo(session.role, endpointOfAct('work.put_off').may)
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
            {may && one.server !== null ? (
              <Button
                size="sm"
                variant="outline"
                aria-label={`${t.acts['work.put_off']}: ${one.subject}`}
                onClick={() =>
                  setWanted({
                    act: 'work.put_off',
                    about: one.subject ?? '',
                    fixed: { server: one.server },
                  })
                }
              >
                {t.acts['work.put_off']}
              </Button>
            ) : null}
          </li>
        )}
      </PagedList>
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}
