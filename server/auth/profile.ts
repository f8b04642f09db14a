/**
 * Changes that customers make to their own accounts. Changing an email, phone or password asks for
 * the password again and notifies the address that was there before.
 */
import type * as z from 'zod/mini'
import type { Account, changeAccount } from '../../contract/account.ts'
import type { Language } from '../../contract/errors.ts'
import type { RegionCode } from '../../contract/money.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import { isUuid, onCommit, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { phoneOf, refuseProven, refusalOfConstraint } from './addresses.ts'
import { addressOf, addressRow, refuseUnknownPlace } from './billing-details.ts'
import { endChallengesOf } from './challenges.ts'
import { noteFormer } from './former-addresses.ts'
import { createGuards } from './guards.ts'
import { shownPhone } from './imported.ts'
import { languageOfCustomer } from './language.ts'
import { refuseCommon } from './password-rules.ts'
import { hashPassword, verifyPassword } from './password.ts'
import type { AuthNeeds } from './needs.ts'
import { texts } from './profile-texts.ts'
import { endSessions, renewCookie, type Caller, type Opened, type Origin } from './session.ts'
import { failuresOfCustomer } from './sign-in.ts'
import { forgetDevices } from './trusted-devices.ts'
import { createSmsAllowance } from './sms-allowance.ts'
import { smsPrefix } from './sms-prefix.ts'

/** A customer who has proven the password. */
interface ProvenCustomer {
  readonly id: string
  readonly passwordHash: string
  /** The input field of the password. */
  readonly field: 'current' | 'password'
}

export interface Profile {
  read(db: Queryable, customerId: string): Promise<Account>
  /** Refuses with invalid_input an address whose place is in no list. */
  change(
    tx: Tx,
    customerId: string,
    changes: z.output<typeof changeAccount.body>,
    language: Language,
  ): Promise<Account>
  /**
   * Proves that the customer knows the password; runs outside a transaction. Refuses with
   * invalid_input (`field`), rate_limited, unavailable.
   */
  prove(
    customerId: string,
    password: string,
    field: 'current' | 'password',
    language: Language,
  ): Promise<ProvenCustomer>
  /**
   * The hash of a customer's new password. Refuses with invalid_input (`password`), unavailable.
   */
  hash(customerId: string, password: string, language: Language): Promise<string>
  /**
   * Ends every other session and any recovery in progress; this session continues under a new
   * cookie.
   */
  changePassword(
    tx: Tx,
    caller: Caller,
    proven: ProvenCustomer,
    passwordHash: string,
    language: Language,
  ): Promise<Pick<Opened, 'cookie' | 'cookieSeconds'>>
  /** Sends a code to the new address. Refuses with invalid_input, rate_limited, email_taken. */
  beginEmail(
    tx: Tx,
    proven: ProvenCustomer,
    email: string,
    from: Origin,
    language: Language,
  ): Promise<void>
  confirmEmail(tx: Tx, customerId: string, code: string, from: Origin): Promise<Account>
  /** Sends a code to the new number. Refuses with invalid_input, rate_limited, phone_taken. */
  beginPhone(
    tx: Tx,
    proven: ProvenCustomer,
    phone: string,
    from: Origin,
    language: Language,
  ): Promise<void>
  confirmPhone(tx: Tx, customerId: string, code: string, from: Origin): Promise<Account>
  /** Refuses with not_found when the caller has no such open session. */
  endSession(tx: Tx, caller: Caller, sessionId: string): Promise<void>
  endOthers(tx: Tx, caller: Caller): Promise<number>
}

export function createProfile(needs: AuthNeeds): Profile {
  const { codes, delays, resends } = createGuards(needs)
  const wishes = needs.limits.limit('address-wish')
  const sms = createSmsAllowance({
    ...needs,
    aDay: needs.smsADay,
    countriesOf: needs.smsCountriesOf,
  })

  const own = (db: Queryable, customerId: string) =>
    db.selectFrom('customer').selectAll().where('id', '=', customerId).executeTakeFirstOrThrow()

  /** The customer's present row. Refuses if the password is no longer the verified one. */
  async function stillProven(tx: Tx, proven: ProvenCustomer, language: Language) {
    const customer = await tx
      .selectFrom('customer')
      .selectAll()
      .where('id', '=', proven.id)
      .forUpdate()
      .executeTakeFirstOrThrow()
    if (customer.password_hash !== proven.passwordHash)
      throw new Refusal('invalid_input', {
        fields: { [proven.field]: ruleText('password_wrong', language) },
      })
    return { ...customer, mailLanguage: languageOfCustomer(customer, needs.languageOf) }
  }

  /** Somebody else may have taken the address since the code was sent. */
  async function write(
    tx: Tx,
    customerId: string,
    change: { email: string; email_proven_at: Date } | { phone: string },
  ): Promise<void> {
    try {
      await tx.updateTable('customer').set(change).where('id', '=', customerId).execute()
    } catch (error) {
      throw refusalOfConstraint(error)
    }
  }

  const profile: Profile = {
    async read(db, customerId) {
      const row = await own(db, customerId)
      const region = row.region_code as RegionCode
      return {
        name: row.name,
        email: row.email,
        emailProven: row.email_proven_at !== null,
        phone: shownPhone(row.phone),
        region_code: region,
        language: (row.language as Account['language'] | null) ?? needs.languageOf(region),
        timeZone: row.time_zone,
        address: addressOf(needs.locationOf, row),
        company: row.company,
        taxCode: row.tax_code,
        createdAt: row.created_at.toISOString(),
      }
    },

    async change(
      tx,
      customerId,
      { name, language, timeZone, address, company, taxCode },
      answerLanguage,
    ) {
      if (address) refuseUnknownPlace(needs.locationOf, address, answerLanguage)
      const changes = {
        ...(name !== undefined && { name }),
        ...(language !== undefined && { language }),
        ...(timeZone !== undefined && { time_zone: timeZone }),
        ...(address !== undefined && addressRow(address)),
        ...(company !== undefined && { company }),
        ...(taxCode !== undefined && { tax_code: taxCode }),
      }
      if (Object.keys(changes).length > 0)
        await tx.updateTable('customer').set(changes).where('id', '=', customerId).execute()
      return await profile.read(tx, customerId)
    },

    // Counted like sign-ins, so that a stolen session buys no guesses.
    async prove(customerId, password, field, language) {
      const customer = await own(needs.db, customerId)
      const failures = failuresOfCustomer(customerId)
      await delays.check(failures)
      if (!(await verifyPassword(customer.password_hash, password))) {
        await delays.fail(failures)
        throw new Refusal('invalid_input', {
          fields: { [field]: ruleText('password_wrong', language) },
        })
      }
      // Check again: parallel guesses that were still being verified when a delay began must not
      // count.
      await delays.check(failures)
      return { id: customerId, passwordHash: customer.password_hash, field }
    },
    async hash(customerId, password, language) {
      refuseCommon(password, language, await own(needs.db, customerId))
      await needs.refuseBreached(password, language)
      return await hashPassword(password)
    },

    async changePassword(tx, caller, proven, passwordHash, language) {
      const customer = await stillProven(tx, proven, language)
      await tx
        .updateTable('customer')
        .set({ password_hash: passwordHash })
        .where('id', '=', customer.id)
        .execute()
      await profile.endOthers(tx, caller)
      const renewed = await renewCookie(tx, needs.clock, caller)
      // A person who knew the old password may have begun these.
      await codes.drop(tx, customer.id, 'recover', 'email', 'phone')
      await endChallengesOf(tx, customer.id)
      await forgetDevices(tx, customer.id)
      await delays.forget(customer.email, tx)
      await delays.forget(failuresOfCustomer(customer.id), tx)
      onCommit(tx, () =>
        needs.log.info(
          { event: 'password_changed', customer: customer.id },
          'a customer changed their password',
        ),
      )
      const { email: to, mailLanguage } = customer
      const letter = texts.passwordChanged[mailLanguage]
      await needs.sendAnswerable(tx, { to, language: mailLanguage, ...letter })
      return renewed
    },

    async beginEmail(tx, proven, email, from, language) {
      const customer = await stillProven(tx, proven, language)
      const customerId = customer.id
      const isSame = email === customer.email
      if (isSame && customer.email_proven_at !== null)
        throw new Refusal('invalid_input', { fields: { email: ruleText('email_same', language) } })
      await wishes.take(customerId)
      if (!isSame) await refuseProven(tx, { email })
      await resends.take(`email:${customerId}`)
      const { subject, text } = texts[isSame ? 'emailProof' : 'emailCode'][customer.mailLanguage]
      const { code, expiresAt } = await codes.issue(
        tx,
        { customerId },
        'email',
        { network: from.network, trusted: true },
        email,
      )
      await needs.sendMail(tx, email, subject, text(code), expiresAt)
    },

    async confirmEmail(tx, customerId, code, from) {
      const { target: email } = await codes.redeem(
        tx,
        [{ customerId }],
        'email',
        code,
        from.network,
      )
      if (email === null) throw new Error('a code for a new email address has none')
      const before = await own(tx, customerId)
      await write(tx, customerId, { email, email_proven_at: needs.clock.now() })
      if (email === before.email) return await profile.read(tx, customerId)
      await noteFormer(tx, needs.clock, customerId, { kind: 'email', address: before.email })
      // A recovery that was requested at the old address ends with it.
      await codes.drop(tx, customerId, 'recover')
      const language = languageOfCustomer(before, needs.languageOf)
      const { subject, text } = texts.emailChanged[language]
      const to = before.email
      await needs.sendAnswerable(tx, { to, language, subject, text: text(email) })
      return await profile.read(tx, customerId)
    },

    async beginPhone(tx, proven, typed, from, language) {
      const customer = await stillProven(tx, proven, language)
      const region = customer.region_code as RegionCode
      const phone = phoneOf(typed, language, region)
      sms.refuseCountry(phone, region, language)
      const customerId = customer.id
      if (phone === customer.phone)
        throw new Refusal('invalid_input', { fields: { phone: ruleText('phone_same', language) } })
      await wishes.take(customerId)
      await refuseProven(tx, { phone })
      await resends.take(`phone:${customerId}`)
      const at = await sms.reserve(tx, phone, { isNewcomer: false })
      // An SMS is already waiting for this number, so another would be useless.
      if (at === undefined) throw new Refusal('rate_limited', { retryAfterSeconds: 60 })
      const { code, expiresAt } = await codes.issue(
        tx,
        { customerId },
        'phone',
        { network: from.network, trusted: true },
        phone,
      )
      await needs.sendSms(
        tx,
        phone,
        texts.phoneCode[customer.mailLanguage](smsPrefix(needs.brandName), code),
        {
          from: at,
          until: expiresAt,
        },
      )
    },

    async confirmPhone(tx, customerId, code, from) {
      const { target: phone } = await codes.redeem(
        tx,
        [{ customerId }],
        'phone',
        code,
        from.network,
      )
      if (phone === null) throw new Error('a code for a new phone number has none')
      const before = await own(tx, customerId)
      await write(tx, customerId, { phone })
      const address = shownPhone(before.phone)
      if (address !== '') await noteFormer(tx, needs.clock, customerId, { kind: 'phone', address })
      const customer = await own(tx, customerId)
      const language = languageOfCustomer(customer, needs.languageOf)
      const { subject, text } = texts.phoneChanged[language]
      const to = customer.email
      await needs.sendAnswerable(tx, { to, language, subject, text: text(phone) })
      return await profile.read(tx, customerId)
    },

    async endSession(tx, { customerId }, sessionId) {
      if (
        !isUuid(sessionId) ||
        (await endSessions(tx, needs, { customerId, only: sessionId })) === 0
      )
        throw new Refusal('not_found')
    },
    endOthers: (tx, { customerId, sessionId }) =>
      endSessions(tx, needs, { customerId, except: sessionId }),
  }
  return profile
}
