/** Erases the tickets of a customer who closes the account. */
import { closedName } from '../auth/index.ts'
import type { Tx } from '../platform/db.ts'

/**
 * Deletes all tickets of a customer who closes the account, with their files; also letters from
 * this address that were assigned to no customer. The caller has locked the account, so that none
 * is opened meanwhile.
 */
export async function forgetTickets(
  tx: Tx,
  {
    customerId,
    email,
    former,
  }: {
    readonly customerId: string
    readonly email: string
    /** Letters from these addresses in those times. */
    readonly former: readonly {
      readonly address: string
      readonly from: Date
      readonly until: Date
    }[]
  },
): Promise<void> {
  // In other customers' tickets the name is replaced and the text stays.
  await tx
    .updateTable('ticket_message')
    .set({ author: closedName })
    .where('person_id', '=', customerId)
    .execute()
  await tx.deleteFrom('ticket_file').where('customer_id', '=', customerId).execute()
  await tx.deleteFrom('ticket').where('customer_id', '=', customerId).execute()
  await tx
    .deleteFrom('ticket')
    .where('customer_id', 'is', null)
    .where('sender_email', '=', email.toLowerCase())
    .execute()
  for (const { address, from, until } of former)
    await tx
      .deleteFrom('ticket')
      .where('customer_id', 'is', null)
      .where('sender_email', '=', address.toLowerCase())
      .where('opened_at', '>=', from)
      .where('opened_at', '<=', until)
      .execute()
}
