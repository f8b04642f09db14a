/**
 * Idempotency-Key (after draft-ietf-httpapi-idempotency-key-header-07): the answer is kept in the same transaction as the work, so a kill between
 * the two cannot happen. While the first runs, an advisory lock answers the second; a crash drops the lock by itself.
 */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { hours, later, type Clock } from './clock.ts'
import { transaction, type Database, type Tx } from './db.ts'
import { Refusal } from './errors.ts'
import { sameBytes, type Secrets } from './secrets.ts'

export interface IdempotencyStore {
  readonly db: Database
  readonly secrets: Secrets
  readonly clock: Clock
}
export interface KeyedCall {
  readonly scope: string
  readonly key: string
  /** Method, address and body: another one under the same key is refused. */
  readonly fingerprint: unknown
}
export interface KeptAnswer {
  readonly statusCode: number
  readonly body: string
}

const purpose = 'idempotency'
/** Answers are kept for 24 hours. */
const oldest = (clock: Clock): Date => later(clock.now(), -hours(24))

/**
 * Runs `work` once per key. A refusal of ours is an answer too and is kept (its work is rolled back); rate limits and bugs are not kept, so
 * that a later try may succeed. Refuses with idempotency_in_progress or idempotency_key_reused.
 */
export async function answered(
  store: IdempotencyStore,
  call: KeyedCall,
  work: (tx: Tx) => Promise<KeptAnswer>,
  wordRefusal: (refusal: Refusal) => KeptAnswer,
): Promise<KeptAnswer & { replayed: boolean }> {
  // Keyed: a body may hold a password, and a plain hash of it could be guessed from a stolen table.
  const fingerprint = store.secrets.fingerprint(purpose, JSON.stringify(call.fingerprint))
  const lock = createHash('sha256').update(`${call.scope}\n${call.key}`).digest().readBigInt64BE()
  return await transaction(store.db, async (tx) => {
    const { rows } = await sql<{ held: boolean }>`select pg_try_advisory_xact_lock(${lock}) as held`.execute(tx)
    if (rows[0]?.held !== true) throw new Refusal('idempotency_in_progress')
    const row = await tx
      .selectFrom('idempotency')
      .selectAll()
      .where('scope', '=', call.scope)
      .where('key', '=', call.key)
      .executeTakeFirst()
    const known = row && row.created_at >= oldest(store.clock) ? row : undefined
    if (row && !known) await tx.deleteFrom('idempotency').where('scope', '=', call.scope).where('key', '=', call.key).execute()
    if (known) {
      if (!sameBytes(known.fingerprint, fingerprint)) throw new Refusal('idempotency_key_reused')
      return { statusCode: known.status_code, body: store.secrets.open(purpose, known.body), replayed: true }
    }
    await sql`savepoint work`.execute(tx)
    let answer: KeptAnswer
    try {
      answer = await work(tx)
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === 'rate_limited') throw error
      if (!error.keepsWrites) await sql`rollback to savepoint work`.execute(tx)
      answer = wordRefusal(error)
    }
    await tx
      .insertInto('idempotency')
      .values({
        scope: call.scope,
        key: call.key,
        fingerprint,
        status_code: answer.statusCode,
        body: store.secrets.seal(purpose, answer.body),
        created_at: store.clock.now(),
      })
      .execute()
    return { ...answer, replayed: false }
  })
}

/** Answers that have gone unasked for; those asked for too late are dropped then. */
export async function forgetOldAnswers(store: IdempotencyStore): Promise<void> {
  await store.db.deleteFrom('idempotency').where('created_at', '<', oldest(store.clock)).execute()
}
