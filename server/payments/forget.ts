/** Erases parts of the payments of a customer who closes the account. Cards: forget-cards.ts. */
import type { Tx } from '../platform/db.ts'

/** Erases the addresses (IP) that a customer paid from. */
export async function forgetAddresses(tx: Tx, customerId: string): Promise<void> {
  await tx.updateTable('payment').set({ ip: '' }).where('customer_id', '=', customerId).execute()
}

/** Deletes the rule for automatic top-up and the id of the charged card. The charges stay. */
export async function forgetAutoTopUp(tx: Tx, customerId: string): Promise<void> {
  await tx.deleteFrom('auto_top_up').where('customer_id', '=', customerId).execute()
  await tx
    .updateTable('auto_top_up_charge')
    .set({ card_id: '' })
    .where('customer_id', '=', customerId)
    .execute()
}
