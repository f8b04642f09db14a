/**
 * One transfer that two bank feeds report (decision 137). The bank gave it no reference, so each
 * feed numbers it itself. Only payment and amount show that both may be one transfer.
 */
import type { Tx } from '../platform/db.ts'
import type { Ledger } from '../wallet/index.ts'
import type { Source } from './driver.ts'
import type { PaymentRow } from './orders.ts'

/** Why such a movement waits in suspense. */
export const maybeTwice = 'maybe_twice'

/**
 * Whether this movement may already be in the books under another number; then a person decides.
 * One feed reports each movement once: each of its equal movements matches at most one movement of
 * the other feed. The caller has locked the payment's row.
 */
export async function mayBeKnown(
  tx: Tx,
  ledger: Pick<Ledger, 'toppedUpFor'>,
  driver: Source,
  payment: Pick<PaymentRow, 'code' | 'reference'>,
  { movement, amount }: { readonly movement: string; readonly amount: bigint },
): Promise<boolean> {
  const { name, mayBeOne } = driver
  if (!mayBeOne) return false
  const prefix = `${name}:`
  const credited = (await ledger.toppedUpFor(tx, payment.code)).filter(
    (of) => of.key.startsWith(prefix) && of.amount === amount,
  )
  const held = (
    await tx
      .selectFrom('payment_suspense')
      .select(['provider_transaction_id as movement', 'reason', 'resolved_at'])
      .where('driver', '=', name)
      .where('code', '=', payment.reference)
      .where('amount', '=', amount)
      .execute()
  ).filter((of) => of.movement !== movement)
  // Held rows that wait because each may equal a movement in the books.
  const waits = (of: (typeof held)[number]) => of.reason === maybeTwice && of.resolved_at === null
  const inBooks = new Set([
    ...credited.map(({ key }) => key.slice(prefix.length)),
    ...held.filter((of) => !waits(of)).map((of) => of.movement),
  ])
  inBooks.delete(movement)
  const known = [...inBooks].filter((other) => mayBeOne(movement, other)).length
  const taken = held.filter((of) => waits(of) && !mayBeOne(movement, of.movement)).length
  return known > taken
}
