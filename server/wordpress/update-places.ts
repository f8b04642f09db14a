/**
 * How many updates are between their backup and their end at once. Writes to a site are held all
 * that time, and the hold is not renewed while its update waits for a worker. So no more are begun
 * than there are workers, and of one customer's servers one at a time: whose sites are slow makes
 * nobody wait but himself.
 */
import { sql, type RawBuilder } from 'kysely'
import { hours, later } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import { lockKeys } from '../platform/lock-keys.ts'
import { updateJob } from './update-store.ts'

/** For each process of the portal. */
export const updatesAtOnce = 2
/**
 * An update whose node is away, or that cannot end for another reason, keeps its place for so long.
 * An honest one ends within it, or its hold has had a gap.
 */
const placeMs = hours(1)

/** Updates under way that need a worker: those of a suspended server wait for it, for days. */
const placed = sql`u.state in ('saving', 'updating', 'checking', 'rolling_back')
  and s.status = 'running'`
const keepsPlace = (now: Date) => sql`${placed}
  and coalesce(u.begun_at, u.created_at) > ${later(now, -placeMs)}`

/** Whether an update may begin. */
export async function hasPlace(
  db: Queryable,
  of: {
    readonly updateId: string
    readonly customerId: string
    /** How many there are. */
    readonly places: number
    readonly now: Date
  },
): Promise<boolean> {
  const { rows } = await sql<{ taken: number; own: number }>`
    select count(*)::int as taken,
      count(*) filter (where s.customer_id = ${of.customerId})::int as own
    from site_update u join site s on s.id = u.site_id
    where ${keepsPlace(of.now)} and u.id <> ${of.updateId}`.execute(db)
  const [{ taken, own } = { taken: 0, own: 0 }] = rows
  return own === 0 && taken < of.places
}

/** The same for the transaction that begins it: no other finds the same place. */
export async function takePlace(tx: Tx, of: Parameters<typeof hasPlace>[1]): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(${lockKeys.beginUpdate})`.execute(tx)
  return await hasPlace(tx, of)
}

/** Has an update that waits looked at again, at once or at a moment. */
export const lookAgain = (
  tx: Tx,
  jobs: Pick<Jobs, 'add'>,
  updateId: string,
  startAfter = new Date(),
): Promise<void> =>
  jobs.add(tx, updateJob, { updateId, begins: true }, { startAfter, replaces: true })

/** Updates of this customer that wait or have a place; `customer`: his id, or a column with it. */
export const updatesOf = (customer: RawBuilder<unknown>, now: Date) => sql`
  select u.id from site_update u join site s on s.id = u.site_id
  where s.customer_id = ${customer} and (u.state = 'waiting' or ${keepsPlace(now)})`

/** A place is free: those that wait longest are looked at, one of a customer who has none. */
export async function callNext(tx: Tx, jobs: Pick<Jobs, 'add'>): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from (
      select distinct on (w.customer_id) v.id, v.seq
      from site_update v join site w on w.id = v.site_id
      where v.state = 'waiting' and not exists (
        select from site_update u join site s on s.id = u.site_id
        where ${placed} and s.customer_id = w.customer_id)
      order by w.customer_id, v.seq) as next
    order by seq limit ${updatesAtOnce}`.execute(tx)
  for (const { id } of rows) await lookAgain(tx, jobs, id)
}
