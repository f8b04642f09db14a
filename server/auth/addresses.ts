/** The email and the phone that an account is reached by: each belongs to one account only. */
import type { Language } from '../../contract/errors.ts'
import type { RegionCode } from '../../contract/money.ts'
import { normalisePhone } from '../../contract/phone.ts'
import { phoneFaults } from '../../contract/registration.ts'
import { databaseError, type Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'

/** In E.164, read as numbers are written in the region. Refuses with invalid_input. */
export function phoneOf(text: string, language: Language, region: RegionCode): string {
  const phone = normalisePhone(text, region)
  if (phone === undefined)
    throw new Refusal('invalid_input', { fields: { phone: phoneFaults[region][language] } })
  return phone
}

/** Refuses with email_taken or phone_taken what an account has proven. */
export async function refuseProven(
  db: Queryable,
  { email, phone }: { email?: string; phone?: string },
): Promise<void> {
  const held = await db
    .selectFrom('customer')
    .select(['email', 'phone'])
    .where('active', '=', true)
    .where((eb) => eb.or([eb('email', '=', email ?? ''), eb('phone', '=', phone ?? '')]))
    .execute()
  if (held.some((other) => other.email === email)) throw new Refusal('email_taken')
  if (held.some((other) => other.phone === phone)) throw new Refusal('phone_taken')
}

/**
 * What to throw for a row that could not be written: email_taken, phone_taken, or the error itself.
 */
export function refusalOfConstraint(error: unknown): unknown {
  const constraint = databaseError(error)?.constraint
  if (constraint === 'customer_email_unique') return new Refusal('email_taken')
  if (constraint === 'customer_phone_unique') return new Refusal('phone_taken')
  return error
}
