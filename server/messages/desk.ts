/** What the operator's desk asks of letters and SMS; their texts are not shown. */
import type { CustomerStory } from '../../contract/operator-desk.ts'
import type { Queryable, Tx } from '../platform/db.ts'

const shownLetters = 10

type Letter = CustomerStory['letters'][number]

function stateOf(row: { sent_at: Date | null; sealed_text: Buffer | null }): Letter['state'] {
  if (row.sent_at !== null) return 'sent'
  return row.sealed_text === null ? 'given_up' : 'waiting'
}

/** To any of these recipients, the newest ten. */
export async function lettersTo(
  db: Queryable,
  recipients: readonly string[],
): Promise<CustomerStory['letters']> {
  const rows = await db
    .selectFrom('message')
    .select(['id', 'created_at', 'channel', 'recipient', 'subject', 'sent_at', 'sealed_text'])
    .where('recipient', 'in', recipients)
    .orderBy('created_at', 'desc')
    .limit(shownLetters)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    at: row.created_at.toISOString(),
    channel: row.channel as Letter['channel'],
    to: row.recipient,
    subject: row.subject,
    state: stateOf(row),
  }))
}

/** Letters and SMS to these, sent or not: whoever they were for has closed the account. */
export async function forgetLetters(tx: Tx, recipients: readonly string[]): Promise<void> {
  await tx.deleteFrom('message').where('recipient', 'in', recipients).execute()
}
