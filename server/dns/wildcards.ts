/**
 * Names covered only by a wildcard. A record at such a name or below it makes it exist, and the
 * wildcard no longer covers it (RFC 4592, 2.2.2 and 3.3.1).
 */
import { sql } from 'kysely'
import type { Queryable } from '../platform/db.ts'
import { recordsAt, type KeptRecord } from './store.ts'

export interface ServedByWildcard {
  /** The name and its ancestors that do not exist themselves, relative to the zone. */
  readonly missing: readonly string[]
  /** The wildcard's records. */
  readonly records: readonly KeptRecord[]
}

/** @param relative in the zone. Undefined: no wildcard covers it */
export async function servedByWildcard(
  db: Queryable,
  zoneId: string,
  relative: string,
): Promise<ServedByWildcard | undefined> {
  if (relative === '@') return undefined
  const labels = relative.split('.')
  const chain = labels.map((_, index) => labels.slice(index).join('.'))
  const { rows } = await sql<{ name: string }>`
    select l.name from unnest(${chain}::text[]) l (name)
    where exists (select from dns_record r where r.zone_id = ${zoneId}
      and (r.name = l.name or right(r.name, length(l.name) + 1) = '.' || l.name))`.execute(db)
  const present = new Set(rows.map(({ name }) => name))
  const first = chain.findIndex((name) => present.has(name))
  if (first === 0) return undefined
  const encloser = first === -1 ? '' : `.${chain[first]}`
  const records = await recordsAt(db, zoneId, [`*${encloser}`])
  if (records.length === 0) return undefined
  return { missing: first === -1 ? chain : chain.slice(0, first), records }
}
