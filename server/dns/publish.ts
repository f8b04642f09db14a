/**
 * Keeps the name servers in step with the database. A change is told at once after its commit; what was missed (a crash between commit and telling,
 * another process) is found by a sweep, since the database says at which serial a domain is and the driver at which it serves.
 */
import { sql } from 'kysely'
import { absoluteName } from '../../contract/dns-records.ts'
import { onCommit, type Database, type Queryable, type Tx } from '../platform/db.ts'
import type { Clock } from '../platform/clock.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { DnsDriver, RecordSet, ZoneHead } from './driver.ts'
import { allRecords, recordOf, recordsAt, type KeptRecord, type ZoneRow } from './store.ts'

export interface Publisher {
  /** Gives the zone its next serial, and tells the driver after the commit. The zone's row is locked by the caller. */
  touch(tx: Tx, zone: Pick<ZoneRow, 'id' | 'name' | 'serial'>): Promise<bigint>
  /** A claim of this name came, went or changed its state: which one is answered, there and below, is decided anew after the commit. */
  reconsider(tx: Tx, name: string): Promise<void>
  /** Everything is served when it resolves; then the sweep goes on. */
  start(): Promise<void>
  stop(): Promise<void>
}

export const publishJob = 'publish-domain'

const sweepMs = 2000
/** How far back a sweep looks: longer than a transaction may last. */
const sweepBackSeconds = 90
const pageSize = 500
/** A zone with more changes than this behind it is put whole. */
const catchUpLimit = 500

/** Seconds. A changed or new name is seen soon: "there is none" is kept for a minute. */
export const soaTimes = { refresh: 7200, retry: 900, expire: 1_209_600, minimum: 60 } as const
/** TTL of the apex's SOA and NS, seconds. */
export const apexTtlSeconds = 3600

interface ServedZone {
  readonly id: string
  readonly seq: bigint
  readonly name: string
  readonly name_servers: readonly string[]
  readonly serial: bigint
}

/** The values of the records of one set, in the driver's words. */
function setsOf(zone: string, records: readonly KeptRecord[]): RecordSet[] {
  const sets = new Map<string, { name: string; first: KeptRecord; values: string[] }>()
  for (const record of records) {
    const key = `${record.name} ${record.type}`
    const set = sets.get(key) ?? { name: absoluteName(record.name, zone), first: record, values: [] }
    set.values.push(record.priority === null ? record.content : `${record.priority} ${record.content}`)
    sets.set(key, set)
  }
  return [...sets.values()].map(({ name, first, values }) => ({
    name,
    type: first.type,
    ttlSeconds: first.ttl,
    proxied: first.proxied,
    values,
  }))
}

export function createPublisher(deps: {
  db: Database
  driver: DnsDriver
  jobs: Jobs
  clock: Clock
  log: Log
  /** Mailbox of the SOA, as a name. */
  contact: string
  /** Zones that the driver serves for the house itself. */
  own: readonly string[]
}): Publisher {
  const { db, driver, log } = deps
  /** Per name: the work under way, so that two tellings of one name do not overtake each other. */
  const lines = new Map<string, { again: boolean; done: Promise<void> }>()
  let timer: NodeJS.Timeout | undefined
  let sweeping: Promise<void> = Promise.resolve()
  let stopped = false

  const headOf = (zone: ServedZone): ZoneHead => ({
    id: zone.id,
    name: zone.name,
    serial: Number(zone.serial),
    nameServers: zone.name_servers,
    apexTtlSeconds,
    soa: { contact: deps.contact, ...soaTimes },
  })
  const readServed = (from: Queryable, name: string): Promise<ServedZone | undefined> =>
    from.selectFrom('dns_served').selectAll().where('name', '=', name).$castTo<ServedZone>().executeTakeFirst()

  /** Head and records as of one moment. */
  const putWhole = async (name: string): Promise<void> => {
    const whole = await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx) => {
        const zone = await readServed(tx, name)
        return zone && { zone, records: await allRecords(tx, zone.id) }
      })
    if (whole) await driver.putZone(headOf(whole.zone), setsOf(name, whole.records))
    else await driver.removeZone(name)
  }

  /** The sets that changed after a serial, as they are now. Undefined: too many, or the log does not reach back. */
  async function changedSets(tx: Queryable, zone: ServedZone, since: number): Promise<RecordSet[] | undefined> {
    const changes = await tx
      .selectFrom('dns_change')
      .select(['before', 'after'])
      .where('zone_id', '=', zone.id)
      .where('serial', '>', BigInt(since))
      .limit(catchUpLimit + 1)
      .execute()
    const touched = changes.flatMap(({ before, after }) => [...(before as KeptRecord[]), ...(after as KeptRecord[])])
    if (changes.length === 0 || touched.length > catchUpLimit) return undefined
    const keys = new Map(touched.map(({ name, type, ttl }) => [`${name} ${type}`, { name, type, ttl }]))
    const present = await recordsAt(tx, zone.id, [...new Set(touched.map(({ name }) => name))])
    const sets = setsOf(
      zone.name,
      present.filter(({ name, type }) => keys.has(`${name} ${type}`)),
    )
    const there = new Set(sets.map(({ name, type }) => `${name} ${type}`))
    for (const { name, type, ttl } of keys.values()) {
      const absolute = absoluteName(name, zone.name)
      if (!there.has(`${absolute} ${type}`)) sets.push({ name: absolute, type, ttlSeconds: ttl, proxied: false, values: [] })
    }
    return sets
  }

  /** Makes the driver serve what the database says of this name, by the shortest way. */
  async function tell(name: string): Promise<void> {
    const held = await driver.held(name)
    const { whole, behind } = await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx): Promise<{ whole: boolean; behind?: { zone: ServedZone; from: number; sets: RecordSet[] } }> => {
        const zone = await readServed(tx, name)
        if (!zone || held?.id !== zone.id) return { whole: zone !== undefined || held !== undefined }
        if (held.serial >= Number(zone.serial)) return { whole: false }
        const sets = await changedSets(tx, zone, held.serial)
        return sets ? { whole: false, behind: { zone, from: held.serial, sets } } : { whole: true }
      })
    const applied = behind && (await driver.changeZone(headOf(behind.zone), behind.from, behind.sets)) === 'applied'
    if (whole || applied === false) await putWhole(name)
  }

  /** One at a time a name; asked for again meanwhile, it runs once more. */
  function enqueue(name: string): Promise<void> {
    const line = lines.get(name)
    if (line) {
      line.again = true
      return line.done
    }
    const fresh = { again: true, done: Promise.resolve() }
    lines.set(name, fresh)
    fresh.done = (async () => {
      try {
        while (fresh.again && !stopped) {
          fresh.again = false
          await tell(name)
        }
      } finally {
        lines.delete(name)
      }
    })()
    return fresh.done
  }
  const hint = (name: string): void => {
    enqueue(name).catch((error: unknown) => log.warn({ err: error, name }, 'telling the name server; the next sweep tells it again'))
  }

  /** After the commit: at once for a driver in this process, by a job for one elsewhere. */
  async function afterwards(tx: Tx, name: string): Promise<void> {
    if (driver.durable) await deps.jobs.add(tx, publishJob, { name })
    else onCommit(tx, () => hint(name))
  }
  if (driver.durable) deps.jobs.define<{ name: string }>({ name: publishJob, concurrency: 2, run: ({ name }) => enqueue(name) })

  /** Names whose zone was touched lately and is not at its serial here. */
  async function sweep(): Promise<void> {
    const { rows } = await sql<{ name: string; id: string | null; serial: bigint | null }>`
      select t.name, s.id, s.serial
      from (select distinct name from dns_zone where touched_at > now() - make_interval(secs => ${sweepBackSeconds})) t
      left join dns_served s on s.name = t.name`.execute(db)
    for (const { name, id, serial } of rows) {
      const held = await driver.held(name)
      if ((held?.id ?? null) !== id || (held !== undefined && held.serial < Number(serial))) await enqueue(name)
    }
  }

  async function loadAll(): Promise<void> {
    const gone = new Set(await driver.list())
    let after = 0n
    for (;;) {
      const zones = await db
        .selectFrom('dns_served')
        .selectAll()
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(pageSize)
        .$castTo<ServedZone>()
        .execute()
      const records = await recordsOf(zones.map(({ id }) => id))
      for (const zone of zones) {
        gone.delete(zone.name)
        const held = await driver.held(zone.name)
        if (held?.id !== zone.id || held.serial !== Number(zone.serial))
          await driver.putZone(headOf(zone), setsOf(zone.name, records.get(zone.id) ?? []))
        after = zone.seq
      }
      if (zones.length < pageSize) break
    }
    for (const name of gone) if (!deps.own.includes(name)) await driver.removeZone(name)
  }
  async function recordsOf(zoneIds: readonly string[]): Promise<Map<string, KeptRecord[]>> {
    const byZone = new Map<string, KeptRecord[]>()
    const rows = await db
      .selectFrom('dns_record')
      .selectAll()
      .where('zone_id', '=', sql<string>`any (${[...zoneIds]}::uuid[])`)
      .orderBy('seq')
      .execute()
    for (const row of rows) {
      const records = byZone.get(row.zone_id)
      if (records) records.push(recordOf(row))
      else byZone.set(row.zone_id, [recordOf(row)])
    }
    return byZone
  }

  return {
    async touch(tx, zone) {
      // Never lower than the time: a domain that comes back has a higher serial than it had.
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
        where (name = ${name} or (deleted_at is null and reverse(name) like reverse(${`.${name}`}::text) || '%'))
        returning name`.execute(tx)
      for (const one of new Set([name, ...rows.map((row) => row.name)])) await afterwards(tx, one)
    },
    async start() {
      await loadAll()
      timer = setInterval(() => {
        sweeping = sweeping.then(sweep).catch((error: unknown) => log.warn({ err: error }, 'sweeping for changed domains'))
      }, sweepMs)
      timer.unref()
    },
    async stop() {
      stopped = true
      clearInterval(timer)
      await Promise.allSettled([sweeping, ...[...lines.values()].map(({ done }) => done)])
    },
  }
}
