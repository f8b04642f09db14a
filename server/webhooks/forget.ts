/** Deletes the webhooks of a customer who closes the account. */
import type { Tx } from '../platform/db.ts'

/**
 * Deletes a customer's addresses with their deliveries, and the operator's finished deliveries
 * about the customer. Waiting ones are deleted once they end (`dropOfClosed`).
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
