/** What older invoices take of a top-up before an order. Pure. */
import type { Invoice } from '../../contract/billing.ts'

/**
 * What open invoices take before a younger one of `due`, minor units, when the wallet holds just
 * enough for that one to be paid as well: money pays the oldest first, and an invoice that the
 * wallet is short for keeps no other back. `invoices`: newest first.
 */
export function takenBefore(invoices: readonly Invoice[], due: number): number {
  const needed = invoices
    .filter(({ status }) => status === 'open')
    .reduce((need, { amount_due: older }) => (need < older ? need : need + older), due)
  return needed - due
}

/** What the invoices that are older than this one take before it. `invoices`: newest first. */
export function olderDue(invoices: readonly Invoice[], id: string): number {
  const at = invoices.findIndex((invoice) => invoice.id === id)
  return at === -1 ? 0 : takenBefore(invoices.slice(at + 1), invoices[at]?.amount_due ?? 0)
}
