/**
 * TXT records of a customer's domain that other parts of the portal read and write for the
 * customer.
 */
import { sql } from 'kysely'
import { relativeName } from '../../contract/dns-records.ts'
import { asTyped } from '../../contract/dns-text.ts'
import type { Language } from '../../contract/errors.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import type { DnsCapabilities } from './driver.ts'
import type { Publisher } from './publish.ts'
import { addRecord, changeRecord, type RecordDeps } from './records.ts'
import { live, recordsAt, type ZoneRow } from './store.ts'
import type { ChangedBy } from './who.ts'
import { servedByWildcard } from './wildcards.ts'
import type { Clock } from '../platform/clock.ts'

const ttlSeconds = 300

/** A text that should exist at a name. */
export interface WantedText {
  /** The full name, A-labels, without a trailing dot. */
  readonly name: string
  readonly text: string
  /** The text that it replaces; null: it is added to the present ones. */
  readonly replaces: string | null
}

interface ZoneTexts {
  /**
   * Texts at a name of the customer's domains here; `isAlias`: the name has a CNAME. If only a
   * wildcard covers the name, the wildcard's texts. Undefined: the zone is not the customer's here.
   */
  at(
    customerId: string,
    name: string,
  ): Promise<{ readonly texts: readonly string[]; readonly isAlias: boolean } | undefined>
  /**
   * Writes all texts or none, as the customer would; an existing one stays as it is. A wildcard's
   * records for the name are copied to it, so that the name keeps them. Resolves once our name
   * server has them. Refuses like the screen of records.
   */
  write(of: {
    customerId: string
    language: Language
    texts: readonly WantedText[]
    by?: ChangedBy
  }): Promise<void>
}

export function createZoneTexts(deps: {
  db: Database
  clock: Clock
  publisher: Publisher
  capabilities: DnsCapabilities
}): ZoneTexts {
  const { db } = deps

  /** The nearest active domain above the name, if it is the customer's. */
  async function zoneOver(
    from: Queryable,
    customerId: string,
    name: string,
  ): Promise<{ zone: ZoneRow; relative: string } | undefined> {
    const zone = await live(from)
      .where('active_at', 'is not', null)
      .where((eb) =>
        eb.or([
          eb('name', '=', name),
          eb('name', '=', sql<string>`any (dns_above(${name}::text))`),
        ]),
      )
      .orderBy(sql`length(name)`, 'desc')
      .limit(1)
      .executeTakeFirst()
    if (!zone || zone.customer_id !== customerId || zone.moved_at !== null) return undefined
    const relative = relativeName(name, zone.name)
    return relative === undefined ? undefined : { zone, relative }
  }

  /**
   * Copies the wildcard's records to names that only it covers, before a new record makes them
   * exist.
   */
  async function keepServed(
    tx: Tx,
    own: RecordDeps,
    of: {
      readonly customerId: string
      readonly language: Language
      readonly zone: ZoneRow
      readonly relative: string
    },
  ): Promise<void> {
    const { customerId, language, zone, relative } = of
    const served = await servedByWildcard(tx, zone.id, relative)
    if (!served) return
    // Names such as _domainkey have no visitors.
    const visited = served.missing.filter((name) => !/(^|\.)_/.test(name))
    // Names below them are covered by the nearest existing wildcard: so they need their own.
    for (const name of visited.flatMap((one) => [one, `*.${one}`]))
      for (const { type, content, ttl, proxied, priority } of served.records)
        await addRecord(tx, own, {
          customerId,
          zoneId: zone.id,
          language,
          body: {
            name,
            type,
            content: type === 'TXT' ? asTyped(content) : content,
            ttl,
            proxied,
            priority: priority ?? undefined,
          },
        })
  }

  return {
    async at(customerId, name) {
      const over = await zoneOver(db, customerId, name)
      if (!over) return undefined
      const { zone, relative } = over
      const records =
        (await servedByWildcard(db, zone.id, relative))?.records ??
        (await recordsAt(db, zone.id, [relative]))
      return {
        texts: records.filter(({ type }) => type === 'TXT').map(({ content }) => content),
        isAlias: records.some(({ type }) => type === 'CNAME'),
      }
    },
    async write({ customerId, language, texts, by }) {
      const own = by ? { ...deps, by } : deps
      const zones = new Set<string>()
      await transaction(db, async (tx) => {
        for (const { name, text, replaces } of texts) {
          const over = await zoneOver(tx, customerId, name)
          if (!over) continue
          const { zone, relative } = over
          await keepServed(tx, own, { customerId, language, zone, relative })
          const standing = (await recordsAt(tx, zone.id, [relative])).filter(
            ({ type }) => type === 'TXT',
          )
          if (standing.some(({ content }) => content === text)) continue
          const old = standing.find(({ content }) => content === replaces)
          const body = {
            name: relative,
            type: 'TXT' as const,
            content: asTyped(text),
            ttl: old?.ttl ?? standing[0]?.ttl ?? ttlSeconds,
            proxied: false,
            priority: undefined,
          }
          const of = { customerId, zoneId: zone.id, language, body }
          if (old) await changeRecord(tx, own, { ...of, recordId: old.id, version: old.version })
          else await addRecord(tx, own, of)
          zones.add(zone.name)
        }
      })
      for (const zone of zones) await deps.publisher.ensure(zone)
    },
  }
}
