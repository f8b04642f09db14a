/** SQL of letters and their recipients. */
import { sql } from 'kysely'
import { hours, later, type Clock } from '../../platform/clock.ts'
import { dropOld } from '../../platform/batches.ts'
import type { Database, Queryable, Tx } from '../../platform/db.ts'
import type { Jobs } from '../../platform/jobs.ts'

/** Sends what is due of a site. Payload { siteId }. */
export const sendMailJob = 'send-site-mail'

/** Of one site. */
const mostWaitingBytes = 100 * 1_048_576

export async function settingOf(db: Queryable, siteId: string) {
  return await db
    .selectFrom('site_mail_setting')
    .selectAll()
    .where('site_id', '=', siteId)
    .executeTakeFirst()
}

/** The row of a site's setting, locked; made where there is none. */
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

export const hourMs = hours(1)

/** Handed to the relay within the hour before `now`, or in a worker's hands. */
export async function sentInHour(db: Queryable, siteId: string, now: Date): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select (
      (select count(*) from site_mail where site_id = ${siteId}
        and settled_at > ${later(now, -hourMs)}
        and (state in ('sent', 'bounced') or returned_at is not null))
      + (select count(*) from site_mail where site_id = ${siteId} and state = 'waiting'
        and leased_until > ${now})
    )::int as n`.execute(db)
  return rows[0]?.n ?? 0
}

/**
 * Whether so many recipients were taken within the hour before `now`, or so many bytes wait, that
 * no more is taken of a site.
 */
export async function isFull(
  db: Queryable,
  of: { readonly siteId: string; readonly now: Date; readonly mostAnHour: number },
): Promise<boolean> {
  const { rows } = await sql<{ full: boolean | null }>`
    select (select created_at > ${later(of.now, -hourMs)} from site_mail
        where site_id = ${of.siteId} order by id desc offset ${of.mostAnHour - 1} limit 1) is true
      or coalesce((select sum(bytes) from site_letter
        where site_id = ${of.siteId} and sealed is not null), 0) > ${mostWaitingBytes} as full
  `.execute(db)
  return rows[0]?.full === true
}

export async function countWaiting(db: Queryable, siteId: string): Promise<number> {
  const { n } = await db
    .selectFrom('site_mail')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('site_id', '=', siteId)
    .where('state', 'in', ['waiting', 'held'])
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** When one more may be sent: an hour after the limit-th newest that went out. */
export async function limitEndsAt(
  db: Queryable,
  siteId: string,
  limit: number,
  now: Date,
): Promise<Date> {
  const row = await db
    .selectFrom('site_mail')
    .select('settled_at')
    .where('site_id', '=', siteId)
    .where('settled_at', 'is not', null)
    .where(({ eb, or }) =>
      or([eb('state', 'in', ['sent', 'bounced']), eb('returned_at', 'is not', null)]),
    )
    .orderBy('settled_at', 'desc')
    .offset(Math.max(0, limit - 1))
    .limit(1)
    .executeTakeFirst()
  const ends = row?.settled_at ? later(row.settled_at, hourMs) : now
  // Those in other workers' hands have no end yet.
  return ends > now ? ends : later(now, 60_000)
}

const aMomentMs = 30_000

/**
 * Has a job come when the next of what waits is due; none where one comes by then already.
 */
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
  // One that comes in a moment may come a moment too soon: clocks differ.
  if (wake !== null && wake > later(now, aMomentMs) && wake <= at) return
  await tx
    .updateTable('site_mail_setting')
    .set({ wake_at: at })
    .where('site_id', '=', siteId)
    .execute()
  // The queue goes by the wall clock, whatever ours says.
  const waitMs = Math.max(0, at.getTime() - now.getTime())
  await jobs.add(
    tx,
    sendMailJob,
    { siteId },
    waitMs === 0 ? {} : { startAfter: new Date(Date.now() + waitMs) },
  )
}

/** The text of letters for which nobody waits any more is forgotten. */
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

/** The texts of all of a site's letters for which nobody waits. */
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

/** Letters, settings and keys of a site that is gone. */
export async function forgetMail(tx: Tx, siteId: string): Promise<void> {
  for (const table of [
    'site_letter',
    'site_mail_setting',
    'site_mail_key',
    'site_mail_suppressed',
  ] as const)
    await tx.deleteFrom(table).where('site_id', '=', siteId).execute()
}

/** Letters that are older than what is kept, with their recipients, and who may be written to. */
export async function dropOldMail(db: Database, clock: Clock): Promise<void> {
  await dropOld(db, clock, 'site_letter')
  await dropOld(db, clock, 'site_mail_suppressed')
}
