/** Which account is meant by an id or an address, and what may be written to it. */
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'

/**
 * An active customer by exact email address in lower case, who has proven to read its mailbox: what
 * comes from there is theirs.
 */
export async function customerOfMailbox(
  db: Queryable,
  email: string,
): Promise<{ readonly id: string } | undefined> {
  return await db
    .selectFrom('customer')
    .select('id')
    .where('email', '=', email)
    .where('active', '=', true)
    .where('email_proven_at', 'is not', null)
    .executeTakeFirst()
}

/** The active customer with this email address or phone. Null: none. */
export async function customerOfRecipient(
  db: Queryable,
  recipient: string,
): Promise<string | null> {
  const row = await db
    .selectFrom('customer')
    .select('id')
    .where((eb) => eb.or([eb('email', '=', recipient), eb('phone', '=', recipient)]))
    .where('active', '=', true)
    .executeTakeFirst()
  return row?.id ?? null
}

/**
 * Whether an account is open. The lock keeps it open until the transaction ends, so that a later
 * erasure finds what was written for it.
 */
export async function holdOpenAccount(tx: Tx, customerId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('customer')
    .select('closed_at')
    .where('id', '=', customerId)
    .forKeyShare()
    .executeTakeFirst()
  return row !== undefined && row.closed_at === null
}

/** Whether an account was activated. Its money and its tickets then stay, whatever else happens. */
export async function isActivated(db: Queryable, customerId: string): Promise<boolean> {
  const row = await db
    .selectFrom('customer')
    .select('active')
    .where('id', '=', customerId)
    .executeTakeFirst()
  return row?.active === true
}

/** An active customer by id, or by exact email address in lower case. */
export async function activeCustomer(
  db: Queryable,
  idOrEmail: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('customer')
    .select('id')
    .where(isUuid(idOrEmail) ? 'id' : 'email', '=', idOrEmail)
    .where('active', '=', true)
    .executeTakeFirst()
  return row?.id
}
