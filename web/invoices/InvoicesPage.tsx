import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import type { Invoice } from '../../contract/billing.ts'
import { messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { formatTime, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import type { LoadInput } from '../load-input.ts'
import { HelpLink } from '../support/HelpLink.tsx'
import { buttonClass } from '../ui/Button.tsx'
import { cx } from '../ui/cx.ts'
import { useNarrow } from '../ui/narrow.ts'
import { PagedCard } from '../ui/PagedCard.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Segmented } from '../ui/Segmented.tsx'
import { Empty } from '../ui/State.tsx'
import { cell, headCell, headRow, row } from '../ui/table.ts'
import { HostedLink, InvoiceBadge } from './InvoiceParts.tsx'
import { invoiceListQuery } from './queries.ts'

const route = getRouteApi('/app/invoice')

export const load = ({ queryClient, search }: LoadInput) =>
  queryClient.prefetchInfiniteQuery(
    invoiceListQuery(search['status'] === 'open' ? 'open' : undefined),
  )

export default function InvoicesPage() {
  const t = useTexts('invoices')
  const navigate = useNavigate()
  const { status } = route.useSearch()
  const query = useInfiniteQuery(invoiceListQuery(status))
  const list = query.data?.pages.flatMap((page) => page.result) ?? []

  return (
    <>
      <title>{`${t.invoices.title} · ${brand}`}</title>
      <PageHead title={t.invoices.title} sub={t.invoices.sub}>
        <Segmented
          label={t.invoices.filter}
          value={status ?? 'all'}
          options={[
            { value: 'all', label: t.invoices.all },
            { value: 'open', label: t.invoices.unpaidOnly },
          ]}
          onChange={(wanted) =>
            void navigate({
              to: '/invoice',
              search: wanted === 'open' ? { status: 'open' } : {},
              replace: true,
            })
          }
        />
      </PageHead>
      <PagedCard
        label={t.invoices.title}
        list={query}
        count={list.length}
        rows={8}
        errorText={messageOf(query.error)}
        retryLabel={t.common.retry}
        moreLabel={t.common.loadMore}
        empty={<Empty text={status ? t.invoices.noneUnpaid : t.invoices.empty} />}
      >
        <Table list={list} />
      </PagedCard>
    </>
  )
}

function Table({ list }: { list: Invoice[] }) {
  const t = useTexts('invoices')
  // Each row is rendered in one layout only, instead of both with one hidden.
  const isNarrow = useNarrow()
  return (
    <table className="w-full text-sm">
      <caption className="sr-only">{t.invoices.title}</caption>
      <thead className="max-sm:sr-only">
        <tr className={cx(headRow, 'border-t-0')}>
          <th scope="col" className={headCell}>
            {t.invoices.id}
          </th>
          <th scope="col" className={cx(headCell, 'max-xl:hidden')}>
            {t.invoices.created}
          </th>
          <th scope="col" className={cx(headCell, 'text-right')}>
            {t.invoices.due}
          </th>
          <th scope="col" className={headCell}>
            {t.invoices.status}
          </th>
          <th scope="col" className={headCell}>
            {t.invoices.pdf}
          </th>
          <th scope="col" className={cx(headCell, 'text-right')}>
            {t.invoices.url}
          </th>
        </tr>
      </thead>
      <tbody>
        {list.map((invoice) => (
          <tr key={invoice.id} className={row}>
            <th scope="row" className={cx(cell, 'text-left font-medium')}>
              <span className="num whitespace-nowrap">{invoice.number ?? t.common.draft}</span>
              <span className="block text-xs font-normal wrap-anywhere text-ink-2">
                {invoice.lines[0]?.description}
              </span>
              <span
                className={
                  'num block text-xs font-normal text-ink-3 min-[22rem]:whitespace-nowrap xl:hidden'
                }
              >
                {formatTime(invoice.created * 1000)}
              </span>
              {isNarrow ? (
                <span className="mt-1.5 block">
                  <InvoiceBadge invoice={invoice} />
                </span>
              ) : null}
            </th>
            <td className={cx(cell, 'num whitespace-nowrap text-ink-2 max-xl:hidden')}>
              <time dateTime={new Date(invoice.created * 1000).toISOString()}>
                {formatTime(invoice.created * 1000)}
              </time>
            </td>
            {isNarrow ? null : (
              <>
                <td className={cx(cell, 'text-right')}>
                  <Due invoice={invoice} />
                </td>
                <td className={cell}>
                  <InvoiceBadge invoice={invoice} />
                </td>
                <td className={cell}>
                  <PdfLink invoice={invoice} />
                </td>
              </>
            )}
            <td className={cx(cell, 'text-right')}>
              {isNarrow ? (
                <span className="mb-1.5 block">
                  <Due invoice={invoice} />
                </span>
              ) : null}
              {/* Side by side they would be wider than a phone's screen. */}
              <span className="inline-flex items-center justify-end gap-1 max-sm:flex-wrap">
                {isNarrow ? <PdfLink invoice={invoice} /> : null}
                <HostedLink
                  url={invoice.hosted_invoice_url}
                  label={`${t.invoices.view} ${invoice.number ?? t.common.draft}`}
                  className={buttonClass('outline', 'sm')}
                >
                  {t.invoices.view}
                </HostedLink>
                <HelpLink
                  kind="invoice"
                  id={invoice.id}
                  of={invoice.number ?? t.common.draft}
                  size="sm"
                />
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/**
 * The amount due, and below it the total where that differs: for a paid invoice the amount due
 * alone would say nothing.
 */
function Due({ invoice }: { invoice: Invoice }) {
  const t = useTexts('invoices')
  const { money } = useFormat()
  return (
    <span className={cx('num', invoice.amount_due > 0 ? 'font-semibold' : 'text-ink-3')}>
      {money(invoice.amount_due, invoice.currency)}
      {invoice.total === invoice.amount_due ? null : (
        <span className="block text-xs font-medium text-ink-2">
          {/* Where the columns stand close there is no room for the word. */}
          <span className="md:max-xl:sr-only">{t.invoices.total}</span>{' '}
          {money(invoice.total, invoice.currency)}
        </span>
      )}
    </span>
  )
}

function PdfLink({ invoice }: { invoice: Invoice }) {
  const t = useTexts('invoices')
  return (
    <a
      href={invoice.invoice_pdf}
      download
      aria-label={t.invoices.downloadOf(invoice.number ?? t.common.draft)}
      title={t.invoices.downloadOf(invoice.number ?? t.common.draft)}
      className={
        '-ml-2 inline-flex h-9 min-w-9 items-center justify-center gap-1.5 rounded-md px-2 ' +
        'font-medium text-primary-ink hover:bg-primary-soft'
      }
    >
      <Download aria-hidden className="size-4" />
      <span className="max-md:hidden">PDF</span>
    </a>
  )
}
