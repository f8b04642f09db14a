/** SQL of letters and their recipients. */
import { sql } from 'kysely'
import { later, type Clock } from '../../platform/clock.ts'
import { dropOld } from '../../platform/batches.ts'
import { newestFirst, type PageRequest } from '../../platform/cursor.ts'
import type { Database, Queryable, Tx } from '../../platform/db.ts'
import type { Jobs } from '../../platform/jobs.ts'

/** Sends the letters of a site that are due. Payload { siteId }. */
export const sendMailJob = 'send-site-mail'

export async function settingOf(db: Queryable, siteId: string) {
  return await db
    .selectFrom('site_mail_setting')
    .selectAll()
    .where('site_id', '=', siteId)
    .executeTakeFirst()
}

/** The row of a site's mail settings, locked; created where there is none. */
export async function lockSetting(tx: Tx, siteId: string) {
  await tx
    .insertInto('site_mail_setting')
    .values({ site_id: siteId })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return await tx
    .selectFrom('site_mail_setting')
    .selectAll()
    .where('site_id', '=', siteId)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

/** Null: the usual sender. */
export async function chooseSender(tx: Tx, siteId: string, sender: string | null): Promise<void> {
  await lockSetting(tx, siteId)
  await tx.updateTable('site_mail_setting').set({ sender }).where('site_id', '=', siteId).execute()
}

/**
 * Switches a site's mail on or off. Off, waiting letters are refused: the owner may have found out
 * that somebody else wrote them.
 */
export async function switchMail(
  tx: Tx,
  clock: Clock,
  siteId: string,
  enabled: boolean,
): Promise<void> {
  await tx.updateTable('site').set({ mail_enabled: enabled }).where('id', '=', siteId).execute()
  if (enabled) return
  await tx
    .updateTable('site_mail')
    .set({ state: 'refused', why: 'off', settled_at: clock.now(), leased_until: null })
    .where('site_id', '=', siteId)
    .where('state', 'in', ['waiting', 'held'])
    .execute()
  await forgetTextsOf(tx, siteId)
}

/** What a site sent, one row a recipient, the newest first. */
export const sentPage = (db: Queryable, siteId: string, page: PageRequest) =>
  newestFirst(
    db
      .selectFrom('site_mail as m')
      .innerJoin('site_letter as l', 'l.id', 'm.letter_id')
      .where('m.site_id', '=', siteId)
      .select([
        'm.id',
        'm.recipient',
        'm.state',
        'm.why',
        'm.attempts',
        'm.next_at',
        'm.returned_at',
        'm.created_at',
        'l.from_address',
        'l.named_from',
        'l.subject',
      ]),
    'm.id',
    page,
  )

export async function countWaiting(db: Queryable, siteId: string): Promise<number> {
  const { n } = await db
    .selectFrom('site_mail')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('site_id', '=', siteId)
    .where('state', 'in', ['waiting', 'held'])
    .executeTakeFirstOrThrow()
  return Number(n)
}

const aMomentMs = 30_000

/** Adds a job for when the next waiting letter is due, unless a job comes by then already. */
export async function wakeFor(
  tx: Tx,
  { jobs, clock }: { readonly jobs: Pick<Jobs, 'add'>; readonly clock: Clock },
  siteId: string,
): Promise<void> {
  const setting = await lockSetting(tx, siteId)
  const { rows } = await sql<{ at: Date | null }>`
    select min(greatest(next_at, coalesce(leased_until, next_at))) as at from site_mail
    where site_id = ${siteId} and state = 'waiting'`.execute(tx)
  const at = rows[0]?.at
  const now = clock.now()
  if (!at) return
  const wake = setting.wake_at
  // A job that is due within moments may run too early: clocks differ.
  if (wake !== null && wake > later(now, aMomentMs) && wake <= at) return
  await tx
    .updateTable('site_mail_setting')
    .set({ wake_at: at })
    .where('site_id', '=', siteId)
    .execute()
  // The queue uses the wall clock, even where ours is a test's.
  const waitMs = Math.max(0, at.getTime() - now.getTime())
  await jobs.add(
    tx,
    sendMailJob,
    { siteId },
    waitMs === 0 ? {} : { startAfter: new Date(Date.now() + waitMs) },
  )
}

/** Deletes the text of letters that no recipient waits for any more. */
export async function forgetTexts(db: Queryable, letterIds: readonly bigint[]): Promise<void> {
  if (letterIds.length === 0) return
  await db
    .updateTable('site_letter')
    .set({ sealed: null })
    .where('id', 'in', [...letterIds])
    .where('sealed', 'is not', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('site_mail as m')
            .select('m.id')
            .whereRef('m.letter_id', '=', 'site_letter.id')
            .where('m.state', 'in', ['waiting', 'held']),
        ),
      ),
    )
    .execute()
}

/** Deletes the texts of all of a site's letters that no recipient waits for. */
export async function forgetTextsOf(db: Queryable, siteId: string): Promise<void> {
  const rows = await db
    .selectFrom('site_letter')
    .select('id')
    .where('site_id', '=', siteId)
    .where('sealed', 'is not', null)
    .execute()
  await forgetTexts(
    db,
    rows.map(({ id }) => id),
  )
}

/** Deletes letters, settings and keys of a deleted site. */
export async function forgetMail(tx: Tx, siteId: string): Promise<void> {
  for (const table of [
    'site_letter',
    'site_mail_setting',
    'site_mail_key',
    'site_mail_suppressed',
  ] as const)
    await tx.deleteFrom(table).where('site_id', '=', siteId).execute()
}

/**
 * Deletes letters that are older than the log is kept, with their recipients, and expired blocks of
 * recipients.
 */
export async function dropOldMail(db: Database, clock: Clock): Promise<void> {
  await dropOld(db, clock, 'site_letter')
  await dropOld(db, clock, 'site_mail_suppressed')
}
