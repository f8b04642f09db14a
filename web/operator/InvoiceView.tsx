import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { formatMoney } from '../../contract/money.ts'
import type { InvoiceAtDesk, PartyAtDesk } from '../../contract/operator-invoices.ts'
import { Badge } from '../ui/Badge.tsx'
import { buttonClass } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { cx } from '../ui/cx.ts'
import { PageHead } from '../ui/PageHead.tsx'
import { LoadError, SkeletonRows } from '../ui/State.tsx'
import { cell, headCell, headRow } from '../ui/table.ts'
import { BackLink } from './BackLink.tsx'
import { badgeOf, ListCard } from './CustomerCards.tsx'
import { dayOf, timeOf, useDeskLanguage, useDeskTexts } from './language.ts'
import { Facts } from './money/Facts.tsx'
import { DeskLink } from './path.tsx'
import { invoiceQuery } from './queries.ts'

/** One invoice or credit note, as its customer reads it. */
export function InvoiceView({ id }: { id: string }) {
  const t = useDeskTexts()
  const { data, error, refetch } = useQuery(invoiceQuery(id))
  if (data) return <Sheet of={data} />
  return error ? (
    <Card>
      <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
    </Card>
  ) : (
    <SkeletonRows />
  )
}

function Sheet({ of: { invoice, customer, seller, buyer, entries, creditNotes } }: Of) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const words = t.invoice
  const kind = invoice.kind === 'credit' ? words.credit : words.one
  const { badge, tone = 'neutral' } = badgeOf(t, invoice.status)
  const money = (amount: number) => formatMoney(amount, invoice.currency, language)
  return (
    <>
      <BackLink
        to={customer ? `/customers/${customer.id}` : '/customers'}
        text={customer ? words.back(customer.name) : t.customer.back}
      />
      <PageHead title={`${kind} ${invoice.number ?? t.customer.draft}`}>
        <Badge tone={tone} dot={tone !== 'neutral'}>
          {badge}
        </Badge>
        <a
          download
          href={`/api/operator/invoices/${invoice.id}/pdf?lang=${language}`}
          className={buttonClass('outline')}
        >
          <Download aria-hidden className="size-4" />
          {words.download}
        </a>
      </PageHead>
      {invoice.corrects ? (
        <p className="mb-5 text-sm">
          <DeskLink
            to={`/invoices/${invoice.corrects.id}`}
            className="num text-primary-ink hover:underline"
          >
            {words.corrects(invoice.corrects.number)}
          </DeskLink>
        </p>
      ) : null}
      <div className="grid gap-5 md:grid-cols-2">
        <Card className="md:col-span-2">
          <Facts
            rows={[
              [words.from, <Party key="seller" of={seller} />],
              [words.to, <Party key="buyer" of={buyer} />],
              [words.created, timeOf(new Date(invoice.created * 1000).toISOString())],
              ...(invoice.issuedAt === null
                ? []
                : [[words.issued, timeOf(invoice.issuedAt)] as const]),
              ...(invoice.lapsesAt === null
                ? []
                : [
                    [
                      invoice.status === 'void' ? words.lapsed : words.payUntil,
                      timeOf(invoice.lapsesAt),
                    ] as const,
                  ]),
            ]}
          />
        </Card>
        <Card title={words.lines} padded={false} className="md:col-span-2">
          <Lines of={invoice} money={money} />
        </Card>
        <ListCard
          title={words.entries}
          sub={words.entriesSub}
          rows={entries.map(({ id, at, text, amount }) => ({
            key: id,
            main: text,
            sub: timeOf(at),
            end: money(amount),
          }))}
        />
        {invoice.kind === 'credit' ? null : (
          <ListCard
            title={words.notes}
            rows={creditNotes.map(({ id, number, at, total }) => ({
              key: id,
              main: number,
              to: `/invoices/${id}`,
              sub: timeOf(at),
              end: money(total),
            }))}
          />
        )}
      </div>
    </>
  )
}
interface Of {
  of: InvoiceAtDesk
}

function Party({ of: { name, email, address, taxCode } }: { of: PartyAtDesk }) {
  const t = useDeskTexts()
  return (
    <span className="block wrap-anywhere">
      <span className="block font-medium">{name}</span>
      {[address, email, taxCode === null ? null : t.invoice.taxCode(taxCode)].map((line) =>
        line === null ? null : (
          <span key={line} className="block text-ink-2">
            {line}
          </span>
        ),
      )}
    </span>
  )
}

const number = 'num text-right whitespace-nowrap'
const wideOnly = 'max-sm:hidden'

function Lines({
  of: invoice,
  money,
}: {
  of: InvoiceAtDesk['invoice']
  money: (amount: number) => string
}) {
  const words = useDeskTexts().invoice
  const { tax } = invoice
  const sums = [
    ...(tax
      ? [
          [words.beforeTax, invoice.total - tax.amount] as const,
          [words.taxContained(tax.name, String(tax.rate / 100)), tax.amount] as const,
        ]
      : []),
    [words.total, invoice.total] as const,
    [words.paid, invoice.amount_paid] as const,
    [words.due, invoice.amount_due] as const,
  ]
  return (
    <>
      <table className="w-full text-sm">
        <thead>
          <tr className={headRow}>
            <th scope="col" className={headCell}>
              {words.description}
            </th>
            <th scope="col" className={cx(headCell, 'text-right', wideOnly)}>
              {words.quantity}
            </th>
            <th scope="col" className={cx(headCell, 'text-right', wideOnly)}>
              {words.unitPrice}
            </th>
            <th scope="col" className={cx(headCell, 'text-right')}>
              {words.amount}
            </th>
          </tr>
        </thead>
        <tbody>
          {invoice.lines.map((line, index) => (
            <tr key={index} className="border-b border-border align-top">
              <td className={cx(cell, 'wrap-anywhere')}>
                {line.description}
                {invoice.number !== null && line.period_start && line.period_end ? (
                  <span className="num block text-xs text-ink-3">
                    {words.period(dayOf(line.period_start), dayOf(line.period_end))}
                  </span>
                ) : null}
                {line.corrects_line === null ? null : (
                  <span className="block text-xs text-ink-3">
                    {words.correctsLine(line.corrects_line)}
                  </span>
                )}
                <span className="num block text-xs text-ink-3 sm:hidden">
                  {`${line.quantity} × ${money(line.unit_price)}`}
                </span>
              </td>
              <td className={cx(cell, number, wideOnly)}>{line.quantity}</td>
              <td className={cx(cell, number, wideOnly)}>{money(line.unit_price)}</td>
              <td className={cx(cell, number)}>{money(line.amount)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <dl className="num ml-auto grid w-full max-w-xs gap-2 px-5 py-4 text-sm">
        {sums.map(([term, amount]) => (
          <div key={term} className="flex justify-between gap-4">
            <dt className="text-ink-2">{term}</dt>
            <dd className={cx('whitespace-nowrap', term === words.total && 'font-semibold')}>
              {money(amount)}
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}
