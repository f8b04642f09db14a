import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Download, ExternalLink } from 'lucide-react'
import type { Invoice } from '../../contract/billing.ts'
import type { Transaction } from '../../contract/wallet.ts'
import { formatTime, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { HostedLink, InvoiceBadge } from '../invoices/InvoiceParts.tsx'
import { recentInvoicesQuery } from '../invoices/queries.ts'
import { buttonClass } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { cx } from '../ui/cx.ts'
import { Empty, SkeletonRows } from '../ui/State.tsx'
import { denseCell, headCell, headRow, row } from '../ui/table.ts'
import { Amount, DirectionMark } from '../wallet/Amount.tsx'
import { EmptyWallet } from '../wallet/EmptyWallet.tsx'
import { recentTransactionsQuery } from '../wallet/queries.ts'
import { Loaded, More } from './CardParts.tsx'

const count = 6
const action = 'grid size-8 place-items-center rounded-md text-ink-2 hover:bg-subtle hover:text-ink'

export function LatestTransactions({ className }: { className?: string }) {
  const t = useTexts('dashboard', 'invoices')
  const query = useQuery(recentTransactionsQuery)
  return (
    <Card
      className={cx('relative overflow-hidden', className)}
      padded={false}
      title={t.dashboard.transactions}
      sub={t.dashboard.latest(count)}
      action={<More link={<Link to="/transactions">{t.common.viewAll}</Link>} />}
    >
      <Loaded query={query} skeleton={<SkeletonRows rows={count} className="px-5 pb-5" />}>
        {({ list }) =>
          list.length === 0 ? (
            <Empty text={t.entries.empty} art={<EmptyWallet />}>
              <Link to="/payment" className={buttonClass('outline', 'sm')}>
                {t.nav.topUp}
              </Link>
            </Empty>
          ) : (
            <TransactionTable list={list.slice(0, count)} />
          )
        }
      </Loaded>
    </Card>
  )
}

function TransactionTable({ list }: { list: Transaction[] }) {
  const t = useTexts('dashboard', 'invoices')
  return (
    <table className="w-full text-sm">
      <caption className="sr-only">{t.dashboard.transactions}</caption>
      <thead>
        <tr className={headRow}>
          <th scope="col" className={headCell}>
            {t.entries.note}
          </th>
          <th scope="col" className={cx(headCell, 'max-sm:hidden')}>
            {t.entries.created}
          </th>
          <th scope="col" className={cx(headCell, 'text-right')}>
            {t.entries.amount}
          </th>
        </tr>
      </thead>
      <tbody>
        {list.map((entry) => (
          <tr key={entry.id} className={row}>
            {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label */}
            <td className={denseCell}>
              <div className="flex items-center gap-3">
                <span className="max-sm:hidden">
                  <DirectionMark amount={entry.amount} />
                </span>
                <span className="min-w-0">
                  <span className="line-clamp-1">{entry.description}</span>
                  <span className="num text-xs text-ink-3 sm:hidden">
                    {formatTime(entry.created * 1000)}
                  </span>
                </span>
              </div>
            </td>
            <td className={cx(denseCell, 'num whitespace-nowrap text-ink-2 max-sm:hidden')}>
              {formatTime(entry.created * 1000)}
            </td>
            <td className={cx(denseCell, 'text-right font-medium')}>
              <Amount amount={entry.amount} currency={entry.currency} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

export function LatestInvoices({ className }: { className?: string }) {
  const t = useTexts('dashboard', 'invoices')
  const query = useQuery(recentInvoicesQuery)
  return (
    <Card
      className={cx('relative overflow-hidden', className)}
      padded={false}
      title={t.dashboard.invoices}
      sub={t.dashboard.latest(count)}
      action={<More link={<Link to="/invoice">{t.common.viewAll}</Link>} />}
    >
      <Loaded query={query} skeleton={<SkeletonRows rows={count} className="px-5 pb-5" />}>
        {(list) =>
          list.length === 0 ? (
            <Empty text={t.invoices.empty} />
          ) : (
            <InvoiceTable list={list.slice(0, count)} />
          )
        }
      </Loaded>
    </Card>
  )
}

function InvoiceTable({ list }: { list: Invoice[] }) {
  const t = useTexts('dashboard', 'invoices')
  const { money } = useFormat()
  return (
    <table className="w-full text-sm">
      <caption className="sr-only">{t.dashboard.invoices}</caption>
      <thead>
        <tr className={headRow}>
          <th scope="col" className={headCell}>
            {t.invoices.id}
          </th>
          <th scope="col" className={cx(headCell, 'text-right')}>
            {t.invoices.due}
          </th>
          <th scope="col" className={cx(headCell, 'max-sm:hidden')}>
            {t.invoices.status}
          </th>
          <th scope="col" className={headCell}>
            <span className="sr-only">{t.server.actions}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {list.map((invoice) => (
          <tr key={invoice.id} className={row}>
            <th
              scope="row"
              className={cx(denseCell, 'num text-left font-medium whitespace-nowrap')}
            >
              {invoice.number ?? t.common.draft}
              <span className="mt-1 mb-0.5 block font-normal sm:hidden">
                <InvoiceBadge invoice={invoice} />
              </span>
            </th>
            <td
              className={cx(
                denseCell,
                'num text-right whitespace-nowrap',
                invoice.amount_due > 0 ? 'font-medium' : 'text-ink-3',
              )}
            >
              {money(invoice.amount_due, invoice.currency)}
            </td>
            <td className={cx(denseCell, 'max-sm:hidden')}>
              <InvoiceBadge invoice={invoice} />
            </td>
            <td className={cx(denseCell, 'pl-0')}>
              <div className="flex justify-end">
                <a
                  href={invoice.invoice_pdf}
                  download
                  aria-label={t.invoices.downloadOf(invoice.number ?? t.common.draft)}
                  title={t.invoices.downloadOf(invoice.number ?? t.common.draft)}
                  className={action}
                >
                  <Download aria-hidden className="size-4" strokeWidth={1.75} />
                </a>
                <HostedLink
                  url={invoice.hosted_invoice_url}
                  label={t.invoices.open(invoice.number ?? t.common.draft)}
                  className={cx(action, 'max-[22.5rem]:hidden')}
                >
                  <ExternalLink aria-hidden className="size-4" strokeWidth={1.75} />
                </HostedLink>
              </div>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
