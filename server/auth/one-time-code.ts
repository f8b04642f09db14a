/** One-time codes: six digits, ten minutes, five tries. Only a keyed fingerprint is stored. */
import { randomInt } from 'node:crypto'
import { later, minutes, type Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Limit } from '../platform/limits.ts'
import { sameBytes, type Secrets } from '../platform/secrets.ts'

export type Purpose = 'activate' | 'recover' | 'email' | 'phone'

const lifeMs = minutes(10)
const maxTries = 5

export interface Codes {
  /** Makes a new code; an older one of the same purpose ends. `target`: the new address that it will prove. */
  issue(tx: Tx, customerId: string, purpose: Purpose, target?: string): Promise<{ code: string; expiresAt: Date }>
  /**
   * Uses the right code up and answers its target. Refuses with otp_invalid or otp_expired, and then keeps the count of tries: the caller writes
   * nothing before. Without a customer (an unknown email) it answers like a code that ended. With rate_limited after many wrong ones for the
   * account, or from the address `ip` that somebody who is not signed in calls from.
   */
  redeem(tx: Tx, customerId: string | undefined, purpose: Purpose, code: string, ip?: string): Promise<string | null>
  /** Ends what was sent to an address or under a password that is no longer the customer's. */
  drop(tx: Tx, customerId: string, ...purposes: [Purpose, ...Purpose[]]): Promise<void>
}

/** `wrongCodes` counts per account, so that asking for new codes buys no more guesses, and per address. */
export function createCodes(clock: Clock, secrets: Secrets, wrongCodes: { ofAccount: Limit; ofAddress: Limit }): Codes {
  const fingerprint = (customerId: string, purpose: Purpose, code: string): Buffer =>
    secrets.fingerprint(`code:${purpose}:${customerId}`, code)
  // Its refusal is for the next guess: thrown here it would roll back the count on the code itself, and of many guesses at once each would be free.
  const countWrong = (limit: Limit, key: string) =>
    limit.take(key).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error
    })
  const codes: Codes = {
    async issue(tx, customerId, purpose, target) {
      const code = String(randomInt(1_000_000)).padStart(6, '0')
      const now = clock.now()
      const fresh = {
        code_fingerprint: fingerprint(customerId, purpose, code),
        target: target ?? null,
        tries: 0,
        sent_at: now,
        expires_at: later(now, lifeMs),
      }
      await tx
        .insertInto('one_time_code')
        .values({ customer_id: customerId, purpose, ...fresh })
        .onConflict((conflict) => conflict.columns(['customer_id', 'purpose']).doUpdateSet(fresh))
        .execute()
      return { code, expiresAt: fresh.expires_at }
    },
    async redeem(tx, customerId, purpose, code, ip) {
      if (ip !== undefined) await wrongCodes.ofAddress.check(ip)
      const ended = new Refusal('otp_expired', { keepsWrites: true })
      if (customerId === undefined) throw ended
      const guesses = `${purpose}:${customerId}`
      await wrongCodes.ofAccount.check(guesses)
      const row = await tx
        .selectFrom('one_time_code')
        .selectAll()
        .where('customer_id', '=', customerId)
        .where('purpose', '=', purpose)
        .forUpdate()
        .executeTakeFirst()
      if (!row || row.tries >= maxTries || row.expires_at <= clock.now()) throw ended
      const own = tx.updateTable('one_time_code').where('customer_id', '=', customerId).where('purpose', '=', purpose)
      if (!sameBytes(row.code_fingerprint, fingerprint(customerId, purpose, code))) {
        await own.set({ tries: row.tries + 1 }).execute()
        await countWrong(wrongCodes.ofAccount, guesses)
        if (ip !== undefined) await countWrong(wrongCodes.ofAddress, ip)
        throw new Refusal('otp_invalid', { keepsWrites: true })
      }
      await codes.drop(tx, customerId, purpose)
      return row.target
    },
    async drop(tx, customerId, ...purposes) {
      await tx.deleteFrom('one_time_code').where('customer_id', '=', customerId).where('purpose', 'in', purposes).execute()
    },
  }
  return codes
}
