/** What is forgotten of payments of a customer who closes the account. Cards: forget-cards.ts. */
import type { Tx } from '../platform/db.ts'

/** From where a customer paid. */
export async function forgetAddresses(tx: Tx, customerId: string): Promise<void> {
  await tx.updateTable('payment').set({ ip: '' }).where('customer_id', '=', customerId).execute()
}

/** The wish that a card tops the wallet up, and which card it was. What was charged stays. */
export async function forgetAutoTopUp(tx: Tx, customerId: string): Promise<void> {
  await tx.deleteFrom('auto_top_up').where('customer_id', '=', customerId).execute()
  await tx
    .updateTable('auto_top_up_charge')
    .set({ card_id: '' })
    .where('customer_id', '=', customerId)
    .execute()
}
