/** Queries of the operator's desk about domains. */
import { domainToASCII } from 'node:url'
import { sql } from 'kysely'
import type * as z from 'zod/mini'
import type { CustomerStory } from '../../contract/operator-desk.ts'
import type { upkeep } from '../../contract/operator-work.ts'
import { isUuid, type Queryable } from '../platform/db.ts'
import { beginsLike } from '../platform/typed-search.ts'

const shownDomains = 50

type WaitingDomain = Omit<z.output<typeof upkeep.result>['domains'][number], 'customer'> & {
  readonly customerId: string
}

/** Domains with this prefix that were not deleted. */
export async function findDomains(
  db: Queryable,
  text: string,
  limit: number,
): Promise<{ readonly customerId: string; readonly text: string }[]> {
  const name = domainToASCII(text.toLowerCase())
  if (name === '') return []
  const rows = await db
    .selectFrom('dns_zone')
    .select(['customer_id', 'shown_name'])
    .where('name', 'like', beginsLike(name))
    .where('deleted_at', 'is', null)
    .limit(limit)
    .execute()
  return rows.map((row) => ({ customerId: row.customer_id, text: row.shown_name }))
}

/** The newest fifty. */
export async function domainsOfCustomer(
  db: Queryable,
  customerId: string,
): Promise<CustomerStory['domains']> {
  const rows = await db
    .selectFrom('dns_zone')
    .select(['id', 'shown_name', 'active_at'])
    .where('customer_id', '=', customerId)
    .where('deleted_at', 'is', null)
    .orderBy('seq', 'desc')
    .limit(shownDomains)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.shown_name,
    active: row.active_at !== null,
  }))
}

/**
 * A domain waits for its parent zone for 28 days at most, so the waiting ones are among the newest.
 */
const newestZones = 2_000

/**
 * Domains that are not served, or are no longer delegated here: of the newest two thousand, at most
 * fifty.
 */
export async function waitingDomains(db: Queryable): Promise<WaitingDomain[]> {
  const { rows } = await sql<{
    id: string
    shown_name: string
    customer_id: string
    created_at: Date
    active_at: Date | null
    foreign_delegation: boolean
    found: string[]
    name_servers: string[]
    checked_at: Date | null
  }>`
    select id, shown_name, customer_id, created_at, active_at, foreign_delegation, found,
      name_servers, checked_at
    from (select * from dns_zone order by seq desc limit ${newestZones}) z
    where deleted_at is null and (active_at is null or moved_at is not null)
    order by seq desc limit ${shownDomains}`.execute(db)
  return rows.map((row) => ({
    id: row.id,
    name: row.shown_name,
    customerId: row.customer_id,
    at: row.created_at.toISOString(),
    state: waitingFor(row),
    found: row.found,
    expected: row.name_servers,
    checkedAt: row.checked_at?.toISOString() ?? null,
  }))
}
function waitingFor(row: {
  readonly active_at: Date | null
  readonly foreign_delegation: boolean
}): WaitingDomain['state'] {
  if (row.active_at !== null) return 'moved'
  return row.foreign_delegation ? 'foreign' : 'waiting'
}

/** The number of a customer's domains. */
export async function ownedDomains(db: Queryable, customerId: string): Promise<number> {
  const { n } = await db
    .selectFrom('dns_zone')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('customer_id', '=', customerId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** The name of a customer's domain. Undefined: no such domain. */
export async function domainName(
  db: Queryable,
  customerId: string,
  id: string,
): Promise<string | undefined> {
  const row = isUuid(id)
    ? await db
        .selectFrom('dns_zone')
        .select('shown_name')
        .where('id', '=', id)
        .where('customer_id', '=', customerId)
        .executeTakeFirst()
    : undefined
  return row?.shown_name
}
