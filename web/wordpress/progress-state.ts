/** The stage of an order, from the server's response. Pure. */
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
 * A waiting order with a reason is not charged, because its data centre is full. After an
 * invoice.payment_failed event the order and the wallet are read again: an open invoice above the
 * balance means that money is missing, also on a page that is opened later. A sufficient balance is
 * charged soon, so no top-up is offered.
 */
export function stageOf(server: Server, balance: number): Stage {
  if (server.status !== 'pending_payment') return server.status
  const due = server.invoice?.amount_due ?? 0
  if (server.reason !== null && balance >= due) return 'roomless'
  return balance < due ? 'unpaid' : 'paying'
}

/** The wizard's step, 1 to 3; 4 when all are done. A failed payment returns to the first. */
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
