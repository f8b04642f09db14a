import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Download, Printer, WalletMinimal } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type * as z from 'zod/mini'
import {
  payInvoice,
  type hostedInvoice,
  type Invoice,
  type PartyDetails,
} from '../../contract/billing.ts'
import { ApiError, Attempt, messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { formatDay, formatTime, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { topUpOf } from '../payments/shortfall.ts'
import { configQuery, meQuery } from '../queries.ts'
import type { LoadInput } from '../load-input.ts'
import { resumeAs } from '../resume-as.ts'
import { may } from '../may.ts'
import { useSignedIn } from '../session.ts'
import { LanguageMenu, ThemeMenu } from '../shell/HeaderMenus.tsx'
import { Button, buttonClass } from '../ui/Button.tsx'
import { cx } from '../ui/cx.ts'
import { Logo } from '../ui/Logo.tsx'
import { Empty, LoadError, Skeleton } from '../ui/State.tsx'
import { cell, headCell, headRow } from '../ui/table.ts'
import { toast } from '../ui/toast.ts'
import { InvoiceBadge } from './InvoiceParts.tsx'
import { lentFor, lineQuery } from './lent-for.ts'
import { hostedInvoiceQuery } from './queries.ts'

const route = getRouteApi('/invoice/hosted/$token')

export const load = ({ queryClient, params }: LoadInput) =>
  Promise.all([
    resumeAs(queryClient),
    queryClient.prefetchQuery(hostedInvoiceQuery(params['token'] ?? '')),
  ])

/** One invoice, for anybody who has its link. A signed-in customer may pay it from the wallet. */
export default function HostedPage() {
  const t = useTexts('invoices')
  const { token } = route.useParams()
  const signedIn = useSignedIn()
  const { data, isPending, error, refetch } = useQuery(hostedInvoiceQuery(token))
  const missing = error instanceof ApiError && error.status === 404
  const title = data
    ? `${t.invoices.hosted} ${data.invoice.number ?? t.common.draft}`
    : t.invoices.hosted

  return (
    <div className="mx-auto flex min-h-dvh max-w-3xl flex-col px-4 pb-16 sm:px-6">
      <title>{`${title} · ${brand}`}</title>
      <header className="no-print flex h-16 items-center gap-1">
        <Link to="/" className="flex items-center gap-2.5 rounded-md font-semibold">
          <Logo />
          {brand}
        </Link>
        <span className="flex-1" />
        {signedIn ? (
          <Link to="/invoice" className={cx(buttonClass('ghost', 'sm'), 'max-sm:hidden')}>
            {t.invoices.mine}
          </Link>
        ) : null}
        <LanguageMenu />
        <ThemeMenu />
      </header>
      <main id="main" className="card mt-2 p-5 sm:p-8">
        {isPending ? (
          <div aria-busy="true">
            <Skeleton className="h-7 w-56" />
            <Skeleton className="mt-8 h-64" />
          </div>
        ) : null}
        {missing ? (
          <>
            <h1 tabIndex={-1} className="sr-only">
              {t.invoices.hosted}
            </h1>
            <Empty text={t.invoices.notFound}>
              <Link to="/" className={buttonClass('outline')}>
                {t.common.home}
              </Link>
            </Empty>
          </>
        ) : null}
        {error && !missing && !data ? (
          <LoadError
            text={messageOf(error)}
            retryLabel={t.common.retry}
            onRetry={() => void refetch()}
          />
        ) : null}
        {data ? <Sheet {...data} token={token} /> : null}
      </main>
    </div>
  )
}

function Party({ name, address, taxCode }: PartyDetails & { name: string }) {
  const t = useTexts('invoices')
  return (
    <span className="wrap-anywhere">
      {name}
      {address === null ? null : <span className="block font-normal text-ink-2">{address}</span>}
      {taxCode === null ? null : (
        <span className="block font-normal text-ink-2">{t.invoices.taxCode(taxCode)}</span>
      )}
    </span>
  )
}

type Shown = z.output<typeof hostedInvoice.result> & { token: string }

function Sheet({ invoice, seller, buyer, details, token }: Shown) {
  const t = useTexts('invoices')
  const { money } = useFormat()
  const amount = (value: number) => money(value, invoice.currency)
  return (
    <>
      <div className="flex flex-wrap items-start justify-between gap-4">
        <div>
          <p className="text-sm text-ink-3">{t.invoices.hosted}</p>
          <h1 tabIndex={-1} className="num mt-0.5 text-2xl font-semibold tracking-[-.02em]">
            {invoice.number ?? t.common.draft}
          </h1>
          {invoice.corrects ? (
            <p className="num mt-1 text-sm text-ink-2">
              {t.invoices.corrects(invoice.corrects.number)}
            </p>
          ) : null}
        </div>
        <InvoiceBadge invoice={invoice} />
      </div>
      <dl className="mt-6 grid gap-5 text-sm sm:grid-cols-3">
        <Fact term={t.invoices.from}>
          <Party name={seller} {...details.seller} />
        </Fact>
        <Fact term={t.invoices.to}>
          <Party name={buyer} {...details.buyer} />
        </Fact>
        <Fact term={t.invoices.date}>
          <span className="num">{formatTime(invoice.created * 1000)}</span>
        </Fact>
      </dl>
      <div className="-mx-5 mt-7 sm:-mx-8">
        <table className="w-full text-sm">
          <caption className="sr-only">{invoice.number ?? t.common.draft}</caption>
          <thead>
            <tr className={headRow}>
              <th scope="col" className={cx(headCell, 'sm:first:pl-8')}>
                {t.invoices.description}
              </th>
              <th scope="col" className={cx(headCell, 'text-right max-sm:hidden')}>
                {t.invoices.quantity}
              </th>
              <th scope="col" className={cx(headCell, 'text-right max-sm:hidden')}>
                {t.invoices.unitPrice}
              </th>
              <th scope="col" className={cx(headCell, 'text-right sm:last:pr-8')}>
                {t.invoices.lineAmount}
              </th>
            </tr>
          </thead>
          <tbody>
            {invoice.lines.map((line, index) => (
              <tr key={index} className="border-b border-border align-top">
                <td className={cx(cell, 'sm:first:pl-8')}>
                  {line.description}
                  {invoice.number !== null &&
                  line.period_start !== null &&
                  line.period_end !== null ? (
                    <span className="num block text-xs text-ink-3">
                      {t.invoices.period(formatDay(line.period_start), formatDay(line.period_end))}
                    </span>
                  ) : null}
                  <span className="num block text-xs text-ink-3 sm:hidden">
                    {line.quantity} × {amount(line.unit_price)}
                  </span>
                </td>
                <td className={cx(cell, 'num text-right max-sm:hidden')}>{line.quantity}</td>
                <td className={cx(cell, 'num text-right whitespace-nowrap max-sm:hidden')}>
                  {amount(line.unit_price)}
                </td>
                <td className={cx(cell, 'num text-right whitespace-nowrap sm:last:pr-8')}>
                  {amount(line.amount)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <dl className="num ml-auto mt-5 grid w-full max-w-xs gap-2 text-sm">
        <Sum term={t.invoices.total}>{amount(invoice.total)}</Sum>
        {invoice.tax ? (
          <>
            <Sum term={t.invoices.beforeTax}>{amount(invoice.total - invoice.tax.amount)}</Sum>
            <Sum term={t.invoices.taxContained(invoice.tax.name, String(invoice.tax.rate / 100))}>
              {amount(invoice.tax.amount)}
            </Sum>
          </>
        ) : null}
        <Sum term={t.invoices.amountPaid}>{amount(invoice.amount_paid)}</Sum>
        <div className="flex items-baseline justify-between gap-4 border-t border-border pt-3">
          <dt className="font-medium">{t.invoices.amountDue}</dt>
          <dd className="text-xl font-semibold">{amount(invoice.amount_due)}</dd>
        </div>
      </dl>
      {invoice.status === 'open' && invoice.lapsesAt !== null ? (
        <p className="num mt-4 text-right text-xs text-ink-3">
          {t.invoices.payUntil(formatTime(invoice.lapsesAt))}
        </p>
      ) : null}
      <div className="no-print mt-7 flex flex-wrap items-center gap-2 border-t border-border pt-5">
        <a href={invoice.invoice_pdf} download className={buttonClass('outline')}>
          <Download aria-hidden className="size-4" />
          {t.invoices.download}
        </a>
        <Button variant="ghost" onClick={() => window.print()} className="max-sm:hidden">
          <Printer aria-hidden className="size-4" />
          {t.invoices.print}
        </Button>
        <span className="flex-1" />
        {invoice.amount_due > 0 && invoice.status === 'open' && may('money:write') ? (
          <Pay invoice={invoice} token={token} />
        ) : null}
      </div>
    </>
  )
}

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-ink-3">{term}</dt>
      <dd className="mt-0.5 font-medium break-words whitespace-pre-line">{children}</dd>
    </div>
  )
}
function Sum({ term, children }: { term: string; children: string }) {
  return (
    <div className="flex justify-between gap-4">
      <dt className="text-ink-2">{term}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Pay({ invoice, token }: { invoice: Invoice; token: string }) {
  const t = useTexts('invoices')
  const { money } = useFormat()
  const signedIn = useSignedIn()
  const queryClient = useQueryClient()
  const [attempt] = useState(() => new Attempt())
  const { data: user } = useQuery({ ...meQuery, enabled: signedIn })
  const { data: config } = useQuery({ ...configQuery, enabled: signedIn })
  const pay = useMutation({
    mutationFn: () => attempt.run(payInvoice, { params: { id: invoice.id } }),
    onSuccess: (paid) => {
      queryClient.setQueryData(hostedInvoiceQuery(token).queryKey, (now) =>
        now ? { ...now, invoice: paid } : now,
      )
      for (const subject of [
        'invoices',
        'me',
        'transactions',
        'servers',
        'subscriptions',
        'runway',
      ])
        void queryClient.invalidateQueries({ queryKey: [subject] })
      toast.success(t.toast.success, t.invoices.payDone)
    },
    onError: (error) => {
      toast.error(t.toast.error, messageOf(error))
      // It may have been paid elsewhere meanwhile.
      for (const subject of ['invoices', 'me'])
        void queryClient.invalidateQueries({ queryKey: [subject] })
    },
  })

  const short = user && user.currency === invoice.currency ? invoice.amount_due - user.balance : 0
  const asksLine = signedIn && short > 0 && invoice.kind === 'renewal' && may('money:read')
  const runway = useQuery({ ...lineQuery, enabled: asksLine })
  const lent = asksLine ? lentFor(short, runway.data?.creditLine) : 0

  if (!signedIn) {
    return (
      <Link
        to="/login"
        search={{ next: location.pathname }}
        className={cx(buttonClass(), 'max-sm:w-full')}
      >
        {t.invoices.signInToPay}
      </Link>
    )
  }
  const min = config?.payments[user?.region_code ?? '']?.min ?? 0
  return (
    <div className="flex flex-wrap items-center gap-3 max-sm:w-full">
      {user ? (
        <p className={cx('num text-xs', short > 0 ? 'text-warning' : 'text-ink-3')}>
          {short > 0
            ? t.invoices.walletShort(money(short, invoice.currency))
            : t.invoices.walletHas(money(user.balance, user.currency))}
          {lent > 0 ? ` ${t.invoices.lends(money(lent, invoice.currency))}` : null}
        </p>
      ) : null}
      {asksLine && runway.isPending ? <Skeleton className="h-9 w-40" /> : null}
      {short > lent && !(asksLine && runway.isPending) ? (
        <Link
          to="/payment"
          search={topUpOf(short, invoice.currency, min)}
          className={cx(buttonClass(), 'max-sm:w-full')}
        >
          {t.nav.topUp}
        </Link>
      ) : null}
      {short <= lent ? (
        <Button busy={pay.isPending} onClick={() => pay.mutate()} className="num max-sm:w-full">
          <WalletMinimal aria-hidden className="size-4" />
          {t.invoices.payFromWallet(money(invoice.amount_due, invoice.currency))}
        </Button>
      ) : null}
    </div>
  )
}
