import type { StaffSession } from '../../../contract/operator.ts'
import { cx } from '../../ui/cx.ts'
import { useDeskTexts } from '../language.ts'
import { DeskLink } from '../path.tsx'
import { DisputesView } from './DisputesView.tsx'
import { DisputeView } from './DisputeView.tsx'
import { ExportsView } from './ExportsView.tsx'
import { PayoutsView } from './PayoutsView.tsx'
import { PayoutView } from './PayoutView.tsx'
import { ReconciliationView } from './ReconciliationView.tsx'
import { SuspenseView } from './SuspenseView.tsx'
import { VouchersView } from './VouchersView.tsx'

const pages = ['suspense', 'disputes', 'payouts', 'reconciliation', 'vouchers', 'exports'] as const
type MoneyPage = (typeof pages)[number]

/** Whether this part of an address is a page about money. */
export const isMoney = (section: string): section is MoneyPage =>
  pages.some((page) => page === section)

const showInRow = (link: HTMLAnchorElement | null): void =>
  link?.scrollIntoView({ inline: 'center', block: 'nearest' })

/** The pages about money, with a row of their names. */
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
      <nav aria-label={t.money.tabs} className="mb-6 flex gap-1 overflow-x-auto">
        {pages.map((page) => (
          <DeskLink
            key={page}
            to={`/${page}`}
            aria-current={page === section ? 'page' : undefined}
            // On a phone the row is longer than the screen.
            ref={page === section ? showInRow : undefined}
            className={cx(
              'h-8 shrink-0 rounded-full px-3 py-1.5 text-sm',
              page === section
                ? 'bg-primary-soft font-medium text-primary-ink'
                : 'text-ink-2 hover:bg-subtle',
            )}
          >
            {t.money.pages[page]}
          </DeskLink>
        ))}
      </nav>
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
  if (section === 'vouchers') return <VouchersView session={session} />
  if (section === 'exports') return <ExportsView session={session} />
  if (section === 'reconciliation') return <ReconciliationView session={session} />
  if (section === 'payouts')
    return id === undefined ? <PayoutsView session={session} /> : <PayoutView key={id} id={id} />
  if (id !== undefined) return <DisputeView key={id} id={id} session={session} />
  return <DisputesView />
}
