/**
 * Verifies that the parent zone names a domain's pair: on the owner's request, and by a job with
 * growing intervals for 28 days. An active domain is rechecked every day. If it is delegated
 * elsewhere, it is marked and its owner is notified; after a week it becomes pending again, so that
 * a new owner can claim it.
 */
import { sql } from 'kysely'
import type { Check, CheckReason } from '../../contract/dns.ts'
import type { Language } from '../../contract/errors.ts'
import { days, hours, later, minutes, type Clock } from '../platform/clock.ts'
import { databaseError, transaction, type Database, type Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { EventOutbox } from '../realtime/index.ts'
import { judge } from './below.ts'
import type { DelegationCheck, Verdict } from './delegation/index.ts'
import type { Publisher } from './publish.ts'
import { isPair, lockClaims, type ZoneRow } from './store.ts'
import { checkJob } from './zones.ts'

/** Intervals between checks of a pending domain; the last one repeats. */
const gaps = [
  minutes(1),
  minutes(2),
  minutes(5),
  minutes(10),
  minutes(30),
  hours(1),
  hours(3),
  hours(6),
  hours(12),
]
const waitsFor = days(28)
/** Interval of the search for pending domains without a planned check. */
const planEveryMs = hours(1)
const activeGap = days(1)
/**
 * An active domain that is found delegated elsewhere is rechecked soon, because one finding may be
 * an error.
 */
const recheckGap = hours(1)
const missesUntilMoved = 2
const movedFor = days(7)
/**
 * Parallel checks of one worker. 1,000,000 active domains, each once a day, are 12 checks a second;
 * at a second per check, 16 in parallel do 16. Several workers share the due domains.
 */
const together = 16
/** Domains per claim: at ten seconds each, the slowest case, they fit into the lease. */
const takenAtOnce = 8
/** The lease: after it, claimed domains whose worker failed or was killed are due again. */
const leaseMs = minutes(10)
/** A round claims nothing more after this time, seconds; the next begins within the minute. */
const roundSeconds = 500

/**
 * Findings that show a delegation elsewhere. `not_answering` is our own fault, `stale_ds` the
 * owner's.
 */
const elsewhere: ReadonlySet<CheckReason> = new Set<CheckReason>([
  'not_registered',
  'other_nameservers',
  'extra_nameservers',
])

export interface Verifier {
  /** Queries the parent and applies the result. */
  check(zone: ZoneRow, language: Language): Promise<Check>
  /**
   * The name servers that the parent zone names now, A-labels; empty: the name is not registered.
   * Undefined: no answer.
   */
  atParent(name: string): Promise<readonly string[] | undefined>
  /** Runs all due checks, for at most about eight minutes. */
  checkDue(signal?: AbortSignal): Promise<void>
}

/**
 * The parent names the right pair, but another account still has the name active: an active domain
 * is never displaced before a check has found that it left.
 */
const stillActive = (name: string): { en: string; vi: string } => ({
  en:
    `${name} uses the right name servers, but another account still has it active. It ` +
    "becomes free a week after that account's name servers were replaced, or as soon as " +
    "that account deletes it. We'll keep checking.",
  vi:
    `${name} đã dùng đúng nameserver, nhưng một tài khoản khác vẫn đang kích hoạt tên này. ` +
    'Bạn dùng được tên này một tuần sau khi nameserver của tài khoản đó được thay, hoặc ' +
    'ngay khi tài khoản đó xoá tên. Chúng tôi sẽ tiếp tục kiểm tra.',
})

export function createVerifier(deps: {
  db: Database
  clock: Clock
  jobs: Jobs
  log: Log
  outbox: EventOutbox
  publisher: Publisher
  delegation: DelegationCheck
  pool: readonly string[]
}): Verifier {
  const { db, clock, publisher } = deps
  const pool = new Set(deps.pool)

  const announce = (tx: Tx, zone: ZoneRow, status: 'active' | 'moved' | 'pending'): Promise<void> =>
    deps.outbox.publishEvent(tx, zone.customer_id, 'dns.status', {
      domain: { id: zone.id, name: zone.shown_name, status },
    })

  /** Whether the parent names name servers of ours that this account never had for this name. */
  async function isForeign(tx: Tx, zone: ZoneRow, found: readonly string[]): Promise<boolean> {
    const ours = found.filter((name) => pool.has(name))
    if (ours.length === 0) return false
    const rows = await tx
      .selectFrom('dns_zone')
      .select('name_servers')
      .where('name', '=', zone.name)
      .where('customer_id', '=', zone.customer_id)
      .execute()
    const own = new Set(rows.flatMap(({ name_servers }) => name_servers))
    return ours.some((name) => !own.has(name))
  }

  /**
   * The next check's time; null: no more checks. `since`: the start of the wait; undefined: the
   * domain is active.
   */
  function nextCheck(since: Date | undefined, misses: number, now: Date): Date | null {
    if (!since) return later(now, misses > 0 ? recheckGap : activeGap)
    const next = later(now, gaps[Math.min(misses, gaps.length) - 1] ?? minutes(1))
    return next.getTime() - since.getTime() > waitsFor ? null : next
  }

  /**
   * Records the verdict: the parent zone's name servers, the next check, and whether the domain
   * becomes or stays active.
   */
  async function recordVerdict(
    tx: Tx,
    zoneId: string,
    verdict: Verdict,
    foreignAbove: boolean,
  ): Promise<void> {
    const { name } =
      (await tx
        .selectFrom('dns_zone')
        .select('name')
        .where('id', '=', zoneId)
        .executeTakeFirst()) ?? {}
    if (name === undefined) return
    // The verdict about one claim may decide which claim is served.
    const claims = await lockClaims(tx, name)
    const zone = claims.find(({ id }) => id === zoneId)
    if (!zone) return
    const now = clock.now()
    const wasActive = zone.active_at !== null
    const gone =
      wasActive && !verdict.isValid && verdict.reason !== undefined && elsewhere.has(verdict.reason)
    // Two checks at the same time (a button and the job, two processes) count as one.
    const again =
      zone.misses > 0 &&
      zone.checked_at !== null &&
      now.getTime() - zone.checked_at.getTime() < recheckGap / 2
    let misses = zone.misses + 1
    if (verdict.isValid || (wasActive && !gone)) misses = 0
    else if (wasActive && again) misses = zone.misses
    let movedAt = zone.moved_at
    if (gone) movedAt ??= misses >= missesUntilMoved ? now : null
    else if (verdict.isValid) movedAt = null
    const lost = gone && movedAt !== null && now.getTime() - movedAt.getTime() >= movedFor
    const active = verdict.isValid || (wasActive && !lost)
    const pendingSince = lost ? now : zone.pending_since
    const foreign = foreignAbove || (await isForeign(tx, zone, verdict.found))
    await tx
      .updateTable('dns_zone')
      .set({
        found: [...verdict.found],
        checked_at: now,
        misses,
        moved_at: active ? movedAt : null,
        foreign_delegation: foreign,
        active_at: active ? (zone.active_at ?? now) : null,
        first_active_at: zone.first_active_at ?? (active ? now : null),
        pending_since: active ? null : pendingSince,
        next_check_at: nextCheck(
          active ? undefined : (pendingSince ?? zone.created_at),
          misses,
          now,
        ),
      })
      .where('id', '=', zone.id)
      .execute()
    const hasPair = (found: readonly string[]): boolean => isPair(found, zone.name_servers)
    if (
      active !== wasActive ||
      foreign !== zone.foreign_delegation ||
      hasPair(verdict.found) !== hasPair(zone.found)
    )
      await publisher.reconsider(tx, zone.name)
    if (active && !wasActive) await announce(tx, zone, 'active')
    if (lost) {
      await announce(tx, zone, 'pending')
      // Whoever has the delegation now waited for this.
      await tx
        .updateTable('dns_zone')
        .set({ next_check_at: now })
        .where('name', '=', zone.name)
        .where('id', '<>', zone.id)
        .where('deleted_at', 'is', null)
        .where('active_at', 'is', null)
        .execute()
    } else if (movedAt !== null && zone.moved_at === null) await announce(tx, zone, 'moved')
    else if (movedAt === null && zone.moved_at !== null) await announce(tx, zone, 'active')
  }

  async function ask(zone: Pick<ZoneRow, 'id' | 'name' | 'name_servers'>): Promise<Verdict> {
    const verdict = await look(zone)
    // We had not served this claim until the parent confirmed it just now; it is served from here
    // on, so the rest of the check can succeed.
    return verdict.reason === 'not_answering' && isPair(verdict.found, zone.name_servers)
      ? await look(zone)
      : verdict
  }

  async function look(zone: Pick<ZoneRow, 'id' | 'name' | 'name_servers'>): Promise<Verdict> {
    // The check also queries our own name servers: a recent claim must be served there.
    await publisher.ensure(zone.name)
    const { verdict, foreign } = await judge({ db, delegation: deps.delegation, pool }, zone)
    try {
      await transaction(db, (tx) => recordVerdict(tx, zone.id, verdict, foreign))
    } catch (error) {
      if (databaseError(error)?.constraint !== 'dns_zone_active') throw error
      const waits: Verdict = {
        ...verdict,
        isValid: false,
        reason: 'other_nameservers',
        advice: stillActive(zone.name),
      }
      await transaction(db, (tx) => recordVerdict(tx, zone.id, waits, foreign))
      return waits
    }
    return verdict
  }

  deps.jobs.define<{ zoneId: string }>({
    name: checkJob,
    concurrency: 2,
    retries: 3,
    limitSeconds: 60,
    run: async ({ zoneId }) => {
      const zone = await db
        .selectFrom('dns_zone')
        .selectAll()
        .where('id', '=', zoneId)
        .where('deleted_at', 'is', null)
        .executeTakeFirst()
      if (zone) await ask(zone)
    },
  })

  /** Claims some due domains: no other worker takes them until the lease ends. */
  async function claimDue(): Promise<ZoneRow[]> {
    const now = clock.now()
    return await db
      .updateTable('dns_zone')
      .set({ next_check_at: later(now, leaseMs) })
      // As an array, the subquery runs once in every plan.
      .where(
        'id',
        '=',
        sql<string>`any (array(
          select id from dns_zone where deleted_at is null and next_check_at <= ${now}
          order by next_check_at limit ${takenAtOnce} for update skip locked))`,
      )
      .returningAll()
      .execute()
  }

  let plannedAt = Number.NEGATIVE_INFINITY
  /**
   * Plans checks for domains that lapsed under release 2 or older, which planned none for them (no
   * `next_check_at`): they wait from now on, and their first checks are spread over 12 hours.
   */
  async function planLapsed(): Promise<void> {
    const now = clock.now()
    if (now.getTime() - plannedAt < planEveryMs) return
    plannedAt = now.getTime()
    await sql`
      update dns_zone set pending_since = coalesce(pending_since, ${now}),
        next_check_at = ${now}::timestamptz + random() * interval '12 hours'
      where deleted_at is null and active_at is null and first_active_at is not null
        and next_check_at is null
        and (pending_since is null or pending_since > ${later(now, days(1) - waitsFor)})`.execute(
      db,
    )
  }

  async function checkDue(signal?: AbortSignal): Promise<void> {
    await planLapsed()
    const until = performance.now() + roundSeconds * 1000
    const take = async (first?: ZoneRow[]): Promise<void> => {
      for (let zones = first; ; zones = undefined) {
        if (signal?.aborted || performance.now() > until) return
        zones ??= await claimDue()
        if (zones.length === 0) return
        for (const zone of zones) {
          if (signal?.aborted) return
          try {
            await ask(zone)
          } catch (error) {
            deps.log.warn({ err: error, domain: zone.name }, 'the delegation could not be checked')
          }
        }
      }
    }
    const some = await claimDue()
    // Usually few are due: more workers would only query the database to learn that.
    const workers = some.length < takenAtOnce ? 1 : together
    await Promise.all(
      Array.from({ length: workers }, (_, worker) => take(worker === 0 ? some : undefined)),
    )
  }
  deps.jobs.define({
    name: 'check-due-domains',
    cron: '* * * * *',
    retries: 0,
    limitSeconds: 600,
    run: (_payload, { signal }) => checkDue(signal),
  })

  return {
    checkDue,
    async atParent(name) {
      const claim = { name, name_servers: [] }
      const { verdict } = await judge({ db, delegation: deps.delegation, pool }, claim)
      return verdict.reason === 'not_answering' && verdict.found.length === 0
        ? undefined
        : verdict.found
    },
    async check(zone, language) {
      const verdict = await ask(zone)
      return {
        isValid: verdict.isValid,
        expected: [...verdict.expected],
        found: [...verdict.found],
        ...(verdict.reason !== undefined && { reason: verdict.reason }),
        ...(verdict.advice && { advice: verdict.advice[language] }),
        warnings: verdict.warnings.map(({ code, text }) => ({ code, text: text[language] })),
      }
    },
  }
}
