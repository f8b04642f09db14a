/** The state of an order, from the server's response. Pure. */
import type { Server } from '../../contract/wordpress.ts'

export type Stage =
  | 'paying'
  | 'unpaid'
  | 'roomless'
  | 'provisioning'
  | 'running'
  | 'failed'
  | 'suspended'
  | 'deleting'

/**
 * A reason beside an order that waits is that its data centre is full: it is not charged.
 * An invoice.payment_failed event leads to a new look at the order and at the wallet; an open
 * invoice above the balance then says that money is lacking, on a page opened later too. A wallet
 * that covers it is charged soon, however long that takes: there is nothing to top up.
 */
export function stageOf(server: Server, balance: number): Stage {
  if (server.status !== 'pending_payment') return server.status
  const due = server.invoice?.amount_due ?? 0
  if (server.reason !== null && balance >= due) return 'roomless'
  return balance < due ? 'unpaid' : 'paying'
}

/**
 * The step of the wizard, 1 to 3; 4 when all are done. A failed payment leads back to the first.
 */
export const stepOf: Record<Stage, number> = {
  paying: 2,
  unpaid: 1,
  roomless: 2,
  provisioning: 3,
  running: 4,
  failed: 3,
  suspended: 4,
  deleting: 4,
}
