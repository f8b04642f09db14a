/** What is forgotten of letters and SMS of a customer who closes the account. */
import type { Tx } from '../platform/db.ts'

/** Letters and SMS to these, sent or not: whoever they were for has closed the account. */
export async function forgetLetters(tx: Tx, recipients: readonly string[]): Promise<void> {
  await tx.deleteFrom('message').where('recipient', 'in', recipients).execute()
}
