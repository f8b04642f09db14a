/**
 * Idempotency-Key (after draft-ietf-httpapi-idempotency-key-header-07). The response to a call that
 * touches only the database is stored in the same transaction as the work, so a kill between the
 * two cannot happen. A call that reaches a third party cannot be one transaction: it gets an action
 * id, a retry gets the same id, and the third party acts once under it. While the first call runs,
 * an advisory lock refuses the second; a crash releases the lock.
 */
import { createHash, randomUUID } from 'node:crypto'
import { sql, type RawBuilder } from 'kysely'
import { dropOld } from './batches.ts'
import { hours, later, type Clock } from './clock.ts'
import { repeatableTransaction, transaction, type Database, type Queryable, type Tx } from './db.ts'
import { Refusal } from './errors.ts'
import { sameBytes } from './constant-time.ts'
import type { Secrets } from './secrets.ts'
import type { SessionLocks } from './session-locks.ts'

export interface IdempotencyStore {
  readonly db: Database
  readonly secrets: Secrets
  readonly clock: Clock
  readonly locks: SessionLocks
  /**
   * Calls of this process that are in progress, so that a retry is refused with
   * idempotency_in_progress before it counts against a limit.
   */
  readonly underWay: Set<bigint>
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
  /** Cookies of a session among them: a repeated sign-in signs the browser in as the first did. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
}

const purpose = 'idempotency'
/** The scope of an anonymous caller begins so; their network follows. */
export const anonymous = 'anonymous:'
/**
 * How many answers are kept at most; beyond, the oldest go, so that nobody fills the disk: of one
 * network; of all callers who are not signed in; and refusals of one customer, which cost the
 * caller nothing.
 */
const keptOfNetwork = 200
const keptAnonymous = 20_000
const refusalsKept = 1000
/** One answer in so many has the anonymous ones counted. */
const countedEvery = 64n
/** Answers are kept for 24 hours. */
const oldest = (clock: Clock): Date => later(clock.now(), -hours(24))

// Keyed: a body may hold a password, and a plain hash of it could be guessed from a stolen table.
const fingerprintOf = (store: IdempotencyStore, call: KeyedCall): Buffer =>
  store.secrets.fingerprint(purpose, JSON.stringify(call.fingerprint))
const lockOf = (call: KeyedCall): bigint =>
  createHash('sha256').update(`${call.scope}\n${call.key}`).digest().readBigInt64BE()

/** A refusal that says nothing of the call itself: a later try may succeed. */
const passes = (refusal: Refusal): boolean =>
  refusal.code === 'rate_limited' || refusal.code === 'unavailable'

/**
 * The answer that is kept under this key, if it was given within a day. Refuses with
 * idempotency_key_reused.
 */
async function keptAnswer(
  store: IdempotencyStore,
  tx: Queryable,
  call: KeyedCall,
  fingerprint: Buffer,
): Promise<KeptAnswer | undefined> {
  const row = await tx
    .selectFrom('idempotency')
    .selectAll()
    .where('scope', '=', call.scope)
    .where('key', '=', call.key)
    .executeTakeFirst()
  const known = row && row.created_at >= oldest(store.clock) ? row : undefined
  if (row && !known)
    await tx
      .deleteFrom('idempotency')
      .where('scope', '=', call.scope)
      .where('key', '=', call.key)
      .execute()
  if (!known) return undefined
  if (!sameBytes(known.fingerprint, fingerprint)) throw new Refusal('idempotency_key_reused')
  const { status_code: statusCode, headers } = known
  return {
    statusCode,
    body: store.secrets.open(purpose, known.body),
    ...(headers && {
      headers: JSON.parse(store.secrets.open(purpose, headers)) as [string, string][],
    }),
  }
}

async function keep(
  store: IdempotencyStore,
  tx: Tx,
  call: KeyedCall,
  fingerprint: Buffer,
  answer: KeptAnswer,
): Promise<void> {
  const kept = {
    fingerprint,
    status_code: answer.statusCode,
    body: store.secrets.seal(purpose, answer.body),
    headers: answer.headers?.length
      ? store.secrets.seal(purpose, JSON.stringify(answer.headers))
      : null,
    created_at: store.clock.now(),
  }
  await tx
    .insertInto('idempotency')
    .values({ scope: call.scope, key: call.key, ...kept })
    .execute()
  const isAnonymous = call.scope.startsWith(anonymous)
  if (isAnonymous) await keepNewest(tx, sql`scope = ${call.scope}`, keptOfNetwork)
  else if (answer.statusCode >= 400)
    await keepNewest(tx, sql`scope = ${call.scope} and status_code >= 400`, refusalsKept)
  if (isAnonymous && lockOf(call) % countedEvery === 0n)
    await keepNewest(tx, sql`scope like ${`${anonymous}%`}`, keptAnonymous)
}

async function keepNewest(tx: Tx, which: RawBuilder<unknown>, count: number): Promise<void> {
  await sql`
    delete from idempotency where (scope, key) in (
      select scope, key from idempotency where ${which}
      order by created_at desc, key offset ${count})`.execute(tx)
}

/** One call: its step before the transaction, and its work in it. */
interface Steps<P> {
  /** Runs in no transaction, and not where an answer is kept already. */
  readonly prepare: () => Promise<P>
  readonly work: (tx: Tx, prepared: P) => Promise<KeptAnswer>
  readonly renderRefusal: (refusal: Refusal) => KeptAnswer
}

/**
 * Runs `work` once per key, in one transaction with the keeping of its answer. A refusal of ours,
 * also one of `prepare`, is an answer too and is kept (its work is rolled back); rate limits, load
 * and bugs are not kept, so that a later try may succeed. Refuses with idempotency_in_progress or
 * idempotency_key_reused.
 */
export async function runIdempotent<P>(
  store: IdempotencyStore,
  call: KeyedCall,
  steps: Steps<P>,
): Promise<KeptAnswer & { replayed: boolean }> {
  const fingerprint = fingerprintOf(store, call)
  const given = await keptAnswer(store, store.db, call, fingerprint)
  if (given) return { ...given, replayed: true }
  const lock = lockOf(call)
  if (store.underWay.has(lock)) throw new Refusal('idempotency_in_progress')
  store.underWay.add(lock)
  try {
    return await runFirst(store, call, fingerprint, steps)
  } finally {
    store.underWay.delete(lock)
  }
}

async function runFirst<P>(
  store: IdempotencyStore,
  call: KeyedCall,
  fingerprint: Buffer,
  { prepare, work, renderRefusal }: Steps<P>,
): Promise<KeptAnswer & { replayed: boolean }> {
  const ready = await prepare().then(
    (prepared) => ({ prepared }),
    (error: unknown) => {
      if (!(error instanceof Refusal) || passes(error)) throw error
      return { refusal: error }
    },
  )
  return await repeatableTransaction(store.db, async (tx) => {
    const { rows } = await sql<{
      held: boolean
    }>`select pg_try_advisory_xact_lock(${lockOf(call)}) as held`.execute(tx)
    if (rows[0]?.held !== true) throw new Refusal('idempotency_in_progress')
    const known = await keptAnswer(store, tx, call, fingerprint)
    if (known) return { ...known, replayed: true }
    await sql`savepoint work`.execute(tx)
    let answer: KeptAnswer
    try {
      if ('refusal' in ready) throw ready.refusal
      answer = await work(tx, ready.prepared)
    } catch (error) {
      if (!(error instanceof Refusal) || passes(error)) throw error
      if (!error.keepsWrites) await sql`rollback to savepoint work`.execute(tx)
      answer = renderRefusal(error)
    }
    await keep(store, tx, call, fingerprint, answer)
    return { ...answer, replayed: false }
  })
}

/**
 * Runs `work` outside a transaction, at most one at a time per key, until it has returned once. A
 * retry after a kill, or after a third party that did not respond, gets the same `actionId`:
 * whatever `work` begins must be begun once under it. Responses and refusals are stored as in
 * `runIdempotent`.
 */
export async function runIdempotentExternal(
  store: IdempotencyStore,
  call: KeyedCall,
  work: (actionId: string) => Promise<KeptAnswer>,
  renderRefusal: (refusal: Refusal) => KeptAnswer,
): Promise<KeptAnswer & { replayed: boolean }> {
  const fingerprint = fingerprintOf(store, call)
  const release = await store.locks.tryLock(lockOf(call))
  if (!release) throw new Refusal('idempotency_in_progress')
  try {
    const begun = await transaction(store.db, async (tx) => {
      const known = await keptAnswer(store, tx, call, fingerprint)
      if (known) return { ...known, replayed: true }
      const values = {
        scope: call.scope,
        key: call.key,
        fingerprint,
        action_id: randomUUID(),
        created_at: store.clock.now(),
      }
      const inserted = await tx
        .insertInto('idempotency_action')
        .values(values)
        .onConflict((conflict) => conflict.columns(['scope', 'key']).doNothing())
        .returning('action_id')
        .executeTakeFirst()
      if (inserted) return { actionId: inserted.action_id }
      const row = await tx
        .selectFrom('idempotency_action')
        .selectAll()
        .where('scope', '=', call.scope)
        .where('key', '=', call.key)
        .executeTakeFirstOrThrow()
      if (!sameBytes(row.fingerprint, fingerprint)) throw new Refusal('idempotency_key_reused')
      return { actionId: row.action_id }
    })
    if ('replayed' in begun) return begun
    let answer: KeptAnswer
    try {
      answer = await work(begun.actionId)
    } catch (error) {
      if (!(error instanceof Refusal) || passes(error)) throw error
      answer = renderRefusal(error)
    }
    await transaction(store.db, async (tx) => {
      await keep(store, tx, call, fingerprint, answer)
      await tx
        .deleteFrom('idempotency_action')
        .where('scope', '=', call.scope)
        .where('key', '=', call.key)
        .execute()
    })
    return { ...answer, replayed: false }
  } finally {
    await release()
  }
}

/**
 * Deletes expired responses that no retry asked for; a retry deletes the one that it finds expired.
 */
export async function forgetOldAnswers(store: IdempotencyStore): Promise<void> {
  await dropOld(store.db, store.clock, 'idempotency')
  await dropOld(store.db, store.clock, 'idempotency_action')
}
