/**
 * Checks customers' host names again, each about once a day. A name that no longer holds is marked
 * but not removed: its owner may be moving it.
 */
import { sql } from 'kysely'
import { hours, later, type Clock } from '../platform/clock.ts'
import type { Database, Queryable } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Evidence } from './ownership.ts'

/**
 * Names looked at in parallel by one worker. At a second a name, 8 do 8 * 2,900 = 23,000 in an
 * hour's round: 550,000 a day, five for each of 100,000 servers. Several workers share what is due.
 */
const together = 8
/** Names that each of them claims at once. */
const takenAtOnce = 8
/** A run ends before the next one begins, an hour later. */
const limitSeconds = 3000
/** No new names are claimed after this, so that the claimed ones are done within the limit. */
const roundSeconds = limitSeconds - 100
/** Less than a day, so that a late round does not make the next one skip names. */
export const recheckGapMs = hours(20)
/** How long a claimed name waits if nobody answered about it or its worker was killed. */
const leaseMs = hours(1)

/** Marks a name proven by a domain that is active in the same account here. */
export const ownZone = 'zone'

interface Due {
  readonly id: bigint
  readonly name: string
  readonly customer_id: string
  readonly proof: string
  readonly site_name: string
}

/**
 * Defines the hourly job. `evidence` may reject: the name is then looked at an hour later, and the
 * others are not held up.
 */
export function defineRecheck(deps: {
  db: Database
  clock: Clock
  log: Log
  jobs: Jobs
  evidence: (name: string, customerId: string, siteName: string) => Promise<Evidence>
  /** Whether the name lies in a domain that is active in the customer's own account here. */
  isZoneOf: (db: Queryable, customerId: string, name: string) => Promise<boolean>
}): void {
  const { db, clock, log } = deps

  async function recheck(held: Due): Promise<void> {
    const byZone = held.proof === ownZone
    const seen = await deps.evidence(held.name, held.customer_id, held.site_name)
    // A domain that was deleted here, or moved away, proves nothing any more; its owner may point
    // the name at the server from elsewhere.
    const found =
      byZone && (await deps.isZoneOf(db, held.customer_id, held.name))
        ? { ...seen, verified: true, proof: ownZone, answered: true }
        : seen
    if (!found.answered) return
    const now = clock.now()
    await db
      .updateTable('site_domain')
      // The way of the first proof is kept: should the domain come back, it proves the name again.
      .set({
        verified: found.verified,
        pointed: found.pointed,
        checked_at: now,
        next_check_at: later(now, recheckGapMs),
        ...(found.proof !== null && !byZone && { proof: found.proof }),
      })
      .where('id', '=', held.id)
      .execute()
  }

  /** Claims names that are due; no other worker takes them until the lease is over. */
  async function claimDue(until: Date): Promise<Due[]> {
    const { rows } = await sql<Due>`
      update site_domain d set next_check_at = ${later(until, leaseMs)}
      from site s
      where s.id = d.site_id and d.id = any (array(
        select id from site_domain where released_at is null and next_check_at <= ${until}
        order by next_check_at limit ${takenAtOnce} for update skip locked))
      returning d.id, d.name, d.customer_id, d.proof, s.name as site_name`.execute(db)
    return rows
  }

  deps.jobs.define({
    name: 'recheck-domains',
    cron: '17 * * * *',
    retries: 0,
    limitSeconds,
    run: async (_payload, { signal }) => {
      const until = performance.now() + roundSeconds * 1000
      const take = async (): Promise<void> => {
        for (;;) {
          if (signal.aborted || performance.now() > until) return
          const due = await claimDue(clock.now())
          if (due.length === 0) return
          for (const held of due) {
            if (signal.aborted) return
            try {
              await recheck(held)
            } catch (error) {
              log.warn({ err: error, name: held.name }, 'a host name could not be looked at')
            }
          }
        }
      }
      await Promise.all(Array.from({ length: together }, take))
    },
  })
}
