/** Deletes the notifications of a customer who closes the account. */
import type { Tx } from '../platform/db.ts'

/** All of a customer, those that are not sent yet too. */
export async function forgetNotifications(tx: Tx, customerId: string): Promise<void> {
  await tx.deleteFrom('notification').where('customer_id', '=', customerId).execute()
}
