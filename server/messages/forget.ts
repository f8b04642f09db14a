/** What is forgotten of letters and SMS of a customer who closes the account. */
import type { Tx } from '../platform/db.ts'

/** Letters and SMS to these, sent or not: whoever they were for has closed the account. */
export async function forgetLetters(
  tx: Tx,
  recipients: readonly string[],
  /** What was sent there in that time. */
  former: readonly { readonly address: string; readonly from: Date; readonly until: Date }[],
): Promise<void> {
  await tx.deleteFrom('message').where('recipient', 'in', recipients).execute()
  for (const { address, from, until } of former)
    await tx
      .deleteFrom('message')
      .where('recipient', '=', address)
      .where('created_at', '>=', from)
      .where('created_at', '<=', until)
      .execute()
}
