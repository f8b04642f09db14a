/** Which rows of a file are customers that are here already: nothing is created for them. */
import { sql } from 'kysely'
import { addressesHeld, formerOwners } from '../auth/index.ts'
import type { Queryable } from '../platform/db.ts'
import type { Sentence } from '../platform/errors.ts'
import type { ImportRow } from './rows.ts'

const reasons = {
  address: {
    en: 'An account has this e-mail address.',
    vi: 'Địa chỉ email này đã có tài khoản.',
  },
  reference: {
    en: 'A customer with this reference was imported before.',
    vi: 'Khách hàng có mã tham chiếu này đã được nhập trước đó.',
  },
  former: {
    en: 'A customer who was imported had this e-mail address before.',
    vi: 'Địa chỉ email này từng thuộc về một khách hàng đã được nhập.',
  },
} satisfies Record<string, Sentence>

/** The lines of customers who are here already, and how we know. */
export async function whySkipped(
  db: Queryable,
  rows: readonly ImportRow[],
): Promise<ReadonlyMap<number, Sentence>> {
  const emails = rows.map(({ email }) => email)
  const held = await addressesHeld(db, emails, [])
  const references = await referencesKnown(db, rows)
  const former = await formerOfImported(db, emails)
  const why = ({ email, reference }: ImportRow): Sentence | undefined => {
    if (held.emails.has(email)) return reasons.address
    if (reference !== null && references.has(reference.toLowerCase())) return reasons.reference
    return former.has(email) ? reasons.former : undefined
  }
  return new Map(
    rows.flatMap((row): [number, Sentence][] => {
      const reason = why(row)
      return reason ? [[row.line, reason]] : []
    }),
  )
}

async function referencesKnown(
  db: Queryable,
  rows: readonly ImportRow[],
): Promise<ReadonlySet<string>> {
  const wanted = rows.flatMap(({ reference }) => reference?.toLowerCase() ?? [])
  if (wanted.length === 0) return new Set()
  const found = await db
    .selectFrom('imported_customer')
    .select(sql<string>`lower(reference)`.as('reference'))
    .where('reference', 'is not', null)
    .where(sql`lower(reference)`, '=', sql<string>`any (${wanted}::text[])`)
    .execute()
  return new Set(found.map(({ reference }) => reference))
}

/** Of these addresses, those that an imported customer has changed for another. */
async function formerOfImported(
  db: Queryable,
  emails: readonly string[],
): Promise<ReadonlySet<string>> {
  const owners = await formerOwners(db, emails)
  if (owners.length === 0) return new Set()
  const ids = owners.map(({ customerId }) => customerId)
  const imported = await db
    .selectFrom('imported_customer')
    .select('customer_id')
    .where((eb) => eb('customer_id', '=', eb.fn.any(eb.val(ids))))
    .execute()
  const isImported = new Set(imported.map(({ customer_id: id }) => id))
  return new Set(
    owners.filter(({ customerId }) => isImported.has(customerId)).map(({ email }) => email),
  )
}
