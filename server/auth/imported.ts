/**
 * Accounts that are brought over from another panel: active, with a password that nobody knows.
 * Recovery by e-mail sets one, and proves the address.
 */
import type { RegionCode } from '../../contract/money.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'

export interface NewAccount {
  readonly id: string
  /** In lower case. */
  readonly email: string
  readonly name: string
  readonly region: RegionCode
  /** E.164; null: none. */
  readonly phone: string | null
  /** Null: the region's. */
  readonly language: string | null
}

/**
 * What stands in the column of the phone where there is no number: it is unique, as the column
 * asks, and no form of E.164.
 */
const noPhone = (id: string): string => `none ${id}`
/** The number of an account as it is shown; '' where it has none. */
export const shownPhone = (stored: string): string => (stored.startsWith('+') ? stored : '')

/** Which of these addresses and numbers accounts have: numbers with the address of their owner. */
export async function addressesHeld(
  db: Queryable,
  emails: readonly string[],
  phones: readonly string[],
): Promise<{ readonly emails: ReadonlySet<string>; readonly phones: ReadonlyMap<string, string> }> {
  const wanted = (column: 'email' | 'phone', values: readonly string[]) =>
    db
      .selectFrom('customer')
      .select(['email', 'phone'])
      .where('active', '=', true)
      .where((eb) => eb(column, '=', eb.fn.any(eb.val([...values]))))
      .execute()
  const byEmail = await wanted('email', emails)
  const byPhone = await wanted('phone', phones)
  return {
    emails: new Set(byEmail.map(({ email }) => email)),
    phones: new Map(byPhone.map(({ phone, email }) => [phone, email])),
  }
}

/**
 * Creates accounts. One whose e-mail address or number an account has got meanwhile is left out.
 * Answers the ids of those that were created.
 * @param passwordHash of a password that nobody knows
 */
export async function createImported(
  tx: Tx,
  clock: Clock,
  accounts: readonly NewAccount[],
  passwordHash: string,
): Promise<ReadonlySet<string>> {
  if (accounts.length === 0) return new Set()
  const created = await tx
    .insertInto('customer')
    .values(
      accounts.map(({ id, email, name, region, phone, language }) => ({
        id,
        email,
        name,
        phone: phone ?? noPhone(id),
        region_code: region,
        language,
        password_hash: passwordHash,
        active: true,
        created_at: clock.now(),
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute()
  return new Set(created.map(({ id }) => id))
}
