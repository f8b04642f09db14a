/** Deletes letters and SMS to a customer who closes the account. */
import type { Tx } from '../platform/db.ts'

/** Deletes letters and SMS to these recipients, sent or not. */
export async function forgetLetters(
  tx: Tx,
  recipients: readonly string[],
  /** Former addresses: only messages from that time are deleted. */
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
