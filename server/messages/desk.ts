/** Queries of the operator's desk about letters and SMS; their texts are not shown. */
import { sql } from 'kysely'
import type { CustomerStory } from '../../contract/operator-desk.ts'
import type { DeskLetter, DeskLetterState } from '../../contract/operator-work.ts'
import type { TimePosition } from '../platform/cursor.ts'
import type { Queryable } from '../platform/db.ts'

const shownLetters = 10

type Letter = CustomerStory['letters'][number]

function stateOf(row: { sent_at: Date | null; sealed_text: Buffer | null }): Letter['state'] {
  if (row.sent_at !== null) return 'sent'
  return row.sealed_text === null ? 'given_up' : 'waiting'
}

/**
 * Messages in one state, newest first. `before`: the end of the previous page; its time does not
 * grow with the list (index `message_desk`).
 */
export async function listMessages(
  db: Queryable,
  state: DeskLetterState,
  { limit, before }: { readonly limit: number; readonly before: TimePosition | null },
): Promise<{ rows: DeskLetter[]; next: TimePosition | null }> {
  // The same expression as in the index (migration 0124), and a literal: otherwise a prepared plan
  // does not use the index.
  const stateIs = sql<boolean>`(case
    when message.sent_at is not null then 'sent'
    when message.sealed_text is not null then 'waiting'
    else 'failed' end) = ${sql.lit(state)}`
  let query = db
    .selectFrom('message')
    .leftJoin('message_kept as k', 'k.message_id', 'message.id')
    .select([
      'id',
      'created_at',
      'channel',
      'recipient',
      'subject',
      'sent_at',
      'expires_at',
      'failure',
      'resent_of',
      'k.kept_until',
    ])
    .where(stateIs)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (before !== null)
    query = query.where(sql<boolean>`(created_at, id) < (${before.at}, ${before.id}::uuid)`)
  const found = await query.execute()
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return {
    rows: rows.map((row) => ({
      id: row.id,
      at: row.created_at.toISOString(),
      channel: row.channel as DeskLetter['channel'],
      to: row.recipient,
      subject: row.subject,
      state,
      sentAt: row.sent_at?.toISOString() ?? null,
      until: row.expires_at?.toISOString() ?? null,
      why: row.failure,
      again: row.resent_of !== null,
      sendable: state === 'waiting' || row.kept_until !== null,
    })),
    next: found.length > limit && last ? { at: last.created_at, id: last.id } : null,
  }
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
