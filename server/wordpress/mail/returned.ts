/**
 * Handles a letter that comes back after it was sent: its log says so, its recipient gets nothing
 * from the site for a while, and it counts like one that was refused at once.
 */
import { sql } from 'kysely'
import { days, later } from '../../platform/clock.ts'
import { transaction, type Queryable, type Tx } from '../../platform/db.ts'
import type { MailDeps } from './deps.ts'
import type { DeliveryReport } from './report.ts'
import { forgetTexts } from './store.ts'
import { judgeBounces } from './suspension.ts'

/** Whether the address does not exist, or accepts no mail any more (RFC 3463, 3.2 and 3.3). */
const isOfAddress = (status: string): boolean => /^5\.(?:1\.\d+|2\.1|0\.0)$/.test(status)
const addressDays = 30
/** Any other reason, such as a letter taken for spam, may pass soon. */
const otherDays = 1

/**
 * Records a report. A second report about the same letter changes nothing. Answers whether anything
 * changed.
 */
export async function takeReport(
  deps: MailDeps,
  mailId: bigint,
  { isPermanent, status, said }: DeliveryReport,
): Promise<boolean> {
  const siteId = await transaction(deps.db, async (tx) => {
    const row = await tx
      .selectFrom('site_mail')
      .selectAll()
      .where('id', '=', mailId)
      .forUpdate()
      .executeTakeFirst()
    if (!row) return undefined
    // The report may overtake the worker that sent the letter and has not stored that yet.
    const isSent =
      row.state === 'sent' || (['waiting', 'held'].includes(row.state) && row.attempts > 0)
    if (!isSent) return undefined
    const now = deps.clock.now()
    await tx
      .updateTable('site_mail')
      .set({
        state: isPermanent ? 'bounced' : 'failed',
        why: said,
        returned_at: now,
        settled_at: row.settled_at ?? now,
        leased_until: null,
      })
      .where('id', '=', mailId)
      .execute()
    await forgetTexts(tx, [row.letter_id])
    if (isPermanent)
      await suppress(tx, {
        siteId: row.site_id,
        recipient: row.recipient,
        until: later(now, days(isOfAddress(status) ? addressDays : otherDays)),
      })
    return row.site_id
  })
  if (siteId === undefined) return false
  if (isPermanent) await transaction(deps.db, (tx) => judgeBounces(tx, deps, siteId))
  return true
}

async function suppress(
  tx: Tx,
  of: { siteId: string; recipient: string; until: Date },
): Promise<void> {
  await sql`
    insert into site_mail_suppressed (site_id, recipient, until)
    values (${of.siteId}, lower(${of.recipient}), ${of.until})
    on conflict (site_id, recipient) do update
      set until = greatest(site_mail_suppressed.until, excluded.until)`.execute(tx)
}

/** The recipients to which a site sends nothing now. */
export async function suppressedAmong(
  db: Queryable,
  of: { readonly siteId: string; readonly recipients: readonly string[]; readonly now: Date },
): Promise<ReadonlySet<string>> {
  const small = new Map(of.recipients.map((one) => [one.toLowerCase(), one]))
  const rows = await db
    .selectFrom('site_mail_suppressed')
    .select('recipient')
    .where('site_id', '=', of.siteId)
    .where('recipient', '=', sql<string>`any (${[...small.keys()]}::text[])`)
    .where('until', '>', of.now)
    .execute()
  const held = new Set(rows.map(({ recipient }) => recipient))
  return new Set(of.recipients.filter((one) => held.has(one.toLowerCase())))
}

/** Lets letters go to the address again. False: they did already. */
export async function allowRecipient(
  tx: Queryable,
  of: { readonly siteId: string; readonly recipient: string; readonly now: Date },
): Promise<boolean> {
  const row = await tx
    .deleteFrom('site_mail_suppressed')
    .where('site_id', '=', of.siteId)
    .where('recipient', '=', of.recipient.toLowerCase())
    .returning('until')
    .executeTakeFirst()
  return row !== undefined && row.until > of.now
}
