/** Erases the offers of a customer who closes the account. */
import type { Tx } from '../platform/db.ts'

/** An account is closed: its offers are void, and addresses of others go. */
export async function forgetOffers(tx: Tx, customerId: string): Promise<void> {
  await tx.deleteFrom('hand_over').where('from_id', '=', customerId).execute()
  await tx
    .updateTable('hand_over')
    .set({ email: 'closed account' })
    .where('to_id', '=', customerId)
    .execute()
}
