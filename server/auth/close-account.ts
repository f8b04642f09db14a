/**
 * Closes an account at its owner's request: personal data is erased at once, and nobody can sign in
 * any more. The row stays, because the ledger and invoices refer to it.
 */
import type { Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { endChallengesOf } from './challenges.ts'
import { formerAddresses, type FormerAddress } from './former-addresses.ts'
import { endSessions, type EndLive } from './session.ts'

/** Replaces the customer's name everywhere. */
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

/** Locks the row until the transaction ends: writes that refer to the customer wait meanwhile. */
export async function holdAccount(tx: Tx, customerId: string): Promise<void> {
  await tx
    .selectFrom('customer')
    .select('id')
    .where('id', '=', customerId)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

/**
 * Erases the personal data. Answers the present and former email addresses and phones.
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
