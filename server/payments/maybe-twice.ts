/**
 * One transfer that two bank feeds tell of (decision 137). The bank gave it no reference, so each
 * feed names it by a number of its own, and only payment and amount say that it may be the same.
 */
import type { Tx } from '../platform/db.ts'
import type { Ledger } from '../wallet/index.ts'
import type { Source } from './driver.ts'
import type { PaymentRow } from './orders.ts'

/** Why such a movement waits in suspense. */
export const maybeTwice = 'maybe_twice'

/**
 * Whether this may be a movement that is in the books under another number already: then a person
 * decides. One reporter tells of each movement once, so of two equal movements that it tells of,
 * each can be only one of those that another told of. The payment's row is locked by the caller.
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
  // Each of these waits for being one of those in the books.
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
