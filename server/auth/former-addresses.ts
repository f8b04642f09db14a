/**
 * A customer's former email addresses and phones. Letters are stored by receiver: without this
 * list, those to a former address would be missing in the customer's export and outlive the
 * account.
 */
import { later, minutes, type Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'

/** Letters about the change itself are sent to the former address within this time after it. */
const toldWithinMs = minutes(5)
/**
 * The code that proves a new address is sent there within this time before it becomes the
 * customer's.
 */
const askedWithinMs = minutes(15)

/** An address, and the time in which messages sent to it were this customer's. */
export interface FormerAddress {
  readonly address: string
  readonly from: Date
  readonly until: Date
}

/** Records a former address after the customer got another one. */
export async function noteFormer(
  tx: Tx,
  clock: Clock,
  customerId: string,
  { kind, address }: { readonly kind: 'email' | 'phone'; readonly address: string },
): Promise<void> {
  const { created_at: created } = await tx
    .selectFrom('customer')
    .select('created_at')
    .where('id', '=', customerId)
    .executeTakeFirstOrThrow()
  const before = await tx
    .selectFrom('former_address')
    .select('until_at')
    .where('customer_id', '=', customerId)
    .where('kind', '=', kind)
    .orderBy('until_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  await tx
    .insertInto('former_address')
    .values({
      customer_id: customerId,
      kind,
      address,
      from_at: before ? later(before.until_at, -toldWithinMs - askedWithinMs) : created,
      until_at: later(clock.now(), toldWithinMs),
    })
    .execute()
}

/** Customers who had one of these e-mail addresses and changed it for another. */
export async function formerOwners(
  db: Queryable,
  emails: readonly string[],
): Promise<{ readonly customerId: string; readonly email: string }[]> {
  const rows = await db
    .selectFrom('former_address')
    .select(['customer_id', 'address'])
    .where('kind', '=', 'email')
    .where((eb) => eb('address', '=', eb.fn.any(eb.val([...emails]))))
    .execute()
  return rows.map(({ customer_id: customerId, address: email }) => ({ customerId, email }))
}

export async function formerAddresses(db: Queryable, customerId: string): Promise<FormerAddress[]> {
  const rows = await db
    .selectFrom('former_address')
    .select(['address', 'from_at', 'until_at'])
    .where('customer_id', '=', customerId)
    .execute()
  return rows.map(({ address, from_at: from, until_at: until }) => ({ address, from, until }))
}
