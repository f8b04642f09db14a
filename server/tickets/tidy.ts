/** How long tickets and their files are kept. */
import { sql } from 'kysely'
import { dropOld } from '../platform/batches.ts'
import { days, later, type Clock } from '../platform/clock.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import type { TicketDeps } from './deps.ts'
import { publish } from './letters.ts'
import { setState } from './store.ts'

/** Time after an answer without any further message. */
const answeredForMs = days(30)
const closedAtOnce = 100
/** Time after a ticket was closed. */
const filesKeptMs = days(180)
const filesAtOnce = 200

/**
 * Closes tickets whose last answer is 30 days old, so that the time begins for which they are kept.
 * Whatever is written in one opens it again, so no letter is sent.
 */
export async function closeQuietTickets(
  db: Database,
  deps: Pick<TicketDeps, 'clock' | 'outbox'>,
): Promise<void> {
  const now = deps.clock.now()
  const closeSome = async (tx: Tx): Promise<number> => {
    const rows = await tx
      .selectFrom('ticket')
      .selectAll()
      .where('state', '=', 'answered')
      .where('merged_into', 'is', null)
      .where('waiting_since', '<', later(now, -answeredForMs))
      .limit(closedAtOnce)
      .forUpdate()
      .skipLocked()
      .execute()
    for (const row of rows) {
      await setState(tx, row, 'closed', now)
      await publish(tx, deps, 'ticket.closed', row.id)
    }
    return rows.length
  }
  while ((await transaction(db, closeSome)) === closedAtOnce);
}

/**
 * Deletes uploads that no message has after a day, contents of files 180 days after their ticket
 * was closed, and whole tickets two years after.
 */
export async function dropOldTickets(db: Database, clock: Clock): Promise<void> {
  const now = clock.now()
  await dropOld(db, clock, 'ticket_file')
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      update ticket_file set content = null where id = any (array(
        select f.id from ticket t
        join ticket_message m on m.ticket_id = t.id
        join ticket_file f on f.message_id = m.id
        where t.closed_at < ${later(now, -filesKeptMs)} and f.content is not null
        limit ${filesAtOnce}))`.execute(db)
    if (numAffectedRows < BigInt(filesAtOnce)) break
  }
  await dropOld(db, clock, 'ticket')
}
