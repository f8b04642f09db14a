/** What is forgotten of the tickets of a customer who closes the account. */
import { closedName } from '../auth/index.ts'
import type { Tx } from '../platform/db.ts'

/**
 * All of a customer who closes the account, with their files; also what came from this address and
 * was given to nobody. Called while the account is held, so that none is opened meanwhile.
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
    /** What came from there in that time. */
    readonly former: readonly {
      readonly address: string
      readonly from: Date
      readonly until: Date
    }[]
  },
): Promise<void> {
  // In tickets of others the name goes, and what was written stays.
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
