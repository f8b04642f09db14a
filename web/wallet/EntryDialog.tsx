import { useQuery } from '@tanstack/react-query'
import { CircleAlert, CircleCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { formatCount, type Currency } from '../../contract/money.ts'
import type { Step } from '../../contract/pricing.ts'
import type { ExplainedTransaction } from '../../contract/wallet-proof.ts'
import { messageOf } from '../api.ts'
import { formatTime, useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { HostedLink } from '../invoices/InvoiceParts.tsx'
import { HelpLink } from '../support/HelpLink.tsx'
import { Button } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { cx } from '../ui/cx.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { LoadError, SkeletonRows } from '../ui/State.tsx'
import { Amount } from './Amount.tsx'
import { entryQuery } from './proof-queries.ts'

type Line = NonNullable<ExplainedTransaction['invoice']>['lines'][number]

/** One entry, explained to the last minor unit. Its address is `?entry=`. */
export default function EntryDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const t = useTexts('wallet')
  const { data, isPending, isError, error, refetch } = useQuery(entryQuery(id))
  return (
    <Dialog
      open
      onClose={onClose}
      title={t.wallet.detail}
      {...(data ? { description: data.description } : {})}
      closeLabel={t.common.close}
      footer={
        <form method="dialog" className="flex gap-2">
          <EntryHelp entry={data} />
          <Button type="submit" variant="outline" className="flex-1">
            {t.common.close}
          </Button>
        </form>
      }
    >
      {isPending ? <SkeletonRows rows={5} className="py-3" /> : null}
      {isError ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {data ? <Entry entry={data} /> : null}
    </Dialog>
  )
}

/**
 * The help link of a top-up names its code; for an invoice, the invoice's own list has the link.
 */
function EntryHelp({ entry }: { entry: ExplainedTransaction | undefined }) {
  const code = entry?.topup?.transactionCode
  return code ? <HelpLink kind="payment" id={code} /> : null
}

function Entry({ entry }: { entry: ExplainedTransaction }) {
  const t = useTexts('wallet')
  const { money } = useFormat()
  const { currency, topup, invoice, chain } = entry
  return (
    <div className="grid gap-5 text-sm">
      <div>
        <Amount amount={entry.amount} currency={currency} className="text-2xl font-semibold" />
        <p className="num mt-0.5 text-ink-2">{formatTime(entry.createdAt)}</p>
      </div>
      <dl className="divide-y divide-border rounded-lg shadow-[inset_0_0_0_1px_var(--border)]">
        <Fact term={t.wallet.before}>{money(entry.opening_balance, currency)}</Fact>
        <Fact term={t.wallet.ending}>{money(entry.ending_balance, currency)}</Fact>
        {topup ? (
          <>
            <Fact term={t.wallet.gateway}>{topup.provider}</Fact>
            {topup.transactionCode === null ? null : (
              <Fact term={t.wallet.code}>
                <span className="font-mono text-xs break-all">{topup.transactionCode}</span>
              </Fact>
            )}
            {topup.begunAt === null ? null : (
              <Fact term={t.wallet.begun}>{formatTime(topup.begunAt)}</Fact>
            )}
            <Fact term={t.wallet.credited}>{formatTime(topup.creditedAt)}</Fact>
          </>
        ) : null}
        {invoice ? (
          <Fact term={t.wallet.invoice}>
            <HostedLink
              url={invoice.hosted_invoice_url}
              className="font-medium text-primary-ink underline underline-offset-2"
            >
              {invoice.number}
            </HostedLink>
          </Fact>
        ) : null}
        {entry.reason === null ? null : <Fact term={t.wallet.reason}>{entry.reason}</Fact>}
      </dl>
      {invoice ? (
        <section aria-label={t.wallet.computed} className="grid gap-3">
          <h3 className="font-semibold">{t.wallet.computed}</h3>
          {invoice.lines.map((line, index) => (
            <Computed key={index} line={line} currency={currency} />
          ))}
          <Agreement recomputed={invoice.recomputed} charged={invoice.total} currency={currency} />
        </section>
      ) : null}
      <section aria-label={t.wallet.chain} className="grid gap-2">
        <h3 className="font-semibold">{t.wallet.chain}</h3>
        <p className="text-ink-2">{t.wallet.chainText(chain.version)}</p>
        <div className="flex items-center gap-2 rounded-lg bg-subtle py-1 pl-3 dark:bg-white/5">
          <code className="min-w-0 flex-1 text-2xs break-all text-ink-2">{chain.hash}</code>
          <CopyButton
            text={chain.hash}
            label={t.common.copyOf(t.wallet.hash)}
            doneLabel={t.common.copied}
          />
        </div>
      </section>
    </div>
  )
}

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="flex items-baseline justify-between gap-4 px-3.5 py-2">
      <dt className="shrink-0 text-ink-2">{term}</dt>
      <dd className="num min-w-0 text-right font-medium">{children}</dd>
    </div>
  )
}

function Computed({ line, currency }: { line: Line; currency: Currency }) {
  const t = useTexts('wallet')
  const { money, language } = useFormat()
  const { basis } = line
  return (
    <div className="rounded-lg p-3.5 shadow-[inset_0_0_0_1px_var(--border)]">
      <p className="font-medium">{line.description}</p>
      {line.period_start !== null && line.period_end !== null ? (
        <p className="num mt-0.5 text-xs text-ink-3">
          {t.wallet.period(formatTime(line.period_start), formatTime(line.period_end))}
          {basis
            ? ` · ${t.wallet.periodSeconds(basis.seconds, formatCount(basis.seconds, language))}`
            : null}
        </p>
      ) : null}
      <dl className="num mt-3 grid gap-2">
        {basis ? (
          <>
            {line.steps.map((step) => (
              <StepLine key={step.part} step={step} basis={basis} currency={currency} />
            ))}
            {line.quantity === 1 ? null : (
              <Sum term={t.wallet.taken} strong>
                {money(line.amount, currency)}
              </Sum>
            )}
          </>
        ) : (
          <Sum term={t.wallet.times(String(line.quantity), money(line.unit_price, currency))}>
            {money(line.amount, currency)}
          </Sum>
        )}
      </dl>
    </div>
  )
}

function StepLine({
  step,
  basis,
  currency,
}: {
  step: Step
  basis: NonNullable<Line['basis']>
  currency: Currency
}) {
  const t = useTexts('wallet')
  const { money, disk, language } = useFormat()
  const grouped = (number: number) => formatCount(number, language)
  const price = money(step.unit_price, currency)
  // A disk that is no whole number of GB is shown in MB, because the reader could not verify a
  // rounded figure.
  const gb =
    step.quantity % step.per === 0
      ? String(step.quantity / step.per)
      : `${grouped(step.quantity)}/${grouped(step.per)}`
  const texts: Record<Step['part'], { name: string; how: string }> = {
    plan: {
      name: t.wallet.plan(basis.plan),
      how: basis.sale_price === 0 ? '' : t.wallet.sale(money(basis.price, currency)),
    },
    disk: { name: t.wallet.disk, how: t.wallet.perGb(gb, price) },
    mariadb_disk: {
      name: t.wallet.mariadb,
      how:
        step.unit_price === 0
          ? `${disk(step.quantity)} GB, ${t.wallet.included}`
          : t.wallet.perGb(gb, price),
    },
    containers: { name: t.wallet.containers, how: t.wallet.times(String(step.quantity), price) },
    share: {
      name: t.wallet.share,
      how: t.wallet.secondsOf(grouped(step.quantity), grouped(step.per)),
    },
  }
  const { name, how } = texts[step.part]
  let rounded = ''
  if (step.rounded_up) rounded = `, ${t.wallet.roundedUp}`
  else if (step.rounded_down) rounded = `, ${t.wallet.roundedDown}`
  return (
    <Sum term={name} how={`${how}${rounded}`} strong={step.part === 'share'}>
      {money(step.amount, currency)}
    </Sum>
  )
}

function Sum({
  term,
  how,
  strong = false,
  children,
}: {
  term: string
  how?: string
  strong?: boolean
  children: string
}) {
  return (
    <div
      className={cx(
        'flex items-baseline justify-between gap-4',
        strong && 'border-t border-border pt-2',
      )}
    >
      <dt className="min-w-0">
        {term}
        {how ? <span className="block text-xs text-ink-3">{how}</span> : null}
      </dt>
      <dd className="shrink-0 whitespace-nowrap">{children}</dd>
    </div>
  )
}

/** The sum recomputed from what was stored with the invoice, beside what was charged. */
function Agreement({
  recomputed,
  charged,
  currency,
}: {
  recomputed: number
  charged: number
  currency: Currency
}) {
  const t = useTexts('wallet')
  const { money } = useFormat()
  const same = recomputed === charged
  const Mark = same ? CircleCheck : CircleAlert
  return (
    <p
      className={cx(
        'flex items-center gap-2 rounded-lg px-3.5 py-2.5',
        same ? 'bg-success-soft text-success' : 'bg-danger-soft text-danger',
      )}
    >
      <Mark aria-hidden className="size-4 shrink-0" />
      <span className="num">
        {t.wallet.recomputed}:{' '}
        <strong className="font-semibold">{money(recomputed, currency)}</strong>.{' '}
        {same ? `${t.wallet.agrees}.` : t.wallet.differs}
      </span>
    </p>
  )
}
