/** What is forgotten of the webhooks of a customer who closes the account. */
import type { Tx } from '../platform/db.ts'

/**
 * All of a customer, with their deliveries, and what was sent of them to the operator. What waits
 * to be sent there goes when it is over (`dropOfClosed`).
 */
export async function forgetEndpoints(tx: Tx, customerId: string): Promise<void> {
  await tx.deleteFrom('webhook_endpoint').where('customer_id', '=', customerId).execute()
  await tx
    .deleteFrom('webhook_delivery')
    .where('state', '<>', 'waiting')
    .where('id', 'in', (eb) =>
      eb.selectFrom('webhook_subject').select('delivery_id').where('customer_id', '=', customerId),
    )
    .execute()
}
