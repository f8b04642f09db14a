/** What older invoices take of a top-up before an order. Pure. */
import type { Invoice } from '../../contract/billing.ts'

/**
 * What open invoices take before a younger one, minor units. Money pays the oldest first and passes
 * over what it does not cover, so that less may do; but only all of them leave the younger one paid
 * whatever is topped up beyond.
 */
export const takenBefore = (invoices: readonly Invoice[]): number =>
  invoices
    .filter(({ status }) => status === 'open')
    .reduce((sum, { amount_due: older }) => sum + older, 0)

/** What the invoices that are older than this one take before it. `invoices`: newest first. */
export function olderDue(invoices: readonly Invoice[], id: string): number {
  const at = invoices.findIndex((invoice) => invoice.id === id)
  return at === -1 ? 0 : takenBefore(invoices.slice(at + 1))
}
