/**
 * Challenges that wait for a second factor or a passkey's signature. Each is named by a random text
 * that only the caller has, valid for ten minutes, and used once.
 */
import { createHash, randomBytes } from 'node:crypto'
import { later, minutes, type Clock } from '../platform/clock.ts'
import { dropOld } from '../platform/batches.ts'
import type { Queryable, Tx } from '../platform/db.ts'

const lifeMs = minutes(10)
/** Wrong codes that end a challenge. */
const maxTries = 5

export type ChallengePurpose = 'sign_in' | 'passkey' | 'new_passkey'
interface Wanted {
  readonly purpose: ChallengePurpose
  readonly customerId?: string
  /** The value that the authenticator signs, base64url. */
  readonly webauthn?: string
  readonly remember?: boolean | undefined
}

const hashOf = (id: string): Buffer => createHash('sha256').update(id).digest()

export async function makeChallenge(
  db: Queryable,
  clock: Clock,
  { purpose, customerId, webauthn, remember }: Wanted,
): Promise<string> {
  const id = randomBytes(32).toString('base64url')
  await db
    .insertInto('auth_challenge')
    .values({
      id_hash: hashOf(id),
      purpose,
      customer_id: customerId ?? null,
      webauthn: webauthn ?? null,
      remember: remember ?? null,
      expires_at: later(clock.now(), lifeMs),
    })
    .execute()
  return id
}

/** A challenge that is still valid; reading does not use it up. */
export const challengeOf = (db: Queryable, clock: Clock, id: string, purpose: ChallengePurpose) =>
  db
    .selectFrom('auth_challenge')
    .selectAll()
    .where('id_hash', '=', hashOf(id))
    .where('purpose', '=', purpose)
    .where('expires_at', '>', clock.now())
    .where('tries', '<', maxTries)
    .executeTakeFirst()

/** Uses up a challenge. Undefined: there is none. Of two parallel calls only one gets it. */
export const takeChallenge = (db: Queryable, clock: Clock, id: string, purpose: ChallengePurpose) =>
  db
    .deleteFrom('auth_challenge')
    .where('id_hash', '=', hashOf(id))
    .where('purpose', '=', purpose)
    .where('expires_at', '>', clock.now())
    .where('tries', '<', maxTries)
    .returning(['customer_id', 'webauthn', 'remember'])
    .executeTakeFirst()

/**
 * Counts a try for a waiting sign-in, and locks it until the transaction ends. Undefined: no tries
 * are left.
 */
export const countTry = (tx: Tx, clock: Clock, id: string) =>
  tx
    .updateTable('auth_challenge')
    .set((eb) => ({ tries: eb('tries', '+', 1) }))
    .where('id_hash', '=', hashOf(id))
    .where('purpose', '=', 'sign_in')
    .where('expires_at', '>', clock.now())
    .where('tries', '<', maxTries)
    .returning(['customer_id', 'remember'])
    .executeTakeFirst()

export async function endChallenge(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('auth_challenge').where('id_hash', '=', hashOf(id)).execute()
}
/** Ends sign-ins that wait under a password that is no longer the customer's. */
export async function endChallengesOf(tx: Tx, customerId: string): Promise<void> {
  await tx.deleteFrom('auth_challenge').where('customer_id', '=', customerId).execute()
}

export const dropOldChallenges = (db: Queryable, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'auth_challenge')
