/** How long tickets and their files are kept. */
import { sql } from 'kysely'
import { deleteInBatches } from '../platform/batches.ts'
import { days, hours, later, type Clock } from '../platform/clock.ts'
import type { Database, Tx } from '../platform/db.ts'

/** Of files, after their ticket was closed. */
const filesKeptMs = days(180)
/** Of a whole ticket, after it was closed. */
const ticketsKeptMs = days(730)
/** Of an upload that no message has. */
const uploadsKeptMs = hours(24)
const filesAtOnce = 200

/**
 * Deletes uploads that no message has after a day, contents of files 180 days after their ticket
 * was closed, and whole tickets two years after.
 */
export async function dropOldTickets(db: Database, clock: Clock): Promise<void> {
  const now = clock.now()
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from ticket_file where id = any (array(
        select id from ticket_file
        where message_id is null and created_at < ${later(now, -uploadsKeptMs)}
        limit ${filesAtOnce}))`.execute(db)
    if (numAffectedRows < BigInt(filesAtOnce)) break
  }
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
  await deleteInBatches(db, 'ticket', 'closed_at', later(now, -ticketsKeptMs))
}

/** All of a customer who closes the account, with their files. */
export async function forgetTickets(tx: Tx, customerId: string): Promise<void> {
  await tx.deleteFrom('ticket_file').where('customer_id', '=', customerId).execute()
  await tx.deleteFrom('ticket').where('customer_id', '=', customerId).execute()
}
