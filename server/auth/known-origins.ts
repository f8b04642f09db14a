/**
 * Networks and browsers from which an account was signed in. Failed sign-ins from unknown origins
 * do not delay known ones: an attacker cannot lock the owner out.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import { dropOld } from '../platform/batches.ts'
import { sql, type RawBuilder } from 'kysely'
import type { Queryable, Tx } from '../platform/db.ts'
import { keptSince } from '../platform/retention.ts'
import type { Origin } from './session.ts'

const networkName = ({ network }: Origin): string => `network:${network}`
/** The cookie itself is stored in no database. */
const namesOf = (from: Origin): string[] => [
  networkName(from),
  ...(from.browser === ''
    ? []
    : [`browser:${createHash('sha256').update(from.browser).digest('base64url')}`]),
]

/** The origin by which the account knows this caller; undefined for an unknown one. */
export async function knownOrigin(
  db: Queryable,
  clock: Clock,
  customerId: string,
  from: Origin,
): Promise<string | undefined> {
  const found = await db
    .selectFrom('known_origin')
    .select('origin')
    .where('customer_id', '=', customerId)
    .where('origin', 'in', namesOf(from))
    .where('seen_at', '>', keptSince('known_origin', clock.now()))
    .orderBy('origin')
    .executeTakeFirst()
  return found?.origin
}

/** For a query over customers: whether the account knows this caller's origin. */
export const knowsOrigin = (
  clock: Clock,
  from: Origin,
): RawBuilder<boolean> => sql<boolean>`exists (
  select from known_origin o where o.customer_id = customer.id
    and o.origin in (${sql.join(namesOf(from))})
    and o.seen_at > ${keptSince('known_origin', clock.now())})`

/** Records that the account was registered or signed in from here. */
export async function rememberOrigin(
  db: Queryable,
  clock: Clock,
  customerId: string,
  from: Origin,
): Promise<void> {
  const names = namesOf(from)
  const now = clock.now()
  await db
    .insertInto('known_origin')
    .values(names.map((origin) => ({ customer_id: customerId, origin, seen_at: now })))
    .onConflict((conflict) =>
      conflict.columns(['customer_id', 'origin']).doUpdateSet({ seen_at: now }),
    )
    .execute()
}

/** Makes every origin unknown: the next sign-in from anywhere causes a letter. */
export async function forgetOrigins(tx: Tx, customerId: string): Promise<void> {
  await tx.deleteFrom('known_origin').where('customer_id', '=', customerId).execute()
}

export const dropOldOrigins = (db: Queryable, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'known_origin')
