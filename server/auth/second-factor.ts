/**
 * A customer's second factor: setting it up, checking it, and whether it was given recently. A
 * customer without one is never asked for one.
 */
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Security } from '../../contract/second-factor.ts'
import { later, minutes, type Clock } from '../platform/clock.ts'
import { onCommit, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { challengeOf, countTry, endChallenge } from './challenges.ts'
import { tellOfFactor, type EndedFactors } from './factor-letters.ts'
import type { AuthNeeds } from './needs.ts'
import type { Passkeys } from './passkeys.ts'
import { createDelays } from './sign-in-delays.ts'
import { base32, matchingStep, newTotpSecret, otpauthUri } from './totp.ts'
import { forgetDevices, listDevices } from './trusted-devices.ts'
import type { Caller } from './session.ts'

/** For how long after the factor a session may make calls that ask for it again. */
const freshMs = minutes(10)
const codeCount = 10

/** Whether the customer has a second factor: a confirmed app, or a passkey. */
export async function hasFactor(db: Queryable, customerId: string): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`select exists (
      select from totp where customer_id = ${customerId} and confirmed_at is not null
    ) or exists (select from passkey where customer_id = ${customerId}) as has`.execute(db)
  return rows[0]?.has === true
}

export async function isProven(db: Queryable, clock: Clock, caller: Caller): Promise<boolean> {
  const row = await db
    .selectFrom('session')
    .select('proven_at')
    .where('id', '=', caller.sessionId)
    .executeTakeFirst()
  if (row?.proven_at && row.proven_at > later(clock.now(), -freshMs)) return true
  return !(await hasFactor(db, caller.customerId))
}

export async function noteProof(tx: Tx, clock: Clock, sessionId: string): Promise<void> {
  await tx
    .updateTable('session')
    .set({ proven_at: clock.now() })
    .where('id', '=', sessionId)
    .execute()
}

/** Without a factor, recovery codes and trusted devices are useless. */
async function tidyWithoutFactor(tx: Tx, customerId: string): Promise<void> {
  if (await hasFactor(tx, customerId)) return
  await tx.deleteFrom('recovery_code').where('customer_id', '=', customerId).execute()
  await forgetDevices(tx, customerId)
}

/**
 * Ends factors added since then: a thief may have added them. The thief's passkey would outlive the
 * password, and the thief's app would lock the owner out.
 */
export async function endFactorsSince(
  tx: Tx,
  customerId: string,
  since: Date,
): Promise<EndedFactors> {
  const gone = (table: 'totp' | 'passkey') =>
    tx
      .deleteFrom(table)
      .where('customer_id', '=', customerId)
      .where('created_at', '>=', since)
      .executeTakeFirst()
  const app = (await gone('totp')).numDeletedRows > 0n
  const passkeys = Number((await gone('passkey')).numDeletedRows)
  if (app || passkeys > 0) await tidyWithoutFactor(tx, customerId)
  return { app, passkeys }
}

export interface SecondFactor {
  read(db: Queryable, customerId: string): Promise<Security>
  /** Refuses with rate_limited while wrong codes of the customer bring a delay. */
  checkDelay(customerId: string): Promise<void>
  /**
   * Uses up an app's code or a recovery code. False: the code is wrong; the failure is counted, and
   * the caller must commit the count. Refuses with rate_limited, without checking the code, during
   * a delay after wrong ones.
   */
  spend(tx: Tx, customerId: string, code: string): Promise<boolean>
  /**
   * Continues a waiting sign-in. Refuses with otp_invalid, and with otp_expired if none waits any
   * more.
   */
  redeem(
    tx: Tx,
    challenge: string,
    code: string,
    onWrong: (customerId: string) => Promise<void>,
  ): Promise<{ customerId: string; remember: boolean | undefined }>
  /** Checks that a sign-in waits. Refuses with otp_expired, rate_limited. */
  prepare(challenge: string): Promise<void>
  beginTotp(tx: Tx, customerId: string): Promise<{ secret: string; uri: string }>
  /** Answers recovery codes with the first factor. Refuses with otp_invalid, otp_expired. */
  confirmTotp(tx: Tx, caller: Caller, code: string): Promise<string[] | null>
  /** Answers recovery codes with the first factor. Refuses with passkey_refused. */
  addPasskey(
    tx: Tx,
    caller: Caller,
    made: Parameters<Passkeys['add']>[2],
    name: string,
  ): Promise<string[] | null>
  /** Refuses with not_found. */
  removeTotp(tx: Tx, customerId: string): Promise<void>
  /** Refuses with not_found. */
  removePasskey(tx: Tx, customerId: string, id: string): Promise<void>
  /** Recovery codes with the first factor; null if the customer has some already. */
  firstCodes(tx: Tx, customerId: string): Promise<string[] | null>
  /** Refuses with conflict if the customer has no factor. */
  replaceCodes(tx: Tx, customerId: string): Promise<string[]>
}

export function createSecondFactor(needs: AuthNeeds, passkeys: Passkeys): SecondFactor {
  const { db, clock, secrets, log } = needs
  const purpose = (customerId: string): string => `totp:${customerId}`
  const failuresOf = (customerId: string): string => `second-factor:${customerId}`
  const plain = (code: string): string => code.toLowerCase().replace(/[^a-z0-9]/g, '')
  const fingerprint = (customerId: string, code: string): Buffer =>
    secrets.fingerprint(`recovery-code:${customerId}`, plain(code))

  async function spendTotp(tx: Tx, customerId: string, code: string): Promise<boolean> {
    const row = await tx
      .selectFrom('totp')
      .select(['secret', 'last_step'])
      .where('customer_id', '=', customerId)
      .where('confirmed_at', 'is not', null)
      .forUpdate()
      .executeTakeFirst()
    if (!row) return false
    const secret = secrets.open(purpose(customerId), row.secret)
    const step = matchingStep(secret, code, clock.now(), Number(row.last_step))
    if (step === undefined) return false
    await tx
      .updateTable('totp')
      .set({ last_step: BigInt(step) })
      .where('customer_id', '=', customerId)
      .execute()
    return true
  }
  async function spendRecovery(tx: Tx, customerId: string, code: string): Promise<boolean> {
    const used = await tx
      .deleteFrom('recovery_code')
      .where('customer_id', '=', customerId)
      .where('code_fingerprint', '=', fingerprint(customerId, code))
      .returning('customer_id')
      .executeTakeFirst()
    return used !== undefined
  }
  async function newCodes(tx: Tx, customerId: string): Promise<string[]> {
    await tx.deleteFrom('recovery_code').where('customer_id', '=', customerId).execute()
    // Fifty bits each; wrong guesses cause delays, as for passwords.
    const codes = Array.from({ length: codeCount }, () => {
      const text = base32(randomBytes(7)).toLowerCase().slice(0, 10)
      return `${text.slice(0, 5)}-${text.slice(5)}`
    })
    await tx
      .insertInto('recovery_code')
      .values(
        codes.map((code) => ({
          customer_id: customerId,
          code_fingerprint: fingerprint(customerId, code),
        })),
      )
      .execute()
    return codes
  }

  const factor: SecondFactor = {
    async read(from, customerId) {
      const totp = await from
        .selectFrom('totp')
        .select('customer_id')
        .where('customer_id', '=', customerId)
        .where('confirmed_at', 'is not', null)
        .executeTakeFirst()
      const left = await from
        .selectFrom('recovery_code')
        .select((eb) => eb.fn.countAll<bigint>().as('count'))
        .where('customer_id', '=', customerId)
        .executeTakeFirstOrThrow()
      return {
        totp: totp !== undefined,
        passkeys: await passkeys.list(from, customerId),
        passkeyOrigin: passkeys.origin,
        recoveryCodesLeft: Number(left.count),
        devices: await listDevices(from, clock, customerId),
      }
    },

    checkDelay: (customerId) => createDelays(db, clock).check(failuresOf(customerId)),

    async spend(tx, customerId, code) {
      // Parallel codes wait for each other, and each sees the delay that the one before began: a
      // burst sent at the end of a delay is worth one guess. This covers recovery codes too, so the
      // lock is not on the app's row.
      await sql`select pg_advisory_xact_lock(hashtextextended(${failuresOf(customerId)},
        0))`.execute(tx)
      const delays = createDelays(tx, clock)
      await delays.check(failuresOf(customerId))
      const right = /^\d{6}$/.test(code)
        ? await spendTotp(tx, customerId, code)
        : await spendRecovery(tx, customerId, code)
      if (right) await delays.forget(failuresOf(customerId))
      else {
        await delays.fail(failuresOf(customerId))
        onCommit(tx, () =>
          log.info(
            { event: 'second_factor_failed', customer: customerId },
            'a wrong second factor',
          ),
        )
      }
      return right
    },

    async prepare(challenge) {
      const waiting = await challengeOf(db, clock, challenge, 'sign_in')
      if (!waiting?.customer_id) throw new Refusal('otp_expired')
      await factor.checkDelay(waiting.customer_id)
    },

    async redeem(tx, challenge, code, onWrong) {
      // Count first: each of several parallel guesses counts, and none is checked beyond the last
      // try.
      const waiting = await countTry(tx, clock, challenge)
      if (!waiting?.customer_id) throw new Refusal('otp_expired')
      const { customer_id: customerId, remember } = waiting
      if (!(await factor.spend(tx, customerId, code))) {
        await onWrong(customerId)
        throw new Refusal('otp_invalid', { keepsWrites: true })
      }
      await endChallenge(tx, challenge)
      return { customerId, remember: remember ?? undefined }
    },

    async beginTotp(tx, customerId) {
      const { email } = await tx
        .selectFrom('customer')
        .select('email')
        .where('id', '=', customerId)
        .executeTakeFirstOrThrow()
      const secret = newTotpSecret()
      const values = {
        secret: secrets.seal(purpose(customerId), secret),
        confirmed_at: null,
        last_step: 0n,
        created_at: clock.now(),
      }
      const written = await tx
        .insertInto('totp')
        .values({ customer_id: customerId, ...values })
        .onConflict((conflict) =>
          // A confirmed app stays in use until it is removed.
          conflict.column('customer_id').doUpdateSet(values).where('totp.confirmed_at', 'is', null),
        )
        .returning('customer_id')
        .executeTakeFirst()
      if (!written) throw new Refusal('conflict')
      return { secret, uri: otpauthUri(secret, needs.brandName, email) }
    },

    async confirmTotp(tx, { customerId, sessionId }, code) {
      const row = await tx
        .selectFrom('totp')
        .selectAll()
        .where('customer_id', '=', customerId)
        .where('confirmed_at', 'is', null)
        .where('created_at', '>', later(clock.now(), -minutes(30)))
        .forUpdate()
        .executeTakeFirst()
      if (!row) throw new Refusal('otp_expired')
      const secret = secrets.open(purpose(customerId), row.secret)
      const step = matchingStep(secret, code.trim(), clock.now(), 0)
      if (step === undefined) throw new Refusal('otp_invalid')
      const codes = await factor.firstCodes(tx, customerId)
      await tx
        .updateTable('totp')
        .set({ confirmed_at: clock.now(), last_step: BigInt(step) })
        .where('customer_id', '=', customerId)
        .execute()
      await noteProof(tx, clock, sessionId)
      await tellOfFactor(tx, needs, customerId, { news: 'appAdded', since: row.created_at })
      return codes
    },

    async addPasskey(tx, { customerId, sessionId }, made, name) {
      const codes = await factor.firstCodes(tx, customerId)
      await passkeys.add(tx, customerId, made, name)
      await noteProof(tx, clock, sessionId)
      await tellOfFactor(tx, needs, customerId, { news: 'passkeyAdded', since: clock.now() })
      return codes
    },

    async removeTotp(tx, customerId) {
      const gone = await tx
        .deleteFrom('totp')
        .where('customer_id', '=', customerId)
        .where('confirmed_at', 'is not', null)
        .returning('customer_id')
        .executeTakeFirst()
      if (!gone) throw new Refusal('not_found')
      await tidyWithoutFactor(tx, customerId)
      await tellOfFactor(tx, needs, customerId, { news: 'appRemoved', since: clock.now() })
    },

    async removePasskey(tx, customerId, id) {
      await passkeys.remove(tx, customerId, id)
      await tidyWithoutFactor(tx, customerId)
      await tellOfFactor(tx, needs, customerId, { news: 'passkeyRemoved', since: clock.now() })
    },

    firstCodes: async (tx, customerId) =>
      (await hasFactor(tx, customerId)) ? null : await newCodes(tx, customerId),

    async replaceCodes(tx, customerId) {
      if (!(await hasFactor(tx, customerId))) throw new Refusal('conflict')
      return await newCodes(tx, customerId)
    },
  }
  return factor
}
