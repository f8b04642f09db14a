import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useMemo, useState, type ReactNode } from 'react'
import type { Transaction } from '../../contract/wallet.ts'
import { brand } from '../brand.ts'
import { formatDay, formatTime, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { HostedLink } from '../invoices/InvoiceParts.tsx'
import { recentInvoicesQuery } from '../invoices/queries.ts'
import { useConfig, useMe } from '../queries.ts'
import type { LoadInput } from '../load-input.ts'
import { may } from '../may.ts'
import { buttonClass } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { cx } from '../ui/cx.ts'
import { Later } from '../ui/Later.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Note, Skeleton, SkeletonRows } from '../ui/State.tsx'
import { Amount, DirectionMark } from '../wallet/Amount.tsx'
import { noteParts } from '../wallet/Note.tsx'
import { chartDays, recentTransactionsQuery, runwayQuery } from '../wallet/queries.ts'
import { serversQuery } from '../wordpress/queries.ts'
import { ServerBadge } from '../wordpress/ServerBadge.tsx'
import { BalanceChart } from './BalanceChart.tsx'
import { balanceSeries } from './balance-series.ts'
import { unpaidQuery } from './queries.ts'
import { LatestInvoices, LatestTransactions } from './LatestTables.tsx'
import { Loaded, More } from './CardParts.tsx'
import { WalletCard } from './WalletCard.tsx'

const recentCount = 2

export const load = ({ queryClient }: LoadInput) =>
  Promise.all([
    queryClient.prefetchQuery(recentTransactionsQuery),
    queryClient.prefetchQuery(recentInvoicesQuery),
    queryClient.prefetchQuery(serversQuery),
    queryClient.prefetchQuery(runwayQuery),
    queryClient.prefetchQuery(unpaidQuery),
  ])

export default function DashboardPage() {
  const t = useTexts('dashboard')
  const user = useMe()
  const { products } = useConfig()
  const transactions = useQuery(recentTransactionsQuery)
  const runway = useQuery(runwayQuery)
  const readAt = transactions.dataUpdatedAt
  const series = useMemo(() => {
    const { list, coversFrom } = transactions.data ?? { list: [], coversFrom: null }
    return balanceSeries(list, Math.floor(readAt / 1000), chartDays, coversFrom)
  }, [transactions.data, readAt])
  const shownDays = Math.round((series.to - series.from) / 86_400)

  return (
    <>
      <title>{`${t.dashboard.title} · ${brand}`}</title>
      <PageHead title={t.dashboard.title} sub={<Today region={t.regions[user.region_code]} />}>
        {products.wordpress ? (
          <Link to="/wordpress/create" className={cx(buttonClass(), 'max-sm:hidden')}>
            <Plus aria-hidden className="size-4" />
            {t.dashboard.newWordpress}
          </Link>
        ) : null}
      </PageHead>
      <Later>
        {() => (
          <>
            <UnpaidBanner />
            <div className="grid gap-5 lg:grid-cols-12">
              <WalletCard runway={runway.data} className="lg:col-span-5" />
              <Card
                className="lg:col-span-7"
                title={
                  transactions.data && shownDays < chartDays
                    ? t.dashboard.chartShort(Math.max(1, shownDays))
                    : t.dashboard.chart
                }
                action={
                  <More link={<Link to="/transactions">{t.dashboard.allTransactions}</Link>} />
                }
              >
                <Loaded query={transactions} skeleton={<Skeleton className="h-56" />}>
                  {({ list }) =>
                    list.length === 0 ? (
                      <p className="grid h-full min-h-40 place-items-center text-sm text-ink-3">
                        {t.entries.empty}
                      </p>
                    ) : (
                      <BalanceChart series={series} currency={user.currency} />
                    )
                  }
                </Loaded>
              </Card>
              <div className="grid gap-5 sm:grid-cols-2 lg:col-span-12 xl:grid-cols-3">
                <Recent
                  title={t.dashboard.received}
                  empty={t.dashboard.noneReceived}
                  keep={(entry) => entry.amount > 0}
                  link={<Link to="/transactions">{t.dashboard.viewDetails}</Link>}
                />
                <Recent
                  title={t.dashboard.spent}
                  empty={t.dashboard.noneSpent}
                  keep={(entry) => entry.amount < 0}
                  link={<Link to="/invoice">{t.dashboard.viewInvoice}</Link>}
                />
                <Servers />
              </div>
              <LatestTransactions
                className={'self-start lg:col-span-12 xl:col-span-6 min-[87.5rem]:col-span-7'}
              />
              <LatestInvoices
                className={'self-start lg:col-span-12 xl:col-span-6 min-[87.5rem]:col-span-5'}
              />
            </div>
          </>
        )}
      </Later>
    </>
  )
}

function Today({ region }: { region: string }) {
  const t = useTexts('dashboard')
  // Today in the customer's time zone. Noon exists on every day, unlike some midnights.
  const [today] = useState(() => new Date(`${formatDay(Date.now())}T12:00`))
  return (
    <p>
      {t.dashboard.today(today)} · {t.dashboard.billingRegion}{' '}
      <b className="font-medium text-ink">{region}</b>
    </p>
  )
}

function UnpaidBanner() {
  const t = useTexts('dashboard')
  const { money } = useFormat()
  const { data } = useQuery(unpaidQuery)
  const { data: recent } = useQuery(recentInvoicesQuery)
  // The only one, unless it is older than the newest: then the list has nothing else.
  const only = data?.count === 1 ? recent?.find(({ status }) => status === 'open') : undefined
  const look = 'ml-auto font-semibold underline underline-offset-4'
  if (!data || data.count === 0) return null
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
    <Note tone="warning" role="status" className="mb-5 flex flex-wrap items-center gap-x-3 gap-y-2">
      <span>
        <b className="font-semibold">{t.dashboard.unpaid(data.count)}</b>
        {` · ${t.dashboard.stillDue} `}
        <span className="num font-semibold">{money(data.amount_due, data.currency)}</span>
      </span>
      {may('money:write') && only ? (
        <HostedLink url={only.hosted_invoice_url} className={look}>
          {t.dashboard.payNow}
        </HostedLink>
      ) : null}
      {may('money:write') && !only ? (
        <Link to="/invoice" search={{ status: 'open' }} className={look}>
          {t.dashboard.payNow}
        </Link>
      ) : null}
    </Note>
  )
}

function Recent({
  title,
  empty,
  keep,
  link,
}: {
  title: string
  empty: string
  keep: (entry: Transaction) => boolean
  link: ReactNode
}) {
  const query = useQuery(recentTransactionsQuery)
  return (
    <Card title={title} action={<More link={link} />}>
      <Loaded query={query} skeleton={<SkeletonRows rows={recentCount} />}>
        {({ list }) => {
          const shown = list.filter(keep).slice(0, recentCount)
          if (shown.length === 0) return <p className="py-3 text-sm text-ink-3">{empty}</p>
          return (
            <ul className="grid grid-cols-1 gap-3.5">
              {shown.map((entry) => (
                <li key={entry.id} className="flex items-center gap-3">
                  <DirectionMark amount={entry.amount} />
                  <div className="min-w-0 flex-1">
                    <p className="truncate text-sm font-medium" title={entry.description}>
                      {noteParts(entry.description).text}
                    </p>
                    <p className="num text-xs text-ink-3">{formatTime(entry.created * 1000)}</p>
                  </div>
                  <Amount
                    amount={entry.amount}
                    currency={entry.currency}
                    className="shrink-0 text-sm font-semibold"
                  />
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
    </Card>
  )
}

function Servers() {
  const t = useTexts('dashboard')
  const { ram } = useFormat()
  const query = useQuery(serversQuery)
  return (
    <Card
      className="sm:max-xl:col-span-2"
      title={t.dashboard.servers}
      action={<More link={<Link to="/wordpress">{t.common.viewAll}</Link>} />}
    >
      <Loaded query={query} skeleton={<SkeletonRows rows={recentCount} />}>
        {({ result }) =>
          result.length === 0 ? (
            <p className="py-3 text-sm text-ink-3">{t.dashboard.noServers}</p>
          ) : (
            <ul className="grid grid-cols-1 gap-3.5">
              {result.slice(0, recentCount).map((server) => (
                <li key={server.id} className="flex items-center gap-3">
                  <span
                    aria-hidden
                    className={
                      'grid size-8 shrink-0 place-items-center rounded-md bg-primary-soft ' +
                      'text-xs font-semibold text-primary-ink'
                    }
                  >
                    W
                  </span>
                  <div className="min-w-0 flex-1">
                    <Link
                      to="/wordpress/$id"
                      params={{ id: server.id }}
                      className="block truncate text-sm font-medium hover:underline"
                      title={server.domain}
                    >
                      {server.name}
                    </Link>
                    <p className="truncate text-xs text-ink-3">
                      {t.server.cpu(server.cpu)} · {t.server.gb(ram(server.ram))} ·{' '}
                      {server.configs.region.name}
                    </p>
                  </div>
                  <ServerBadge status={server.status} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  )
}
