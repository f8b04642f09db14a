import type { StaffSession } from '../../../contract/operator.ts'
import { useDeskTexts } from '../language.ts'
import { TabRow } from '../TabRow.tsx'
import { CouponsView } from './CouponsView.tsx'
import { CreditDebtsView } from './CreditDebtsView.tsx'
import { DisputesView } from './DisputesView.tsx'
import { DisputeView } from './DisputeView.tsx'
import { ExportsView } from './ExportsView.tsx'
import { OverdueView } from './OverdueView.tsx'
import { PayoutsView } from './PayoutsView.tsx'
import { PayoutView } from './PayoutView.tsx'
import { ReconciliationView } from './ReconciliationView.tsx'
import { SuspenseView } from './SuspenseView.tsx'
import { VouchersView } from './VouchersView.tsx'
import { WebhooksView } from './WebhooksView.tsx'
import { WebhookView } from './WebhookView.tsx'

const pages = [
  'suspense',
  'webhooks',
  'disputes',
  'payouts',
  'reconciliation',
  'vouchers',
  'coupons',
  'overdue',
  'credit',
  'exports',
] as const
type MoneyPage = (typeof pages)[number]

/** Whether a section of the address is a page about money. */
export const isMoney = (section: string): section is MoneyPage =>
  pages.some((page) => page === section)

/** The pages about money, with tabs. */
export function MoneyView({
  section,
  id,
  session,
}: {
  section: MoneyPage
  id: string | undefined
  session: StaffSession
}) {
  const t = useDeskTexts()
  return (
    <>
      <TabRow label={t.money.tabs} pages={pages} names={t.money.pages} here={section} />
      <Page section={section} id={id} session={session} />
    </>
  )
}

function Page({
  section,
  id,
  session,
}: {
  section: MoneyPage
  id: string | undefined
  session: StaffSession
}) {
  if (section === 'suspense') return <SuspenseView session={session} />
  if (section === 'webhooks')
    return id === undefined ? (
      <WebhooksView session={session} />
    ) : (
      <WebhookView key={id} id={id} session={session} />
    )
  if (section === 'coupons') return <CouponsView session={session} />
  if (section === 'credit') return <CreditDebtsView />
  if (section === 'overdue') return <OverdueView session={session} />
  if (section === 'vouchers') return <VouchersView session={session} />
  if (section === 'exports') return <ExportsView session={session} />
  if (section === 'reconciliation') return <ReconciliationView session={session} />
  if (section === 'payouts')
    return id === undefined ? <PayoutsView session={session} /> : <PayoutView key={id} id={id} />
  if (id !== undefined) return <DisputeView key={id} id={id} session={session} />
  return <DisputesView />
}
