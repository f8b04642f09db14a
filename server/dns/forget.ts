/** Erases parts of the domains of a customer who closes the account. */
import type { Tx } from '../platform/db.ts'

/**
 * Deletes the records and changes of a customer's domains, which are deleted already; their names
 * stay.
 */
export async function forgetRecords(tx: Tx, customerId: string): Promise<void> {
  await tx.deleteFrom('dns_change').where('customer_id', '=', customerId).execute()
  await tx
    .deleteFrom('dns_record')
    .where('zone_id', 'in', (eb) =>
      eb.selectFrom('dns_zone').select('id').where('customer_id', '=', customerId),
    )
    .execute()
}
