/** Email and phone of an account: each belongs to one account only. */
import type { Language } from '../../contract/errors.ts'
import type { RegionCode } from '../../contract/money.ts'
import { normalisePhone } from '../../contract/phone.ts'
import { phoneFaults } from '../../contract/registration.ts'
import { databaseError, type Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'

/** The number in E.164, parsed by the region's notation. Refuses with invalid_input. */
export function phoneOf(text: string, language: Language, region: RegionCode): string {
  const phone = normalisePhone(text, region)
  if (phone === undefined)
    throw new Refusal('invalid_input', { fields: { phone: phoneFaults[region][language] } })
  return phone
}

interface Reached {
  readonly email?: string
  readonly phone?: string
}

/** Accounts that have proven one of these. */
const provenWith = (db: Queryable, { email, phone }: Reached) =>
  db
    .selectFrom('customer')
    .select(['id', 'email', 'phone'])
    .where('active', '=', true)
    .where((eb) => eb.or([eb('email', '=', email ?? ''), eb('phone', '=', phone ?? '')]))
    .execute()

/** Refuses with email_taken or phone_taken an address that an account has proven. */
export async function refuseProven(db: Queryable, reached: Reached): Promise<void> {
  const { email, phone } = reached
  const held = await provenWith(db, reached)
  if (held.some((other) => other.email === email)) throw new Refusal('email_taken')
  if (held.some((other) => other.phone === phone)) throw new Refusal('phone_taken')
}

/** Which of these an account other than the customer's has proven. */
export async function provenByOthers(
  db: Queryable,
  customerId: string,
  reached: Required<Reached>,
): Promise<{ readonly email: boolean; readonly phone: boolean }> {
  const others = (await provenWith(db, reached)).filter(({ id }) => id !== customerId)
  return {
    email: others.some(({ email }) => email === reached.email),
    phone: others.some(({ phone }) => phone === reached.phone),
  }
}

/** The error to throw for a failed write: email_taken, phone_taken, or the error itself. */
export function refusalOfConstraint(error: unknown): unknown {
  const constraint = databaseError(error)?.constraint
  if (constraint === 'customer_email_unique') return new Refusal('email_taken')
  if (constraint === 'customer_phone_unique') return new Refusal('phone_taken')
  return error
}
