/** The email and the phone that an account is reached by: each belongs to one account only. */
import { normalisePhone } from '../../contract/registration.ts'
import type { Language } from '../../contract/errors.ts'
import { ruleText } from '../../contract/sentences.ts'
import { databaseError } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'

/** In E.164. Refuses with invalid_input. */
export function phoneOf(text: string, language: Language): string {
  const phone = normalisePhone(text)
  if (phone === undefined) throw new Refusal('invalid_input', { fields: { phone: ruleText('phone', language) } })
  return phone
}

/** What to throw for a row that could not be written: email_taken, phone_taken, or the error itself. */
export function takenOf(error: unknown): unknown {
  const constraint = databaseError(error)?.constraint
  if (constraint === 'customer_email_unique') return new Refusal('email_taken')
  if (constraint === 'customer_phone_unique') return new Refusal('phone_taken')
  return error
}
