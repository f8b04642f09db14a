/**
 * One-time codes: six digits, valid for ten minutes. Two may be valid for one purpose. Each network
 * has five wrong tries of its own, so that an attacker uses up neither the owner's code nor the
 * owner's tries. Only keyed fingerprints are stored.
 */
import { createHash, randomInt, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { later, minutes, type Clock } from '../platform/clock.ts'
import { dropOld } from '../platform/batches.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Limit } from '../platform/limits.ts'
import { sameBytes } from '../platform/constant-time.ts'
import type { Secrets } from '../platform/secrets.ts'

export type Purpose = 'activate' | 'recover' | 'email' | 'phone'

const lifeMs = minutes(10)
/** Wrong tries that end a code: per network, and in all. */
const maxTriesOfNetwork = 5
const maxTries = 20
const aliveAtOnce = 2

/** The subject of a code: a customer, or an unknown email, so that both get the same answers. */
export type Subject = { readonly customerId: string } | { readonly email: string }
const nameOf = (of: Subject): string =>
  'customerId' in of
    ? of.customerId
    : `unknown:${createHash('sha256').update(of.email).digest('base64url')}`

/** The requester of a code: its network, and whether the account knows it. */
export interface Requester {
  readonly network: string
  readonly trusted: boolean
}

export interface Codes {
  /**
   * Makes a new code. If two are valid already, it replaces the one of the same network, else one
   * that an unknown network requested, else the oldest.
   */
  issue(
    tx: Tx,
    subject: Subject,
    purpose: Purpose,
    by: Requester,
    target?: string,
  ): Promise<{ code: string; expiresAt: Date }>
  /**
   * Uses the right code up; answers its subject and target. Refuses with otp_invalid or
   * otp_expired; the count of tries is kept then, so the caller must not write before. Refuses with
   * rate_limited after many wrong codes from this network, for one account or in all.
   */
  redeem(
    tx: Tx,
    subjects: readonly Subject[],
    purpose: Purpose,
    code: string,
    network: string,
  ): Promise<{ customerId: string; target: string | null }>
  /**
   * Ends codes that were sent to an address, or under a password, that is no longer the customer's.
   */
  drop(tx: Tx, customerId: string, ...purposes: [Purpose, ...Purpose[]]): Promise<void>
}

/** `wrongCodes` count per network, so that a new code allows no more guesses. */
export function createCodes(
  clock: Clock,
  secrets: Secrets,
  wrongCodes: { ofAccount: Limit; ofNetwork: Limit },
): Codes {
  const fingerprint = (subject: string, purpose: Purpose, code: string): Buffer =>
    secrets.fingerprint(`code:${purpose}:${subject}`, code)
  // This refusal applies to the next guess: thrown here it would roll back the count on the code
  // itself, and parallel guesses would not be counted.
  const countWrong = (limit: Limit, key: string) =>
    limit.take(key).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error
    })
  /** The subjects' codes that have not expired, locked, oldest first. */
  const unexpired = (tx: Tx, subjects: readonly string[], purpose: Purpose) =>
    tx
      .selectFrom('one_time_code')
      .selectAll()
      .where('subject', 'in', subjects)
      .where('purpose', '=', purpose)
      .where('expires_at', '>', clock.now())
      .orderBy('sent_at')
      .orderBy('id')
      .forUpdate()
      .execute()

  const codes: Codes = {
    async issue(tx, of, purpose, by, target) {
      const subject = nameOf(of)
      // Serializes parallel requests: the second sees the first one's code.
      await sql`select pg_advisory_xact_lock(hashtextextended(${`${purpose}:${subject}`},
        0))`.execute(tx)
      const alive = await unexpired(tx, [subject], purpose)
      // A code that was sent recently stays valid beside a newer one.
      const replaced =
        alive.length < aliveAtOnce
          ? undefined
          : (alive.find(({ requester }) => requester === by.network) ??
            alive.find(({ trusted }) => !trusted) ??
            alive[0])
      if (replaced) await tx.deleteFrom('one_time_code').where('id', '=', replaced.id).execute()
      const code = String(randomInt(1_000_000)).padStart(6, '0')
      const now = clock.now()
      const expiresAt = later(now, lifeMs)
      await tx
        .insertInto('one_time_code')
        .values({
          id: randomUUID(),
          customer_id: 'customerId' in of ? of.customerId : null,
          subject,
          purpose,
          code_fingerprint: fingerprint(subject, purpose, code),
          target: target ?? null,
          requester: by.network,
          trusted: by.trusted,
          sent_at: now,
          expires_at: expiresAt,
        })
        .execute()
      return { code, expiresAt }
    },

    async redeem(tx, of, purpose, code, network) {
      await wrongCodes.ofNetwork.check(network)
      const subjects = of.map(nameOf)
      const guesses = `${purpose}:${subjects.toSorted((a, b) => a.localeCompare(b))[0]}:${network}`
      await wrongCodes.ofAccount.check(guesses)
      const rows = await unexpired(tx, subjects, purpose)
      const failures =
        rows.length === 0
          ? []
          : await tx
              .selectFrom('code_failure')
              .select(['code_id', 'tries'])
              .where(
                'code_id',
                'in',
                rows.map(({ id }) => id),
              )
              .where('network', '=', network)
              .execute()
      const triesOfNetwork = new Map(failures.map(({ code_id, tries }) => [code_id, tries]))
      const alive = rows.filter(
        ({ id, tries }) => tries < maxTries && (triesOfNetwork.get(id) ?? 0) < maxTriesOfNetwork,
      )
      if (alive.length === 0) throw new Refusal('otp_expired', { keepsWrites: true })
      const right = alive.find((row) =>
        sameBytes(row.code_fingerprint, fingerprint(row.subject, purpose, code)),
      )
      if (right?.customer_id) {
        await codes.drop(tx, right.customer_id, purpose)
        return { customerId: right.customer_id, target: right.target }
      }
      const ids = alive.map(({ id }) => id)
      await tx
        .updateTable('one_time_code')
        .set((eb) => ({ tries: eb('tries', '+', 1) }))
        .where('id', 'in', ids)
        .execute()
      await tx
        .insertInto('code_failure')
        .values(ids.map((code_id) => ({ code_id, network, tries: 1 })))
        .onConflict((conflict) =>
          conflict
            .columns(['code_id', 'network'])
            .doUpdateSet((eb) => ({ tries: eb('code_failure.tries', '+', 1) })),
        )
        .execute()
      await countWrong(wrongCodes.ofAccount, guesses)
      await countWrong(wrongCodes.ofNetwork, network)
      throw new Refusal('otp_invalid', { keepsWrites: true })
    },

    async drop(tx, customerId, ...purposes) {
      await tx
        .deleteFrom('one_time_code')
        .where('customer_id', '=', customerId)
        .where('purpose', 'in', purposes)
        .execute()
    },
  }
  return codes
}

/**
 * A registration is kept for a day after its last code request, so codes are kept a little longer.
 */
export const dropOldCodes = (db: Queryable, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'one_time_code')
