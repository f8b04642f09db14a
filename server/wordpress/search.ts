/** The list of a customer's servers, page by page, and search in it. */
import { sql } from 'kysely'
import { unicodeName } from '../../contract/dns-idn.ts'
import { fold } from '../../contract/fold.ts'
import { newestFirst, type KeysetPage, type PageRequest } from '../platform/cursor.ts'
import type { Queryable } from '../platform/db.ts'
import { containsLike, searchWords } from '../platform/typed-search.ts'
import { joined, type Joined, type SiteAddressing } from './store.ts'

/** The word without what all own addresses end with, which would find every server. */
function withoutCommonEnd(word: string, { host, portSuffix }: SiteAddressing): string {
  const end = [`.${host}${portSuffix}`, `.${host}`].find((one) => word.endsWith(one))
  return end === undefined ? word : word.slice(0, -end.length)
}

/**
 * One page of servers, newest first. Every word of `search` is a part of the server's name or
 * address, or of one of its domains in either spelling, with or without accents. `only`: these ids;
 * null: all of the customer's.
 */
export async function sitePage(
  db: Queryable,
  of: PageRequest & {
    customerId: string
    search: string
    only: readonly string[] | null
    addressing: SiteAddressing
  },
): Promise<KeysetPage<Joined>> {
  const words = searchWords(of.search)
  let query = joined(db).where('s.customer_id', '=', of.customerId)
  if (of.only !== null) query = query.where('s.id', '=', sql<string>`any (${of.only}::uuid[])`)
  const lettered = words.length > 0 ? await letteredNames(db, of.customerId) : []
  for (const word of words) {
    const plain = fold(word)
    const found = lettered.filter(({ letters }) => letters.includes(plain)).map(({ name }) => name)
    query = query.where((eb) =>
      eb.or([
        eb('s.name', 'like', containsLike(withoutCommonEnd(plain, of.addressing))),
        eb(
          's.id',
          'in',
          held(db, of.customerId)
            .select('site_id')
            .where((name) =>
              name.or([
                name('name', 'like', containsLike(plain)),
                name('name', '=', sql<string>`any (${found}::text[])`),
              ]),
            ),
        ),
      ]),
    )
  }
  return await newestFirst(query, 's.seq', of)
}

const held = (db: Queryable, customerId: string) =>
  db
    .selectFrom('site_domain')
    .where('customer_id', '=', customerId)
    .where('released_at', 'is', null)

/** The customer's names that have more than ASCII, with their letters without accents. */
async function letteredNames(
  db: Queryable,
  customerId: string,
): Promise<{ name: string; letters: string }[]> {
  const rows = await held(db, customerId).select('name').where('name', 'like', '%xn--%').execute()
  return rows.map(({ name }) => ({ name, letters: fold(unicodeName(name)) }))
}
