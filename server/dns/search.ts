/**
 * Lists of domains and records, page by page, and search in them: also by full names, and by names
 * in non-Latin scripts.
 */
import { sql } from 'kysely'
import { unicodeName } from '../../contract/dns-idn.ts'
import { absoluteName, readName, type RecordType } from '../../contract/dns-records.ts'
import { newestFirst, type PageRequest } from '../platform/cursor.ts'
import type { Queryable } from '../platform/db.ts'
import { live, recordOf, type KeptRecord, type ZoneRow } from './store.ts'

const spelled = (search: string): string => search.normalize('NFC').trim().toLowerCase()
const like = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/** The domains that contain a full name: for www.shop.vn they are shop.vn and vn. */
const domainsAround = (text: string): string[] =>
  text
    .split('.')
    .map((_label, at, labels) => labels.slice(at).join('.'))
    .slice(1)

/**
 * Newest first. `search` matches any part of the name in either spelling, or a full name inside the
 * domain (www.shop.vn finds shop.vn). `only`: ids; null: all of the customer's.
 */
export async function zonePage(
  db: Queryable,
  of: PageRequest & { customerId: string; search: string; only: readonly string[] | null },
) {
  const text = spelled(of.search)
  let query = live(db).where('customer_id', '=', of.customerId)
  if (of.only !== null) query = query.where('id', '=', sql<string>`any (${of.only}::uuid[])`)
  if (text !== '') {
    // A domain that was typed as A-labels is shown so, but can be found by its letters too.
    const encoded = await live(db)
      .clearSelect()
      .select('name')
      .where('customer_id', '=', of.customerId)
      // A literal, for the partial index of these names (migration 0103).
      .where(sql<boolean>`shown_name like '%xn--%'`)
      .execute()
    const found = encoded
      .filter(({ name }) => unicodeName(name).includes(text))
      .map(({ name }) => name)
    const around = domainsAround(text)
    // Both spellings are stored in lower case, so no row has to be folded.
    query = query.where((eb) =>
      eb.or([
        eb('name', 'like', like(text)),
        eb('shown_name', 'like', like(text)),
        eb('name', '=', sql<string>`any (${[...around, ...found]}::text[])`),
        eb('shown_name', '=', sql<string>`any (${around}::text[])`),
      ]),
    )
  }
  return await newestFirst(query, 'seq', of)
}

/** The ids among these that are the customer's domains. */
export async function ownDomains(
  db: Queryable,
  customerId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await live(db).where('customer_id', '=', customerId).where('id', 'in', ids).execute()
  return rows.map(({ id }) => id)
}

/** Names and values of the domain with A-labels whose letters contain the text. */
async function encodedHits(
  db: Queryable,
  zone: ZoneRow,
  text: string,
): Promise<{ names: string[]; contents: string[] }> {
  const rows = await db
    .selectFrom('dns_record')
    .select(['name', 'type', 'content'])
    .where('zone_id', '=', zone.id)
    .where((eb) => eb.or([eb('name', 'like', '%xn--%'), eb('content', 'like', '%xn--%')]))
    .execute()
  const holds = (name: string): boolean => name.includes('xn--') && unicodeName(name).includes(text)
  return {
    names: rows
      .filter(({ name }) => holds(name) || holds(absoluteName(name, zone.name)))
      .map(({ name }) => name),
    contents: rows
      .filter(({ type, content }) => type !== 'TXT' && holds(content))
      .map(({ content }) => content),
  }
}

/**
 * Newest first. `search`: a part of a full name or a value; `name`: one name, in any spelling that
 * a record's form accepts.
 */
export async function recordPage(
  db: Queryable,
  of: PageRequest & {
    zone: ZoneRow
    type: RecordType | undefined
    name: string | undefined
    search: string
  },
): Promise<{ records: KeptRecord[]; next: bigint | null }> {
  const { zone } = of
  const text = spelled(of.search)
  let query = db.selectFrom('dns_record').selectAll().where('zone_id', '=', zone.id)
  if (of.type !== undefined) query = query.where('type', '=', of.type)
  if (of.name !== undefined) {
    const read = readName(of.name, of.type ?? 'TXT', zone.name)
    if ('fault' in read) return { records: [], next: null }
    query = query.where('name', '=', read.name)
  }
  if (text !== '') {
    const full = (domain: string) =>
      sql<string>`case name when '@' then ${domain}::text else name || '.' || ${domain}::text end`
    const { names, contents } = await encodedHits(db, zone, text)
    query = query.where((eb) =>
      eb.or([
        eb('name', 'ilike', like(text)),
        eb(full(zone.name), 'like', like(text)),
        eb(full(unicodeName(zone.name)), 'like', like(text)),
        eb('content', 'ilike', like(text)),
        eb('name', '=', sql<string>`any (${names}::text[])`),
        eb('content', '=', sql<string>`any (${contents}::text[])`),
      ]),
    )
  }
  const { rows, next } = await newestFirst(query, 'seq', of)
  return { records: rows.map(recordOf), next }
}
