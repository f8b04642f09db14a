/** What customers change of their own account. Whatever opens the account asks for the password again, and tells the address that had it before. */
import type * as z from 'zod/mini'
import type { Account, changeAccount } from '../../contract/account.ts'
import type { Language } from '../../contract/errors.ts'
import type { RegionCode } from '../../contract/money.ts'
import { ruleText } from '../../contract/sentences.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { AuthNeeds } from './accounts.ts'
import { phoneOf, takenOf } from './addresses.ts'
import { addressOf, addressRow, refuseUnknownPlace } from './billing-details.ts'
import { createGuards } from './guards.ts'
import { spokenBy } from './language.ts'
import { hashPassword, refuseCommon, verifyPassword } from './password.ts'
import { texts } from './profile-texts.ts'
import { endSessions, type Caller } from './session.ts'

export interface Profile {
  read(db: Queryable, customerId: string): Promise<Account>
  /** Refuses with invalid_input an address in a place that is in no list. */
  change(tx: Tx, customerId: string, wish: z.output<typeof changeAccount.body>, language: Language): Promise<Account>
  /** Ends every other session and any recovery that is under way. Refuses with invalid_input (`current`, `password`) or rate_limited. */
  changePassword(tx: Tx, caller: Caller, current: string, password: string, language: Language): Promise<void>
  /** Sends a code to the new address. Refuses with invalid_input, rate_limited, email_taken. */
  beginEmail(tx: Tx, customerId: string, email: string, password: string, language: Language): Promise<void>
  confirmEmail(tx: Tx, customerId: string, code: string): Promise<Account>
  /** Sends a code to the new number. Refuses with invalid_input, rate_limited, phone_taken. */
  beginPhone(tx: Tx, customerId: string, phone: string, password: string, language: Language): Promise<void>
  confirmPhone(tx: Tx, customerId: string, code: string): Promise<Account>
  /** Refuses with not_found what is not a living session of the caller's. */
  endSession(tx: Tx, caller: Caller, sessionId: string): Promise<void>
  endOthers(tx: Tx, caller: Caller): Promise<number>
}

export function createProfile(needs: AuthNeeds): Profile {
  const { codes, failuresOfAccount, resends } = createGuards(needs)

  const own = (db: Queryable, customerId: string) =>
    db.selectFrom('customer').selectAll().where('id', '=', customerId).executeTakeFirstOrThrow()

  /** The customer, once they have proven that they know the password. Counted like sign-ins, so that a stolen session buys no guesses. */
  async function proven(tx: Tx, customerId: string, password: string, field: string, language: Language) {
    const customer = await own(tx, customerId)
    await failuresOfAccount.check(customer.email)
    if (!(await verifyPassword(customer.password_hash, password))) {
      await failuresOfAccount.take(customer.email)
      throw new Refusal('invalid_input', { fields: { [field]: ruleText('password_wrong', language) } })
    }
    // Asked again: of many guesses at once, those that were still being judged when the limit was reached do not count.
    await failuresOfAccount.check(customer.email)
    return { ...customer, spoken: spokenBy(customer, needs.languageOf) }
  }

  async function refuseTaken(tx: Tx, column: 'email' | 'phone', value: string): Promise<void> {
    const other = await tx.selectFrom('customer').select('id').where(column, '=', value).executeTakeFirst()
    if (other) throw new Refusal(column === 'email' ? 'email_taken' : 'phone_taken')
  }

  /** Somebody may have taken it since the code was sent. */
  async function write(tx: Tx, customerId: string, change: { email: string } | { phone: string }): Promise<void> {
    try {
      await tx.updateTable('customer').set(change).where('id', '=', customerId).execute()
    } catch (error) {
      throw takenOf(error)
    }
  }

  const profile: Profile = {
    async read(db, customerId) {
      const row = await own(db, customerId)
      const region = row.region_code as RegionCode
      return {
        name: row.name,
        email: row.email,
        phone: row.phone,
        region_code: region,
        language: (row.language as Account['language'] | null) ?? needs.languageOf(region),
        timeZone: row.time_zone,
        address: addressOf(needs.locationOf, row),
        company: row.company,
        taxCode: row.tax_code,
        createdAt: row.created_at.toISOString(),
      }
    },

    async change(tx, customerId, { name, language, timeZone, address, company, taxCode }, spoken) {
      if (address) refuseUnknownPlace(needs.locationOf, address, spoken)
      const wish = {
        ...(name !== undefined && { name }),
        ...(language !== undefined && { language }),
        ...(timeZone !== undefined && { time_zone: timeZone }),
        ...(address !== undefined && addressRow(address)),
        ...(company !== undefined && { company }),
        ...(taxCode !== undefined && { tax_code: taxCode }),
      }
      if (Object.keys(wish).length > 0) await tx.updateTable('customer').set(wish).where('id', '=', customerId).execute()
      return await profile.read(tx, customerId)
    },

    async changePassword(tx, caller, current, password, language) {
      refuseCommon(password, language)
      const customer = await proven(tx, caller.customerId, current, 'current', language)
      await tx
        .updateTable('customer')
        .set({ password_hash: await hashPassword(password) })
        .where('id', '=', customer.id)
        .execute()
      await profile.endOthers(tx, caller)
      // What somebody else may have begun who knew the old one.
      await codes.drop(tx, customer.id, 'recover', 'email', 'phone')
      await failuresOfAccount.forget(customer.email)
      const { subject, text } = texts.passwordChanged[customer.spoken]
      await needs.sendMail(tx, customer.email, subject, text)
    },

    async beginEmail(tx, customerId, email, password, language) {
      const customer = await proven(tx, customerId, password, 'password', language)
      if (email === customer.email) throw new Refusal('invalid_input', { fields: { email: ruleText('email_same', language) } })
      await refuseTaken(tx, 'email', email)
      await resends.take(`email:${customerId}`)
      const { subject, text } = texts.emailCode[customer.spoken]
      const { code, expiresAt } = await codes.issue(tx, customerId, 'email', email)
      await needs.sendMail(tx, email, subject, text(code), expiresAt)
    },

    async confirmEmail(tx, customerId, code) {
      const email = await codes.redeem(tx, customerId, 'email', code)
      if (email === null) throw new Error('a code for a new email address has none')
      const before = await own(tx, customerId)
      await write(tx, customerId, { email })
      // A recovery that was asked for at the old address ends with it.
      await codes.drop(tx, customerId, 'recover')
      const { subject, text } = texts.emailChanged[spokenBy(before, needs.languageOf)]
      await needs.sendMail(tx, before.email, subject, text(email))
      return await profile.read(tx, customerId)
    },

    async beginPhone(tx, customerId, typed, password, language) {
      const phone = phoneOf(typed, language)
      const customer = await proven(tx, customerId, password, 'password', language)
      if (phone === customer.phone) throw new Refusal('invalid_input', { fields: { phone: ruleText('phone_same', language) } })
      await refuseTaken(tx, 'phone', phone)
      await resends.take(`phone:${customerId}`)
      const { code, expiresAt } = await codes.issue(tx, customerId, 'phone', phone)
      await needs.sendSms(tx, phone, texts.phoneCode[customer.spoken](code), expiresAt)
    },

    async confirmPhone(tx, customerId, code) {
      const phone = await codes.redeem(tx, customerId, 'phone', code)
      if (phone === null) throw new Error('a code for a new phone number has none')
      await write(tx, customerId, { phone })
      const customer = await own(tx, customerId)
      const { subject, text } = texts.phoneChanged[spokenBy(customer, needs.languageOf)]
      await needs.sendMail(tx, customer.email, subject, text(phone))
      return await profile.read(tx, customerId)
    },

    async endSession(tx, { customerId }, sessionId) {
      if (!isUuid(sessionId) || (await endSessions(tx, needs.endLive, { customerId, only: sessionId })) === 0)
        throw new Refusal('not_found')
    },
    endOthers: (tx, { customerId, sessionId }) => endSessions(tx, needs.endLive, { customerId, but: sessionId }),
  }
  return profile
}
