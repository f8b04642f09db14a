/**
 * Registration and activation. A registration reserves neither its email nor its phone: the
 * customer who proves the phone gets both, and other registrations of them are deleted.
 */
import { randomUUID } from 'node:crypto'
import { sql, type RawBuilder } from 'kysely'
import type * as z from 'zod/mini'
import type { Language } from '../../contract/errors.ts'
import type { RegionCode } from '../../contract/money.ts'
import type { Registration as Form } from '../../contract/registration.ts'
import { hours, later, type Clock } from '../platform/clock.ts'
import { transaction, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { phoneOf, refuseProven, refusalOfConstraint } from './addresses.ts'
import { addressRow, refuseUnknownPlace } from './billing-details.ts'
import { noteFormer } from './former-addresses.ts'
import type { Guards } from './guards.ts'
import { knownOrigin, knowsOrigin, rememberOrigin } from './known-origins.ts'
import type { AuthNeeds } from './needs.ts'
import type { Requester } from './one-time-code.ts'
import { refuseCommon } from './password-rules.ts'
import { hashPassword } from './password.ts'
import type { Origin } from './session.ts'
import { refuseOvertaken, type Proven } from './sign-in.ts'
import { createSmsAllowance } from './sms-allowance.ts'
import { smsPrefix } from './sms-prefix.ts'

/** A registration checked before its transaction. */
interface Newcomer {
  readonly form: z.output<typeof Form>
  /** E.164. */
  readonly phone: string
  readonly passwordHash: string
}
/** A request for a code, counted before its transaction. */
interface PreparedCode {
  readonly by: Requester
  readonly send: boolean
}

/**
 * Operations that need an argon2 hash or a counter have two steps: one outside the transaction, one
 * in it.
 */
export interface Registration {
  /** Refuses with invalid_input, rate_limited, unavailable. */
  prepare(form: z.output<typeof Form>, from: Origin, language: Language): Promise<Newcomer>
  /** Refuses with email_taken, phone_taken, unavailable (no more SMS today). */
  register(tx: Tx, newcomer: Newcomer, from: Origin, language: Language): Promise<{ id: string }>
  activate(tx: Tx, email: string, code: string, from: Origin): Promise<void>
  /** Counts a request for the activation code. Refuses with rate_limited. */
  prepareCode(email: string, from: Origin): Promise<PreparedCode>
  sendCode(
    tx: Tx,
    email: string,
    preparedCode: PreparedCode,
    from: Origin,
    language: Language,
  ): Promise<void>
  /** Refuses with invalid_input, account_active, rate_limited. */
  prepareOtherPhone(
    proven: Proven,
    phone: string,
    from: Origin,
    language: Language,
  ): Promise<{ proven: Proven; phone: string; preparedCode: PreparedCode }>
  /**
   * Sends the activation to another phone, for a customer who mistyped it. Refuses with
   * phone_taken.
   */
  correctPhone(
    tx: Tx,
    prepared: { proven: Proven; phone: string; preparedCode: PreparedCode },
    language: Language,
  ): Promise<void>
  /**
   * Deletes registrations that were never activated and whose last code request is more than a day
   * old.
   */
  dropNeverActivated(): Promise<void>
}

const activateWithinMs = hours(24)
/** Per run of the tidy job; the rest waits for the next run. */
const droppedAtOnce = 1000
/** The number of an email's unproven registrations that a code is compared with. */
const unprovenLookedAt = 20

// Without accents, it fits one SMS of the GSM alphabet.
const text = {
  en: (sender: string, code: string) =>
    `${sender}${code} is your code. Expires in 10 min. Don't share it.`,
  vi: (sender: string, code: string) => `${sender}Ma OTP ${code}, hieu luc 10 phut. Khong chia se.`,
}

/** For a query over customers: whether the customer has a valid activation code. */
const waitsForCode = (clock: Clock): RawBuilder<boolean> => sql<boolean>`exists (
  select from one_time_code c where c.customer_id = customer.id
    and c.purpose = 'activate' and c.expires_at > ${clock.now()})`

export function createRegistration(needs: AuthNeeds, guards: Guards): Registration {
  const { db, clock } = needs
  const sms = createSmsAllowance({
    ...needs,
    aDay: needs.smsADay,
    countriesOf: needs.smsCountriesOf,
  })

  /**
   * Unproven registrations of an email: first those made from this origin, then those with a valid
   * code, then the newest. So the owner's is among them, however many a stranger makes.
   */
  const unproven = (db: Queryable, email: string, from: Origin) =>
    db
      .selectFrom('customer')
      .select(['id', 'email', 'phone'])
      .where('email', '=', email)
      .where('active', '=', false)
      .orderBy(knowsOrigin(clock, from), 'desc')
      .orderBy(waitsForCode(clock), 'desc')
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .limit(unprovenLookedAt)
      .execute()
  /**
   * Other emails' registrations of these phones. A number gets at most one SMS a minute: the code
   * sent there for somebody else's registration proves the phone as well.
   */
  const samePhones = (tx: Tx, phones: readonly string[], email: string) =>
    phones.length === 0
      ? []
      : tx
          .selectFrom('customer')
          .select(['id', 'phone'])
          .where('phone', 'in', phones)
          .where('email', '<>', email)
          .where('active', '=', false)
          .where(waitsForCode(clock))
          .orderBy('created_at', 'desc')
          .limit(unprovenLookedAt)
          .execute()

  async function codeTo(
    tx: Tx,
    { id, phone }: { id: string; phone: string },
    by: Requester,
    language: Language,
  ): Promise<void> {
    const from = await sms.reserve(tx, phone, { isNewcomer: true })
    // An SMS is about to be sent to this number already, and its code is as good as a new one.
    if (from === undefined) return
    const { code, expiresAt } = await guards.codes.issue(tx, { customerId: id }, 'activate', by)
    await needs.sendSms(tx, phone, text[language](smsPrefix(needs.brandName), code), {
      from,
      until: expiresAt,
    })
  }

  /** Deletes registrations. One with entries in its wallet stays: the ledger names it. */
  async function forget(tx: Tx, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    const empty = await needs.closeWallets(tx, ids)
    if (empty.length > 0) await tx.deleteFrom('customer').where('id', 'in', empty).execute()
  }

  /** Whether one of these registrations was made from, or activated from, this network. */
  async function isKnownOrigin(ids: readonly string[], from: Origin): Promise<boolean> {
    for (const id of ids) if (await knownOrigin(db, clock, id, from)) return true
    return false
  }

  return {
    async prepare(form, from, language) {
      const phone = phoneOf(form.phone, language, form.region_code)
      sms.refuseCountry(phone, form.region_code, language)
      refuseCommon(form.password, language, form)
      if (form.address) refuseUnknownPlace(needs.locationOf, form.address, language)
      await guards.registrations?.take(from.network)
      await refuseProven(db, { email: form.email, phone })
      await needs.refuseBreached(form.password, language)
      return { form, phone, passwordHash: await hashPassword(form.password) }
    },

    async register(tx, { form, phone, passwordHash }, from, language) {
      await refuseProven(tx, { email: form.email, phone })
      const id = randomUUID()
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
      await needs.openWallet(tx, id, needs.currencyOf(form.region_code))
      await rememberOrigin(tx, clock, id, from)
      await codeTo(tx, { id, phone }, { network: from.network, trusted: true }, language)
      return { id }
    },

    async activate(tx, email, code, from) {
      const rows = await unproven(tx, email, from)
      const phones = rows.map(({ phone }) => phone)
      const candidates = [...rows, ...(await samePhones(tx, phones, email))]
      const subjects =
        candidates.length > 0 ? candidates.map(({ id }) => ({ customerId: id })) : [{ email }]
      const right = await guards.codes.redeem(tx, subjects, 'activate', code, from.network)
      const proven = candidates.find(({ id }) => id === right.customerId)
      if (!proven) throw new Refusal('otp_expired')
      // The phone is proven, by whichever registration's code. Of several with this phone, activate
      // the one made from this origin, so that nobody activates a stranger's data.
      const same = rows.filter(({ phone }) => phone === proven.phone)
      let chosen = same.some(({ id }) => id === proven.id) ? proven.id : same[0]?.id
      if (chosen === undefined) throw new Refusal('otp_expired')
      if (same.length > 1 && !(await knownOrigin(tx, clock, chosen, from)))
        for (const { id } of same) if (await knownOrigin(tx, clock, id, from)) chosen = id
      const conflicting = await tx
        .selectFrom('customer')
        .select('id')
        .where('active', '=', false)
        .where((eb) => eb.or([eb('email', '=', email), eb('phone', '=', proven.phone)]))
        .orderBy('id')
        .forUpdate()
        .execute()
      // The registration was deleted at this very moment.
      if (!conflicting.some(({ id }) => id === chosen)) throw new Refusal('otp_expired')
      try {
        await tx.updateTable('customer').set({ active: true }).where('id', '=', chosen).execute()
      } catch (error) {
        throw refusalOfConstraint(error)
      }
      const { region_code: region } = await tx
        .selectFrom('customer')
        .select('region_code')
        .where('id', '=', chosen)
        .executeTakeFirstOrThrow()
      await needs.outbox.tellOperator(tx, {
        event: 'customer.registered',
        customerId: chosen,
        payload: { customer: { id: chosen, region_code: region } },
      })
      await forget(
        tx,
        conflicting.map(({ id }) => id).filter((id) => id !== chosen),
      )
    },

    async prepareCode(email, from) {
      const rows = await unproven(db, email, from)
      const by = {
        network: from.network,
        trusted: await isKnownOrigin(
          rows.map(({ id }) => id),
          from,
        ),
      }
      return { by, send: await guards.mayAsk('activate', email, by) }
    },
    async sendCode(tx, email, { by, send }, from, language) {
      if (!send) return
      const rows = await unproven(tx, email, from)
      if (rows.length === 0) await guards.codes.issue(tx, { email }, 'activate', by)
      // To the number registered from this origin, or else to the newest one.
      let to = rows[0]
      for (const row of rows.toReversed())
        if ((await knownOrigin(tx, clock, row.id, from)) !== undefined) to = row
      if (to) await codeTo(tx, to, by, language)
    },

    async prepareOtherPhone(proven, typed, from, language) {
      const { id, email, active } = proven
      if (active) throw new Refusal('account_active')
      const { region_code: region } = await db
        .selectFrom('customer')
        .select('region_code')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      const phone = phoneOf(typed, language, region as RegionCode)
      sms.refuseCountry(phone, region as RegionCode, language)
      await refuseProven(db, { phone })
      const by = { network: from.network, trusted: true }
      return {
        proven,
        phone,
        preparedCode: { by, send: await guards.mayAsk('activate', email, by) },
      }
    },
    async correctPhone(tx, { proven, phone, preparedCode: { by } }, language) {
      await refuseOvertaken(tx, proven)
      await refuseProven(tx, { phone })
      const { phone: address } = await tx
        .selectFrom('customer')
        .select('phone')
        .where('id', '=', proven.id)
        .forUpdate()
        .executeTakeFirstOrThrow()
      await tx
        .updateTable('customer')
        .set({ phone })
        .where('id', '=', proven.id)
        .where('active', '=', false)
        .execute()
      if (address !== phone) await noteFormer(tx, clock, proven.id, { kind: 'phone', address })
      await guards.codes.drop(tx, proven.id, 'activate')
      await codeTo(tx, { id: proven.id, phone }, by, language)
    },

    async dropNeverActivated() {
      const before = later(clock.now(), -activateWithinMs)
      await transaction(db, async (tx) => {
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
        await forget(
          tx,
          forgotten.map(({ id }) => id),
        )
      })
    },
  }
}
