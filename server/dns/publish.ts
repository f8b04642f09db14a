/**
 * Synchronises the name servers with the database. A driver in this process is synchronised right
 * after the commit, and in other processes by a notice; a sweep finds what was missed (a crash
 * after the commit, a lost notice) by comparing each zone's serial in the database with the serial
 * that the driver serves. A remote driver is synchronised by a job of the same transaction, and
 * compared every night.
 */
import { sql } from 'kysely'
import { absoluteName } from '../../contract/dns-records.ts'
import { onCommit, type Database, type Tx } from '../platform/db.ts'
import type { Clock } from '../platform/clock.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Notices } from '../platform/notices.ts'
import type { DnsDriver, ZoneHead } from './driver.ts'
import { catchUpLimit, changesSince, readServed, stateOf, type ServedZone } from './served.ts'
import { setsOf } from './sets.ts'
import { watchStarts } from './started-again.ts'
import { allRecords, challengesOf, recordsOfZones, type ZoneRow } from './store.ts'

export interface Publisher {
  /**
   * Gives the zone its next serial, and tells the driver after the commit. The zone's row is locked
   * by the caller.
   */
  recordChange(tx: Tx, zone: Pick<ZoneRow, 'id' | 'name' | 'serial'>): Promise<bigint>
  /**
   * A claim of this name was added, removed or changed its state: after the commit decides again
   * which claims are served, for it and the names below.
   */
  reconsider(tx: Tx, name: string): Promise<void>
  /** Resolves when the driver serves the database's state of this name. */
  ensure(name: string): Promise<void>
  /** Resolves when a driver in this process serves all zones; then starts the sweep. */
  start(): Promise<void>
  stop(): Promise<void>
}

export const publishJob = 'publish-domain'

/**
 * Other processes send a notice of their changes; the sweep finds changes whose notice was lost
 * within this time.
 */
const sweepMs = 15_000
/** The NOTIFY channel of names whose zones changed. */
const changedChannel = 'portal_zones'
/** How far back a sweep looks at least: longer than a transaction may last. */
const sweepBackSeconds = 90
const pageSize = 500

/**
 * Seconds. A changed or new name is visible soon, because negative answers are cached for a minute
 * only.
 */
export const soaTimes = { refresh: 7200, retry: 900, expire: 1_209_600, minimum: 60 } as const
/** TTL of the apex's SOA and NS, seconds. */
export const apexTtlSeconds = 3600

export function createPublisher(deps: {
  db: Database
  driver: DnsDriver
  jobs: Jobs
  notices: Notices
  clock: Clock
  log: Log
  /** The SOA's mailbox in the notation of a name. */
  contact: string
  /** Zones that the driver serves for the portal itself. */
  own: readonly string[]
  /** Puts them again if a restarted name server lacks them. */
  serveOwn: () => Promise<void>
}): Publisher {
  const { db, driver, log } = deps
  const starts = watchStarts(deps)
  /** The synchronisation in progress per name, so that one cannot overtake another. */
  const inFlight = new Map<string, { again: boolean; isWhole: boolean; done: Promise<void> }>()
  let timer: NodeJS.Timeout | undefined
  let sweeping: Promise<void> = Promise.resolve()
  let sweptAt = performance.now()
  let stopped = false

  const headOf = (zone: ServedZone): ZoneHead => ({
    id: zone.id,
    name: zone.name,
    serial: Number(zone.serial),
    nameServers: zone.name_servers,
    apexTtlSeconds,
    soa: { contact: deps.contact, ...soaTimes },
  })
  /**
   * Puts a zone from one snapshot of head and records. Answers the state that the name server has
   * then.
   */
  const putWhole = async (name: string): Promise<string> => {
    const whole = await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx) => {
        const zone = await readServed(tx, name)
        if (!zone) return undefined
        const challenges = (await challengesOf(tx, [zone.id])).get(zone.id) ?? []
        return { zone, records: [...(await allRecords(tx, zone.id)), ...challenges] }
      })
    if (whole) await driver.putZone(headOf(whole.zone), setsOf(name, whole.records))
    else await driver.removeZone(name)
    return stateOf(whole?.zone)
  }

  /**
   * Synchronises one zone: by the changes since the driver's serial, or as a whole. Answers the
   * state that the name server has then.
   */
  async function syncZone(name: string): Promise<string> {
    const held = await driver.held(name)
    const { zone, changes, isCut, touched, present } = await changesSince(db, name, held)
    if (!zone && !held) return stateOf(zone)
    if (zone && held && zone.id === held.id) {
      if (held.serial >= Number(zone.serial)) return stateOf(zone)
      const isFew = changes > 0 && changes <= catchUpLimit && touched.length <= catchUpLimit
      if (isFew && !isCut) {
        const sets = setsOf(name, present)
        const there = new Set(sets.map((set) => `${set.name} ${set.type}`))
        for (const { name: relative, type, ttl } of touched) {
          const absolute = absoluteName(relative, name)
          if (!there.has(`${absolute} ${type}`))
            sets.push({ name: absolute, type, ttlSeconds: ttl, proxied: false, values: [] })
        }
        if ((await driver.changeZone(headOf(zone), held.serial, sets)) === 'applied')
          return stateOf(zone)
      }
    }
    return await putWhole(name)
  }

  /**
   * Several processes write to an external name server: our write may overwrite a newer one, whose
   * job is done. So the process that wrote an older state writes again.
   */
  const isOvertaken = async (name: string, written: string): Promise<boolean> =>
    driver.durable && stateOf(await readServed(db, name)) !== written

  /**
   * One synchronisation at a time per name; a request meanwhile makes it run once more. `isWhole`:
   * put the whole zone even if the driver's serial is higher than the database's.
   */
  function enqueue(name: string, isWhole = false): Promise<void> {
    const running = inFlight.get(name)
    if (running) {
      running.again = true
      running.isWhole ||= isWhole
      return running.done
    }
    const fresh = { again: true, isWhole, done: Promise.resolve() }
    inFlight.set(name, fresh)
    fresh.done = (async () => {
      try {
        while (fresh.again && !stopped) {
          const sync = fresh.isWhole ? putWhole : syncZone
          fresh.again = fresh.isWhole = false
          const written = await sync(name)
          if (await isOvertaken(name, written)) fresh.again = true
        }
      } finally {
        inFlight.delete(name)
      }
    })()
    return fresh.done
  }
  const hint = (name: string): void => {
    enqueue(name).catch((error: unknown) =>
      log.warn({ err: error, name }, 'synchronising a zone failed; the next sweep retries it'),
    )
  }

  /** After the commit: immediately for a driver in this process, by a job for an external one. */
  async function afterwards(tx: Tx, name: string): Promise<void> {
    if (driver.durable) await deps.jobs.add(tx, publishJob, { name })
    else
      onCommit(tx, () => {
        hint(name)
        deps.notices.tell(changedChannel, name)
      })
  }
  if (!driver.durable)
    deps.notices.on(changedChannel, {
      onNotice: (names) => names.split(' ').forEach(hint),
      onConnect: (again) => void (again && sweepNext()),
    })
  if (driver.durable) {
    deps.jobs.define<{ name: string }>({
      name: publishJob,
      concurrency: 2,
      run: ({ name }) => enqueue(name),
    })
    // Repairs changes made at the remote driver, and synchronises zones whose job gave up.
    deps.jobs.define({
      name: 'reconcile-domains',
      cron: '41 2 * * *',
      retries: 2,
      limitSeconds: 7200,
      run: reconcile,
    })
  }

  function sweepNext(): void {
    sweeping = sweeping
      .then(sweep)
      .catch((error: unknown) => log.warn({ err: error }, 'sweeping for changed domains'))
  }

  /** Names whose zone changed recently and differs from the serial served here. */
  async function sweep(): Promise<void> {
    const began = performance.now()
    // While the database was unreachable for us, other processes may have written changes.
    const back = sweepBackSeconds + Math.ceil((began - sweptAt) / 1000)
    const { rows } = await sql<{ name: string; id: string | null; serial: bigint | null }>`
      select t.name, s.id, s.serial
      from (select distinct name from dns_zone
      where touched_at > now() - make_interval(secs => ${back})) t
      left join dns_served s on s.name = t.name`.execute(db)
    for (const { name, id, serial } of rows) {
      const held = await driver.held(name)
      if ((held?.id ?? null) !== id || (held !== undefined && held.serial < Number(serial)))
        await enqueue(name)
    }
    sweptAt = began
    await starts.catchUp(enqueue)
  }

  /**
   * Passes all zones to be served, page by page. Answers the names of other zones that the driver
   * has.
   */
  async function eachPage(act: (zones: readonly ServedZone[]) => Promise<void>): Promise<string[]> {
    const gone = new Set(await driver.list())
    let after = 0n
    for (;;) {
      const zones = await db
        .selectFrom('dns_served')
        .selectAll()
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(pageSize)
        .$castTo<ServedZone & { readonly seq: bigint }>()
        .execute()
      for (const { name } of zones) gone.delete(name)
      await act(zones)
      after = zones.at(-1)?.seq ?? after
      if (zones.length < pageSize) break
    }
    return [...gone].filter((name) => !deps.own.includes(name))
  }
  const isHeld = async (zone: ServedZone): Promise<boolean> => {
    const held = await driver.held(zone.name)
    return held?.id === zone.id && held.serial === Number(zone.serial)
  }

  /**
   * It takes minutes, and zones change meanwhile: each difference is read again, in turn with this
   * process's jobs.
   */
  async function reconcile(): Promise<void> {
    const gone = await eachPage(async (zones) => {
      for (const zone of zones) if (!(await isHeld(zone))) await enqueue(zone.name, true)
    })
    for (const name of gone) await enqueue(name)
  }

  /** At a start, before queries are answered: the sweep afterwards finds changes made meanwhile. */
  async function loadAll(): Promise<void> {
    const gone = await eachPage(async (zones) => {
      const records = await recordsOfZones(
        db,
        zones.map(({ id }) => id),
      )
      for (const zone of zones)
        if (!(await isHeld(zone)))
          await driver.putZone(headOf(zone), setsOf(zone.name, records.get(zone.id) ?? []))
    })
    for (const name of gone) await driver.removeZone(name)
  }

  return {
    async recordChange(tx, zone) {
      // At least the present time, so that a domain that returns has a higher serial than before.
      const atLeast = BigInt(Math.floor(deps.clock.now().getTime() / 1000))
      const serial = zone.serial + 1n > atLeast ? zone.serial + 1n : atLeast
      await tx
        .updateTable('dns_zone')
        .set({ serial, touched_at: sql<Date>`now()` })
        .where('id', '=', zone.id)
        .execute()
      await afterwards(tx, zone.name)
      return serial
    },
    async reconsider(tx, name) {
      const { rows } = await sql<{ name: string }>`
        update dns_zone set touched_at = now()
        where id in (
          select id from dns_zone
          where name = ${name} or (deleted_at is null
          and reverse(name) like reverse(${`.${name}`}::text) || '%')
          order by seq for update
        )
        returning name`.execute(tx)
      for (const one of new Set([name, ...rows.map((row) => row.name)])) await afterwards(tx, one)
    },
    ensure: enqueue,
    async start() {
      if (driver.durable) return
      // Noted before loading, so that the sweep notices a restart during it.
      await starts.note()
      await loadAll()
      timer = setInterval(sweepNext, sweepMs)
      timer.unref()
    },
    async stop() {
      stopped = true
      starts.stop()
      clearInterval(timer)
      await Promise.allSettled([sweeping, ...[...inFlight.values()].map(({ done }) => done)])
    },
  }
}
