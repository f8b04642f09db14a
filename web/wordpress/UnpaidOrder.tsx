import type { ReactNode } from 'react'
import type { Server } from '../../contract/wordpress.ts'
import { useFormat } from '../format.ts'
import { useTexts } from '../i18n/index.ts'

interface UnpaidOrderProps {
  invoice: NonNullable<Server['invoice']>
  /** What older invoices take first of the money that is missing, minor units. */
  older: number
}

/** The invoice of an order that waits for money. */
export function UnpaidOrder({ invoice, older }: UnpaidOrderProps) {
  const t = useTexts('servers', 'site')
  const { money } = useFormat()
  return (
    <dl
      className={
        'mt-6 divide-y divide-border rounded-lg text-sm shadow-[inset_0_0_0_1px_var(--border)]'
      }
    >
      {/* It has no number before it is paid, and several may wait. */}
      <Line term={t.progress.invoiceId}>{invoice.number ?? invoice.id}</Line>
      <Line term={t.progress.amountPaid}>{money(invoice.amount_paid, invoice.currency)}</Line>
      <Line term={t.progress.amountDue}>
        <b className="font-semibold">{money(invoice.amount_due, invoice.currency)}</b>
      </Line>
      {older > 0 ? <Line term={t.progress.olderDue}>{money(older, invoice.currency)}</Line> : null}
    </dl>
  )
}

function Line({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="flex justify-between gap-4 px-3.5 py-2.5">
      <dt className="text-ink-3">{term}</dt>
      <dd className="num text-right font-medium wrap-anywhere">{children}</dd>
    </div>
  )
}
