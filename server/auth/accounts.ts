/** Registration, activation, sign-in and recovery. */
import { randomUUID } from 'node:crypto'
import type * as z from 'zod/mini'
import type { Me } from '../../contract/auth.ts'
import type { Registration } from '../../contract/registration.ts'
import type { Language } from '../../contract/errors.ts'
import type { Currency, RegionCode } from '../../contract/money.ts'
import { hours, later, type Clock } from '../platform/clock.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Limits } from '../platform/limits.ts'
import type { Log } from '../platform/log.ts'
import type { Secrets } from '../platform/secrets.ts'
import { phoneOf, takenOf } from './addresses.ts'
import { createGuards } from './guards.ts'
import { spokenBy, type Speaker } from './language.ts'
import { addressRow, printedOf, refuseUnknownPlace, type LocationOf } from './billing-details.ts'
import { hashPassword, refuseCommon, spendVerification, verifyPassword } from './password.ts'
import { endSessions, openSession, type Caller, type EndLive, type Origin } from './session.ts'
import { noteSignIn } from './sign-ins.ts'

/** What the auth room needs of others; `app.ts` hands it over. */
export interface AuthNeeds {
  readonly db: Database
  readonly log: Log
  readonly clock: Clock
  readonly secrets: Secrets
  readonly limits: Limits
  /** From one address; 0: as many as like. */
  readonly registrationsAnHour: number
  /** `until`: when it is worth nothing any more and is not sent. */
  readonly sendSms: (tx: Tx, to: string, text: string, until?: Date) => Promise<void>
  readonly sendMail: (tx: Tx, to: string, subject: string, text: string, until?: Date) => Promise<void>
  readonly currencyOf: (region: RegionCode) => Currency
  readonly languageOf: (region: RegionCode) => Me['language']
  readonly openWallet: (tx: Tx, customerId: string, currency: Currency) => Promise<void>
  readonly closeWallets: (tx: Tx, customerIds: readonly string[]) => Promise<void>
  readonly balanceOf: (db: Queryable, customerId: string) => Promise<{ balance: bigint; currency: Currency }>
  readonly locationOf: LocationOf
  /** The place of an id as an address ends in it, while it is in the list. */
  readonly printedPlace: (id: string) => string | undefined
  /** Closes what is open under these sessions, after the commit. */
  readonly endLive: EndLive
}

export interface Customer {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly phone: string
  readonly regionCode: RegionCode
  /** Of letters and messages. */
  readonly language: Language
  /** In one line, as invoices print it. */
  readonly address?: string
  readonly company?: string
  readonly taxCode?: string
}

export interface Accounts {
  register(tx: Tx, form: z.output<typeof Registration>, from: Origin, language: Language): Promise<{ id: string }>
  activate(tx: Tx, email: string, code: string, from: Origin): Promise<void>
  sendActivation(tx: Tx, email: string, language: Language): Promise<void>
  /**
   * Sends the activation to another phone, for who mistyped it at the registration. Refuses with bad_credentials, account_active,
   * phone_taken, invalid_input, rate_limited.
   */
  correctPhone(tx: Tx, asked: { email: string; password: string; phone: string }, from: Origin, language: Language): Promise<void>
  login(tx: Tx, email: string, password: string, from: Origin): Promise<{ accessToken: string; expiresAt: Date }>
  logout(tx: Tx, caller: Caller): Promise<void>
  recover(tx: Tx, email: string): Promise<void>
  reset(tx: Tx, asked: { email: string; code: string; password: string }, from: Origin, language: Language): Promise<void>
  me(db: Queryable, customerId: string): Promise<Me>
  customer(db: Queryable, customerId: string): Promise<Customer>
  /** By their ids; those who are not there are missing. */
  customers(db: Queryable, ids: readonly string[]): Promise<Map<string, Customer>>
  /** Forgets who registered, or last asked for a code, more than a day ago and never activated: email and phone are free again. */
  dropNeverActivated(): Promise<void>
}

const activateWithinMs = hours(24)
/** In one go of the tidying; the rest waits for the next. */
const droppedAtOnce = 1000

const texts = {
  activate: {
    en: (code: string) => `Your activation code is ${code}. It is good for 10 minutes. Do not share it with anybody.`,
    // Without accents: one SMS of the GSM alphabet.
    vi: (code: string) => `Ma kich hoat cua ban la ${code}. Ma co hieu luc trong 10 phut. Khong chia se ma nay cho bat ky ai.`,
  },
  recoverSubject: { en: 'Your password recovery code', vi: 'Mã khôi phục mật khẩu' },
  recover: {
    en: (code: string) =>
      `Your password recovery code is ${code}.\nIt is good for 10 minutes. If you did not ask for it, you can ignore this message.`,
    vi: (code: string) =>
      `Mã khôi phục mật khẩu của bạn là ${code}.\nMã có hiệu lực trong 10 phút. Nếu bạn không yêu cầu, hãy bỏ qua thư này.`,
  },
} as const

export function createAccounts(needs: AuthNeeds): Accounts {
  const { clock } = needs
  const { codes, failuresOfAccount, failuresOfAddress, resends, registrations } = createGuards(needs)

  const byEmail = (db: Queryable, email: string) => db.selectFrom('customer').selectAll().where('email', '=', email).executeTakeFirst()
  const spoken = (row: Speaker): Language => spokenBy(row, needs.languageOf)

  /** The account of an email and its password. Refuses with bad_credentials, in the same time for an unknown email, and with rate_limited. */
  async function proven(tx: Tx, email: string, password: string, from: Origin) {
    await failuresOfAddress.check(from.ip)
    await failuresOfAccount.check(email)
    const customer = await byEmail(tx, email)
    if (!customer) await spendVerification(password)
    if (!customer || !(await verifyPassword(customer.password_hash, password))) {
      await Promise.all([failuresOfAddress.take(from.ip), failuresOfAccount.take(email)])
      // Apart from the answer, which would otherwise come later for an account that exists.
      if (customer) {
        noteSignIn(needs.db, clock, customer.id, from, 'failed').catch((error: unknown) =>
          needs.log.warn({ err: error }, 'noting a failed sign-in'),
        )
      }
      throw new Refusal('bad_credentials')
    }
    // Asked again: of many guesses at once, those that were still being judged when the limit was reached do not count.
    await failuresOfAccount.check(email)
    return customer
  }

  async function activationTo(tx: Tx, { id, phone }: { id: string; phone: string }, language: Language): Promise<void> {
    const { code, expiresAt } = await codes.issue(tx, id, 'activate')
    await needs.sendSms(tx, phone, texts.activate[language](code), expiresAt)
  }

  const accounts: Accounts = {
    async register(tx, form, from, language) {
      const phone = phoneOf(form.phone, language)
      refuseCommon(form.password, language)
      if (form.address) refuseUnknownPlace(needs.locationOf, form.address, language)
      await registrations?.take(from.ip)
      const id = randomUUID()
      const passwordHash = await hashPassword(form.password)
      try {
        await tx
          .insertInto('customer')
          .values({
            id,
            email: form.email,
            phone,
            name: form.name,
            password_hash: passwordHash,
            region_code: form.region_code,
            ...addressRow(form.address),
            created_at: clock.now(),
          })
          .execute()
      } catch (error) {
        throw takenOf(error)
      }
      await needs.openWallet(tx, id, needs.currencyOf(form.region_code))
      await activationTo(tx, { id, phone }, language)
      return { id }
    },

    async activate(tx, email, code, from) {
      const customer = await byEmail(tx, email)
      await codes.redeem(tx, customer?.id, 'activate', code, from.ip)
      const { numUpdatedRows } = await tx.updateTable('customer').set({ active: true }).where('email', '=', email).executeTakeFirst()
      // The account was forgotten at this very moment.
      if (numUpdatedRows === 0n) throw new Refusal('otp_expired')
    },

    async sendActivation(tx, email, language) {
      await resends.take(`activate:${email}`)
      const customer = await byEmail(tx, email)
      if (!customer || customer.active) return
      await activationTo(tx, customer, language)
    },

    async correctPhone(tx, { email, password, phone }, from, language) {
      const number = phoneOf(phone, language)
      const { id, active } = await proven(tx, email, password, from)
      if (active) throw new Refusal('account_active')
      try {
        await tx.updateTable('customer').set({ phone: number }).where('id', '=', id).where('active', '=', false).execute()
      } catch (error) {
        throw takenOf(error)
      }
      await resends.take(`activate:${email}`)
      await activationTo(tx, { id, phone: number }, language)
    },

    async login(tx, email, password, from) {
      const customer = await proven(tx, email, password, from)
      if (!customer.active) throw new Refusal('account_inactive')
      await failuresOfAccount.forget(email)
      await noteSignIn(tx, clock, customer.id, from, 'succeeded')
      // Judging takes a while: a password that was replaced meanwhile opens no session, for the replacing has ended those that it saw.
      const still = await tx.selectFrom('customer').select('password_hash').where('id', '=', customer.id).forShare().executeTakeFirst()
      if (still?.password_hash !== customer.password_hash) throw new Refusal('bad_credentials')
      return await openSession(tx, clock, customer.id, from)
    },

    async logout(tx, { customerId, sessionId }) {
      await endSessions(tx, needs.endLive, { customerId, only: sessionId })
    },

    async recover(tx, email) {
      await resends.take(`recover:${email}`)
      const customer = await byEmail(tx, email)
      if (!customer) return
      const language = spoken(customer)
      const { code, expiresAt } = await codes.issue(tx, customer.id, 'recover')
      await needs.sendMail(tx, customer.email, texts.recoverSubject[language], texts.recover[language](code), expiresAt)
    },

    async reset(tx, { email, code, password }, from, language) {
      refuseCommon(password, language)
      const customer = await byEmail(tx, email)
      await codes.redeem(tx, customer?.id, 'recover', code, from.ip)
      if (!customer) throw new Refusal('otp_expired')
      await tx
        .updateTable('customer')
        .set({ password_hash: await hashPassword(password) })
        .where('id', '=', customer.id)
        .execute()
      await codes.drop(tx, customer.id, 'email', 'phone')
      await endSessions(tx, needs.endLive, { customerId: customer.id })
      await failuresOfAccount.forget(email)
    },

    async me(db, customerId) {
      const row = await db
        .selectFrom('customer')
        .select(['id', 'email', 'name', 'phone', 'region_code', 'language', 'time_zone'])
        .where('id', '=', customerId)
        .executeTakeFirstOrThrow()
      const { language, time_zone, ...person } = row
      const region = row.region_code as RegionCode
      const { balance, currency } = await needs.balanceOf(db, customerId)
      return {
        ...person,
        region_code: region,
        balance: Number(balance),
        currency,
        language: (language as Me['language'] | null) ?? needs.languageOf(region),
        timeZone: time_zone,
      }
    },

    async dropNeverActivated() {
      const before = later(clock.now(), -activateWithinMs)
      await transaction(needs.db, async (tx) => {
        const forgotten = await tx
          .selectFrom('customer')
          .select('id')
          .where('active', '=', false)
          .where('created_at', '<', before)
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom('one_time_code')
                  .select('purpose')
                  .whereRef('customer_id', '=', 'customer.id')
                  .where('purpose', '=', 'activate')
                  .where('sent_at', '>=', before),
              ),
            ),
          )
          .limit(droppedAtOnce)
          .forUpdate()
          .skipLocked()
          .execute()
        const ids = forgotten.map(({ id }) => id)
        if (ids.length === 0) return
        await needs.closeWallets(tx, ids)
        await tx.deleteFrom('customer').where('id', 'in', ids).execute()
      })
    },

    async customer(db, customerId) {
      const found = (await accounts.customers(db, [customerId])).get(customerId)
      if (!found) throw new Error(`no customer ${customerId}`)
      return found
    },

    async customers(db, ids) {
      if (ids.length === 0) return new Map()
      const rows = await db
        .selectFrom('customer')
        .select(['id', 'email', 'name', 'phone', 'region_code', 'language', 'address_line', 'location_id', 'company', 'tax_code'])
        .where('id', 'in', ids)
        .execute()
      return new Map(
        rows.map((row) => [
          row.id,
          {
            id: row.id,
            email: row.email,
            name: row.name,
            phone: row.phone,
            regionCode: row.region_code as RegionCode,
            language: spoken(row),
            ...printedOf(needs.printedPlace, row),
          },
        ]),
      )
    },
  }
  return accounts
}
