/** What is forgotten of payments of a customer who closes the account. Cards: forget-cards.ts. */
import type { Tx } from '../platform/db.ts'

/** From where a customer paid. */
export async function forgetAddresses(tx: Tx, customerId: string): Promise<void> {
  await tx.updateTable('payment').set({ ip: '' }).where('customer_id', '=', customerId).execute()
}
