/**
 * How many letters of a site may be sent within an hour, by its plan, and how many more are taken
 * from it.
 */
import { sql } from 'kysely'
import { usualMailAnHour } from '../../catalog/index.ts'
import { hours, later } from '../../platform/clock.ts'
import type { Queryable } from '../../platform/db.ts'
import type { SiteRow } from '../store.ts'
import type { MailDeps } from './deps.ts'

/** Most bytes of one site's waiting letters. */
const mostWaitingBytes = 100 * 1_048_576
/** The recipients taken within an hour are at most this many times those that the plan lets out. */
const takenForEachSent = 5

/**
 * The plan's limit of recipients within an hour; the usual limit where the plan is no longer in the
 * catalogue.
 */
export const hourLimitOf = (
  { catalog }: Pick<MailDeps, 'catalog'>,
  site: Pick<SiteRow, 'plan_id'>,
): number => catalog.plans.find(({ id }) => id === site.plan_id)?.mailAnHour ?? usualMailAnHour

const hourMs = hours(1)

/**
 * Recipients whose letters were handed to the relay within the hour before `now`, or that a worker
 * is sending now.
 */
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
 * Whether no more letters are taken from a site, because of the recipients taken within the hour
 * before `now`, or of the bytes that wait. `limit`: recipients that its plan lets out within an
 * hour.
 */
export async function isFull(
  db: Queryable,
  of: { readonly siteId: string; readonly now: Date; readonly limit: number },
): Promise<boolean> {
  const mostAnHour = of.limit * takenForEachSent
  const { rows } = await sql<{ full: boolean | null }>`
    select (select created_at > ${later(of.now, -hourMs)} from site_mail
        where site_id = ${of.siteId} order by id desc offset ${mostAnHour - 1} limit 1) is true
      or coalesce((select sum(bytes) from site_letter
        where site_id = ${of.siteId} and sealed is not null), 0) > ${mostWaitingBytes} as full
  `.execute(db)
  return rows[0]?.full === true
}

/** When the next letter may be sent: an hour after the limit-th newest that was sent. */
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
  // Letters that other workers are sending have no end yet.
  return ends > now ? ends : later(now, 60_000)
}
