/**
 * Lists of domains and records, page by page, and search in them: also by full names, and by names
 * in non-Latin scripts.
 */
import { sql } from 'kysely'
import { unicodeName } from '../../contract/dns-idn.ts'
import { absoluteName, readName, type RecordType } from '../../contract/dns-records.ts'
import { fold } from '../../contract/fold.ts'
import { newestFirst, type PageRequest } from '../platform/cursor.ts'
import type { Queryable } from '../platform/db.ts'
import { containsLike as like, searchWords } from '../platform/typed-search.ts'
import { live, recordOf, type KeptRecord, type ZoneRow } from './store.ts'

const spelled = (search: string): string => search.normalize('NFC').trim().toLowerCase()

/** The domains that contain a full name: for www.shop.vn they are shop.vn and vn. */
const domainsAround = (text: string): string[] =>
  text
    .split('.')
    .map((_label, at, labels) => labels.slice(at).join('.'))
    .slice(1)

/**
 * Newest first. Every word of `search` is a part of the name in either spelling, with or without
 * accents, or a full name inside the domain (www.shop.vn finds shop.vn). `only`: ids; null: all of
 * the customer's.
 */
export async function zonePage(
  db: Queryable,
  of: PageRequest & { customerId: string; search: string; only: readonly string[] | null },
) {
  const words = searchWords(of.search)
  let query = live(db).where('customer_id', '=', of.customerId)
  if (of.only !== null) query = query.where('id', '=', sql<string>`any (${of.only}::uuid[])`)
  const lettered = words.length > 0 ? await letteredNames(db, of.customerId) : []
  for (const word of words) {
    const plain = fold(word)
    const around = domainsAround(word)
    const found = lettered.filter(({ letters }) => letters.includes(plain)).map(({ name }) => name)
    // Names are stored in lower case and ASCII, so no row has to be folded.
    query = query.where((eb) =>
      eb.or([
        eb('name', 'like', like(plain)),
        eb('name', '=', sql<string>`any (${[...around, ...found]}::text[])`),
        eb('shown_name', '=', sql<string>`any (${around}::text[])`),
      ]),
    )
  }
  return await newestFirst(query, 'seq', of)
}

/**
 * The customer's names that have more than ASCII, with their letters without accents. A domain that
 * was typed as A-labels is shown so, but is found by its letters too.
 */
async function letteredNames(
  db: Queryable,
  customerId: string,
): Promise<{ name: string; letters: string }[]> {
  const rows = await live(db)
    .clearSelect()
    .select('name')
    .where('customer_id', '=', customerId)
    // A literal, for the partial index of these names (migration 0178).
    .where(sql<boolean>`name like '%xn--%'`)
    .execute()
  return rows.map(({ name }) => ({ name, letters: fold(unicodeName(name)) }))
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
