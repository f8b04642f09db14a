/**
 * An account that its owner closes: what is personal in it is erased at once, and nobody signs in
 * to it again. The row stays, for the ledger and invoices name it.
 */
import type { Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { endChallengesOf } from './challenges.ts'
import { formerAddresses, type FormerAddress } from './former-addresses.ts'
import { endSessions, type EndLive } from './session.ts'

/** What stands in place of a name, wherever it stood. */
export const closedName = 'Closed account'
/** Closed accounts have addresses there, to which nothing is sent (RFC 2606 reserves .invalid). */
const closedDomain = 'closed.invalid'

/** Tables whose rows about a customer go with the account. */
const ownTables = [
  'totp',
  'passkey',
  'recovery_code',
  'trusted_device',
  'known_origin',
  'one_time_code',
  'sign_in_denial',
  'sign_in',
  'former_address',
] as const

/** The ids of closed accounts, or of open ones, to be part of a query. */
export const accountsThatAre = (db: Queryable, state: 'closed' | 'open') =>
  db
    .selectFrom('customer')
    .select('id')
    .where('closed_at', state === 'closed' ? 'is not' : 'is', null)

/** Held until the transaction ends: what refers to the customer meanwhile waits. */
export async function holdAccount(tx: Tx, customerId: string): Promise<void> {
  await tx
    .selectFrom('customer')
    .select('id')
    .where('id', '=', customerId)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

/**
 * Erases; answers where the customer was written to until now, and before.
 * @param passwordHash of a password that nobody knows
 */
export async function eraseAccount(
  tx: Tx,
  needs: { readonly clock: Clock; readonly endLive: EndLive },
  { customerId, passwordHash }: { readonly customerId: string; readonly passwordHash: string },
): Promise<{ readonly email: string; readonly phone: string; readonly former: FormerAddress[] }> {
  const before = await tx
    .selectFrom('customer')
    .select(['email', 'phone'])
    .where('id', '=', customerId)
    .forUpdate()
    .executeTakeFirstOrThrow()
  const former = await formerAddresses(tx, customerId)
  await endChallengesOf(tx, customerId)
  await endSessions(tx, needs, { customerId })
  for (const table of ownTables)
    await tx.deleteFrom(table).where('customer_id', '=', customerId).execute()
  const now = needs.clock.now()
  await tx
    .updateTable('customer')
    .set({
      name: closedName,
      email: `${customerId}@${closedDomain}`,
      phone: `closed ${customerId}`,
      company: null,
      tax_code: null,
      address_line: null,
      location_id: null,
      time_zone: null,
      password_hash: passwordHash,
      blocked_at: now,
      closed_at: now,
    })
    .where('id', '=', customerId)
    .execute()
  return { ...before, former }
}
