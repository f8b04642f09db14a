/** Counts of messages for an operator. */
import { sql } from 'kysely'
import { days, later, type Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { keptTextMs } from './again.ts'

export const messageChannels = ['mail', 'sms'] as const

/** Older ones are not looked at: a letter is tried for five days (index `message_desk`). */
const lookedAtMs = days(14)

/**
 * Messages by channel that were given up within the last day and not sent again: refused by the
 * mail server or the SMS gateway, letters that were too old, and codes that failed until they
 * expired.
 */
export async function countGivenUp(
  db: Queryable,
  clock: Clock,
): Promise<ReadonlyMap<(typeof messageChannels)[number], number>> {
  const now = clock.now()
  const since = later(now, -days(1))
  // The first condition is that of the partial index. A letter's text is kept from the time it was
  // given up.
  const { rows } = await sql<{ channel: string; n: bigint }>`
    select m.channel, count(*) as n from message m
    left join message_kept k on k.message_id = m.id
    where (case
        when m.sent_at is not null then 'sent'
        when m.sealed_text is not null then 'waiting'
        else 'failed' end) = 'failed'
      and m.created_at > ${later(now, -lookedAtMs)} and m.failure is not null
      and (m.expires_at > ${since} or k.kept_until > ${later(since, keptTextMs)})
      and not exists (select from message r
        where r.recipient = m.recipient and r.resent_of = m.id)
    group by m.channel`.execute(db)
  return new Map(
    messageChannels.map((channel) => [
      channel,
      Number(rows.find((row) => row.channel === channel)?.n ?? 0),
    ]),
  )
}
