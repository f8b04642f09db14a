/** One-time codes: six digits, ten minutes, five tries. Only a keyed fingerprint is stored. */
import { randomInt } from 'node:crypto'
import { later, minutes, type Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import { sameBytes, type Secrets } from '../platform/secrets.ts'

export type Purpose = 'activate' | 'recover'

const lifeMs = minutes(10)
const maxTries = 5

export interface Codes {
  /** Makes a new code; an older one of the same purpose ends. */
  issue(tx: Tx, customerId: string, purpose: Purpose): Promise<string>
  /** `wrong` counts a try: the caller must keep the write. The right code is used up. */
  redeem(tx: Tx, customerId: string, purpose: Purpose, code: string): Promise<'right' | 'wrong' | 'ended'>
}

export function createCodes(clock: Clock, secrets: Secrets): Codes {
  const fingerprint = (customerId: string, purpose: Purpose, code: string): Buffer =>
    secrets.fingerprint(`code:${purpose}:${customerId}`, code)
  return {
    async issue(tx, customerId, purpose) {
      const code = String(randomInt(1_000_000)).padStart(6, '0')
      const now = clock.now()
      const fresh = { code_fingerprint: fingerprint(customerId, purpose, code), tries: 0, sent_at: now, expires_at: later(now, lifeMs) }
      await tx
        .insertInto('one_time_code')
        .values({ customer_id: customerId, purpose, ...fresh })
        .onConflict((conflict) => conflict.columns(['customer_id', 'purpose']).doUpdateSet(fresh))
        .execute()
      return code
    },
    async redeem(tx, customerId, purpose, code) {
      const row = await tx
        .selectFrom('one_time_code')
        .selectAll()
        .where('customer_id', '=', customerId)
        .where('purpose', '=', purpose)
        .forUpdate()
        .executeTakeFirst()
      if (!row || row.tries >= maxTries || row.expires_at <= clock.now()) return 'ended'
      const own = tx.updateTable('one_time_code').where('customer_id', '=', customerId).where('purpose', '=', purpose)
      if (!sameBytes(row.code_fingerprint, fingerprint(customerId, purpose, code))) {
        await own.set({ tries: row.tries + 1 }).execute()
        return 'wrong'
      }
      await tx.deleteFrom('one_time_code').where('customer_id', '=', customerId).where('purpose', '=', purpose).execute()
      return 'right'
    },
  }
}
