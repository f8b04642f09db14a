/** What a top-up pays before an order. Pure. */
import type { Invoice } from '../../contract/billing.ts'

/**
 * What is due on open invoices that are older than this one, minor units: money that comes into the
 * wallet pays the oldest first. `invoices`: newest first.
 */
export function olderDue(invoices: readonly Invoice[], id: string): number {
  const at = invoices.findIndex((invoice) => invoice.id === id)
  if (at === -1) return 0
  return invoices
    .slice(at + 1)
    .filter(({ status }) => status === 'open')
    .reduce((sum, invoice) => sum + invoice.amount_due, 0)
}
