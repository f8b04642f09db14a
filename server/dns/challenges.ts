/**
 * DNS challenges of certificate authorities (RFC 8555, 8.4): TXT records that our name server
 * serves for a minute. They are added to the zone beside the customer's records. They raise its
 * serial, but are not in the change log.
 */
import { sql } from 'kysely'
import { relativeName } from '../../contract/dns-records.ts'
import { days, later, type Clock } from '../platform/clock.ts'
import { transaction, type Database } from '../platform/db.ts'
import type { Publisher } from './publish.ts'
import { live, zoneById, type ZoneRow } from './store.ts'
import { servedByWildcard } from './wildcards.ts'

export interface DnsChallenges {
  /** Whether our name server decides about `_acme-challenge.<host>`. */
  serves(host: string): Promise<boolean>
  /** Resolves when our name server serves it. False: the zone is not here. */
  put(host: string, value: string): Promise<boolean>
  drop(host: string, value: string): Promise<void>
  /** Deletes dropped challenges, and expired ones whose end was not reported. */
  tidy(): Promise<void>
}

const keptMs = days(1)
/**
 * The label in a zone of our own below which aliases end: a foreign zone may make its challenge
 * name a CNAME to such a name.
 */
const aliasLabel = 'acme'
const challengeName = (host: string): string => `_acme-challenge.${host}`

export function createDnsChallenges(deps: {
  db: Database
  clock: Clock
  publisher: Publisher
  /** The zones of the name servers' own names, if we serve them. */
  ownZones: readonly string[]
  /** Serves these texts at a name of a zone of our own from now on. */
  serveOwn: (name: string, texts: ReadonlySet<string>) => Promise<void>
  aliasesOf: (name: string) => Promise<readonly string[] | undefined>
}): DnsChallenges {
  const { db, clock, publisher } = deps
  const own = new Map<string, Set<string>>()

  /**
   * The challenge name if it is in a zone of our own; else the name there that it is an alias of.
   */
  async function ownNameFor(host: string): Promise<string | undefined> {
    const name = challengeName(host)
    if (deps.ownZones.some((zone) => name.endsWith(`.${zone}`))) return name
    if (deps.ownZones.length === 0) return undefined
    const aliases = (await deps.aliasesOf(name)) ?? []
    return aliases.find((alias) =>
      deps.ownZones.some((zone) => alias.endsWith(`.${aliasLabel}.${zone}`)),
    )
  }

  /**
   * The zone that is authoritative for a name, unless a part of it is delegated or aliased
   * elsewhere, or only a wildcard covers the host.
   */
  async function zoneFor(host: string): Promise<{ zone: ZoneRow; name: string } | undefined> {
    const absolute = challengeName(host)
    const zone = await live(db)
      .where('active_at', 'is not', null)
      .where('name', '=', sql<string>`any (dns_above(${absolute}::text))`)
      .orderBy(sql`length(name)`, 'desc')
      .limit(1)
      .executeTakeFirst()
    const name = zone && relativeName(absolute, zone.name)
    if (!zone || name === undefined || zone.moved_at !== null) return undefined
    const labels = name.split('.')
    const above = labels.map((_, index) => labels.slice(index).join('.'))
    const elsewhere = await db
      .selectFrom('dns_record')
      .select('id')
      .where('zone_id', '=', zone.id)
      .where((eb) =>
        eb.or([
          eb.and([eb('type', '=', 'NS'), eb('name', 'in', above)]),
          eb.and([eb('type', '=', 'CNAME'), eb('name', '=', name)]),
        ]),
      )
      .limit(1)
      .executeTakeFirst()
    if (elsewhere) return undefined
    // A record below a name that only a wildcard covers would end the wildcard's answers for the
    // name.
    const relative = relativeName(host, zone.name)
    if (relative === undefined || (await servedByWildcard(db, zone.id, relative))) return undefined
    return { zone, name }
  }

  return {
    serves: async (host) =>
      (await zoneFor(host)) !== undefined || (await ownNameFor(host)) !== undefined,
    async put(host, value) {
      const found = await zoneFor(host)
      if (!found) {
        const alias = await ownNameFor(host)
        if (alias === undefined) return false
        own.set(alias, (own.get(alias) ?? new Set()).add(value))
        await deps.serveOwn(alias, own.get(alias) ?? new Set())
        return true
      }
      const { zone, name } = found
      await transaction(db, async (tx) => {
        await tx.selectFrom('dns_zone').select('id').where('id', '=', zone.id).forUpdate().execute()
        const serial = await publisher.recordChange(tx, await zoneById(tx, zone.id))
        await tx
          .insertInto('dns_challenge')
          .values({
            zone_id: zone.id,
            name,
            value,
            created_at: clock.now(),
            put_serial: serial,
          })
          .onConflict((conflict) =>
            conflict
              .columns(['zone_id', 'name', 'value'])
              .doUpdateSet({ put_serial: serial, dropped_serial: null, created_at: clock.now() }),
          )
          .execute()
      })
      await publisher.ensure(zone.name)
      return true
    },
    async drop(host, value) {
      for (const [alias, texts] of own)
        if (texts.delete(value)) {
          if (texts.size === 0) own.delete(alias)
          await deps.serveOwn(alias, texts)
        }
      const standing = await db
        .selectFrom('dns_challenge as c')
        .innerJoin('dns_zone as z', 'z.id', 'c.zone_id')
        .select(['c.id', 'c.zone_id', 'c.name as relative', 'z.name as zone'])
        .where('c.value', '=', value)
        .where('c.dropped_serial', 'is', null)
        .where('z.name', '=', sql<string>`any (dns_above(${challengeName(host)}::text))`)
        .execute()
      for (const { id, zone_id: zoneId } of standing)
        await transaction(db, async (tx) => {
          const zone = await tx
            .selectFrom('dns_zone')
            .selectAll()
            .where('id', '=', zoneId)
            .forUpdate()
            .executeTakeFirstOrThrow()
          const serial = await publisher.recordChange(tx, zone)
          await tx
            .updateTable('dns_challenge')
            .set({ dropped_serial: serial })
            .where('id', '=', id)
            .execute()
        })
    },
    async tidy() {
      const old = later(clock.now(), -keptMs)
      const left = await db
        .selectFrom('dns_challenge as c')
        .innerJoin('dns_zone as z', 'z.id', 'c.zone_id')
        .select(['c.value', 'c.name', 'z.name as zone'])
        .where('c.created_at', '<', old)
        .where('c.dropped_serial', 'is', null)
        .execute()
      for (const { name, zone, value } of left)
        await this.drop(`${name}.${zone}`.replace(/^_acme-challenge\./, ''), value)
      await db
        .deleteFrom('dns_challenge')
        .where('created_at', '<', later(old, -keptMs))
        .where('dropped_serial', 'is not', null)
        .execute()
    },
  }
}
