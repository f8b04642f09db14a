import { useQuery, useQueryClient } from '@tanstack/react-query'
import {
  Coins,
  Gauge,
  Hourglass,
  LifeBuoy,
  Megaphone,
  ScrollText,
  ShieldCheck,
  Tags,
  UserCog,
  Users,
  Wrench,
} from 'lucide-react'
import { useEffect, useState, type ReactNode } from 'react'
import { staffSignOut, type StaffSession } from '../../contract/operator.ts'
import { brand } from '../brand.ts'
import { cx } from '../ui/cx.ts'
import { Logo } from '../ui/Logo.tsx'
import { LoadError, SkeletonRows } from '../ui/State.tsx'
import { call, onDesk } from './api.ts'
import { CatalogPages } from './catalog/CatalogPages.tsx'
import { CustomersView } from './CustomersView.tsx'
import { CustomerView } from './CustomerView.tsx'
import { DataRequestsView } from './DataRequestsView.tsx'
import { DeskMenus } from './DeskMenus.tsx'
import { ImportView } from './ImportView.tsx'
import { InvitationView } from './InvitationView.tsx'
import { InvoiceView } from './InvoiceView.tsx'
import { useDeskTexts } from './language.ts'
import { isMoney, MoneyView } from './money/MoneyView.tsx'
import { DeskLink, go, useDeskPath } from './path.tsx'
import { OverviewView } from './OverviewView.tsx'
import { ProposalsView } from './ProposalsView.tsx'
import { proposalsQuery, sessionQuery } from './queries.ts'
import { SignInView } from './SignInView.tsx'
import { StaffView } from './StaffView.tsx'
import { StatusView } from './StatusView.tsx'
import { CannedView } from './CannedView.tsx'
import { TicketsView } from './TicketsView.tsx'
import { TicketView } from './TicketView.tsx'
import { TrailView } from './TrailView.tsx'
import { isWork, WorkView } from './work/WorkView.tsx'

/** The whole desk. The member's session decides what is shown. */
export function Desk() {
  const t = useDeskTexts()
  const path = useDeskPath()
  const client = useQueryClient()
  const { data: session, error, refetch, isPending } = useQuery(sessionQuery)
  const [hasEnded, setEnded] = useState(false)
  useEffect(() => {
    onDesk.signedOut = () => {
      setEnded(client.getQueryData(sessionQuery.queryKey) != null)
      client.setQueryData(sessionQuery.queryKey, null)
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
    }
  }, [client])
  useEffect(() => {
    document.title = `${brand} · ${t.mark}`
  }, [t])

  const enter = (opened: StaffSession) => {
    setEnded(false)
    client.setQueryData(sessionQuery.queryKey, opened)
    if (path === '/invitation') go('', true)
  }
  if (path === '/invitation') return <InvitationView onEnter={enter} />
  if (error)
    return <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
  if (isPending) return <SkeletonRows className="mx-auto max-w-xl p-8" />
  if (session === null) return <SignInView hasEnded={hasEnded} onEnter={enter} />
  return (
    <Frame session={session}>
      <View path={path} session={session} />
    </Frame>
  )
}

function View({ path, session }: { path: string; session: StaffSession }) {
  const [, section = '', id] = path.split('/')
  if (section === 'customers' && id === 'import') return <ImportView session={session} />
  if (section === 'customers' && id !== undefined)
    return <CustomerView key={id} id={id} session={session} />
  if (section === 'invoices' && id !== undefined) return <InvoiceView key={id} id={id} />
  if (section === 'tickets') return <TicketPages id={id} session={session} />
  if (section === 'approvals') return <ProposalsView />
  if (isMoney(section)) return <MoneyView section={section} id={id} session={session} />
  if (isWork(section)) return <WorkView section={section} id={id} session={session} />
  if (section === 'data-requests') return <DataRequestsView session={session} />
  if (section === 'catalog') return <CatalogPages key={id} id={id} session={session} />
  if (section === 'status') return <StatusView session={session} />
  if (section === 'trail') return <TrailView />
  if (section === 'staff') return <StaffView session={session} />
  if (section === 'customers') return <CustomersView session={session} />
  return <OverviewView />
}

function TicketPages({ id, session }: { id: string | undefined; session: StaffSession }) {
  if (id === undefined) return <TicketsView />
  if (id === 'canned') return <CannedView session={session} />
  return <TicketView key={id} id={id} session={session} />
}

const showInRow = (link: HTMLAnchorElement | null): void =>
  link?.scrollIntoView({ inline: 'center', block: 'nearest' })

function Frame({ session, children }: { session: StaffSession; children: ReactNode }) {
  const t = useDeskTexts()
  const path = useDeskPath()
  const client = useQueryClient()
  const waiting = useQuery(proposalsQuery).data?.filter(({ decidable }) => decidable).length ?? 0
  const sections = [
    { to: '', name: t.overview.nav, icon: Gauge, isHere: path === '' },
    {
      to: '/customers',
      name: t.nav.customers,
      icon: Users,
      isHere: path.startsWith('/customers') || path.startsWith('/invoices'),
    },
    { to: '/tickets', name: t.nav.tickets, icon: LifeBuoy },
    { to: '/approvals', name: t.nav.proposals, icon: Hourglass, count: waiting },
    {
      to: '/suspense',
      name: t.money.nav,
      icon: Coins,
      isHere: isMoney(path.split('/')[1] ?? ''),
    },
    {
      to: '/work',
      name: t.nav.work,
      icon: Wrench,
      isHere: isWork(path.split('/')[1] ?? ''),
    },
    { to: '/data-requests', name: t.privacy.nav, icon: ShieldCheck },
    { to: '/catalog', name: t.nav.catalog, icon: Tags },
    { to: '/status', name: t.nav.status, icon: Megaphone },
    { to: '/trail', name: t.nav.trail, icon: ScrollText },
    { to: '/staff', name: t.nav.staff, icon: UserCog },
  ]
  const signOut = async () => {
    try {
      await call(staffSignOut, {})
    } finally {
      client.setQueryData(sessionQuery.queryKey, null)
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
      go('', true)
    }
  }
  return (
    <>
      <a
        href="#main"
        className={
          'sr-only focus:not-sr-only focus:fixed focus:z-50 focus:m-2 focus:rounded-md ' +
          'focus:bg-surface focus:px-3 focus:py-2'
        }
      >
        {t.skip}
      </a>
      <header className="sticky top-0 z-20 bg-[#0f1838] text-white">
        <div className="mx-auto flex h-14 max-w-[1244px] items-center gap-3 px-4 sm:px-8">
          <Logo />
          <span className="truncate font-semibold max-sm:sr-only">{brand}</span>
          <span className="rounded-full bg-white/15 px-2.5 py-1 text-xs font-medium">{t.mark}</span>
          <DeskMenus session={session} onSignOut={() => void signOut()} />
        </div>
        <nav
          aria-label={t.nav.label}
          className="mx-auto flex max-w-[1244px] overflow-x-auto px-2 sm:px-6"
        >
          {sections.map(({ to, name, icon: Icon, count, isHere = path.startsWith(to) }) => (
            <DeskLink
              key={to}
              to={to}
              aria-current={isHere ? 'page' : undefined}
              // On phones the row of sections is wider than the screen.
              ref={isHere ? showInRow : undefined}
              className={cx(
                'flex h-10 shrink-0 items-center gap-1.5 border-b-2 px-2 text-sm font-medium',
                isHere
                  ? 'border-white text-white'
                  : 'border-transparent text-white/75 hover:text-white',
              )}
            >
              <Icon aria-hidden className="size-4 max-sm:hidden" strokeWidth={1.75} />
              {name}
              {count ? (
                <span className="num rounded-full bg-white px-1.5 text-xs text-[#1B2A78]">
                  {count}
                </span>
              ) : null}
            </DeskLink>
          ))}
        </nav>
      </header>
      <main id="main" className="mx-auto max-w-[1244px] px-4 py-6 sm:px-8 sm:py-8">
        {children}
      </main>
    </>
  )
}
