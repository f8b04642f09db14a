import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { TicketPercent } from 'lucide-react'
import { useState } from 'react'
import { formatMoney } from '../../../contract/money.ts'
import type { Coupon } from '../../../contract/operator-money.ts'
import type { StaffSession } from '../../../contract/operator.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { Note } from '../../ui/State.tsx'
import { ActDialog, type WantedAct } from '../ActDialog.tsx'
import { catalogQuery } from '../catalog/queries.ts'
import { dayOf, useDeskLanguage, useDeskTexts } from '../language.ts'
import { PagedList, rowClass } from '../PagedList.tsx'
import { lastDay } from './last-day.ts'
import { couponsQuery } from './queries.ts'

/** Codes that lower the first month of an order. */
export function CouponsView({ session }: { session: StaffSession }) {
  const t = useDeskTexts()
  const words = t.money.coupons
  const [wanted, setWanted] = useState<WantedAct>()
  const may = mayDo(session.role, 'money')
  return (
    <>
      <PageHead title={words.title} sub={words.sub}>
        {may ? (
          <Button onClick={() => setWanted({ act: 'coupon.make', fixed: {} })}>
            {t.acts['coupon.make']}
          </Button>
        ) : null}
      </PageHead>
      {may ? <List onAct={setWanted} /> : <Note tone="info">{t.money.vouchers.notAllowed}</Note>}
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}

function List({ onAct }: { onAct: (wanted: WantedAct) => void }) {
  const t = useDeskTexts()
  const { vouchers } = t.money
  const list = useInfiniteQuery(couponsQuery)
  return (
    <PagedList list={list} empty={t.money.coupons.empty} icon={TicketPercent}>
      {(one) => (
        <li key={one.id} className={rowClass}>
          <About of={one} />
          <Badge tone={one.good ? 'success' : 'neutral'} dot>
            {one.good ? vouchers.good : vouchers.ended}
          </Badge>
          {one.stoppedAt === null ? (
            <Button
              size="sm"
              variant="outline"
              onClick={() =>
                onAct({ act: 'coupon.stop', about: one.code, fixed: { coupon: one.code } })
              }
            >
              {t.acts['coupon.stop']}
            </Button>
          ) : null}
        </li>
      )}
    </PagedList>
  )
}

function About({ of: one }: { of: Coupon }) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const { coupons: words, vouchers } = t.money
  const { data: catalog } = useQuery(catalogQuery)
  const nameOf = (id: number): string =>
    catalog?.selling.plans.find((plan) => plan.id === id)?.name ?? String(id)
  const most = formatMoney(one.amount, one.currency, language)
  const facts = [
    vouchers.used(one.uses, one.maxUses),
    words.each(one.perCustomer),
    ...(one.plans === null ? [] : [words.plans(one.plans.map(nameOf).join(', '))]),
    words.from(dayOf(one.startsAt)),
    ...(one.expiresAt === null ? [] : [vouchers.until(lastDay(one.expiresAt))]),
  ]
  return (
    <>
      <span className="min-w-0 flex-1 basis-72">
        <span className="block font-mono text-sm break-all">{one.code}</span>
        <span className="num block text-xs text-ink-3">{facts.join(' · ')}</span>
      </span>
      <span className="num text-sm font-medium">
        {one.percent === null ? words.off(most) : words.percentOff(one.percent, most)}
      </span>
    </>
  )
}
