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
 * The charge follows the order within moments; an order that still waits after this long lacks
 * money.
 */
const chargeSeconds = 15

/**
 * A reason beside an order that waits is that its data centre is full: it is not charged.
 * `refused` is true after an invoice.payment_failed event for this server. Without one, an open
 * invoice above the balance says the same, so that a page opened later shows it too.
 */
export function stageOf(server: Server, balance: number, refused: boolean, nowMs: number): Stage {
  if (server.status !== 'pending_payment') return server.status
  const due = server.invoice?.amount_due ?? 0
  if (server.reason !== null && balance >= due) return 'roomless'
  const waited = (nowMs - Date.parse(server.createdAt)) / 1000
  return due > 0 && (refused || balance < due || waited > chargeSeconds) ? 'unpaid' : 'paying'
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
