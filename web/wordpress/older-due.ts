/** What older invoices take of a top-up before an order. Pure. */
import type { Invoice } from '../../contract/billing.ts'

/**
 * What open invoices that are older than this one take, minor units, when the wallet holds just
 * enough for this one to be paid as well: money pays the oldest first, and an invoice that the
 * wallet is short for keeps no other back. `invoices`: newest first.
 */
export function olderDue(invoices: readonly Invoice[], id: string): number {
  const at = invoices.findIndex((invoice) => invoice.id === id)
  if (at === -1) return 0
  const due = invoices[at]?.amount_due ?? 0
  const needed = invoices
    .slice(at + 1)
    .filter(({ status }) => status === 'open')
    .reduce((need, { amount_due: older }) => (need < older ? need : need + older), due)
  return needed - due
}
