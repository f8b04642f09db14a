/**
 * The database: one pool, typed queries, numbered SQL migrations, and transactions that may leave
 * something to do after the commit.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  CompiledQuery,
  Kysely,
  PostgresDialect,
  PostgresDriver,
  type DatabaseConnection,
  type PostgresDialectConfig,
  type Transaction,
  type TransactionSettings,
} from 'kysely'
import pg from 'pg'
import { NoWritableHost, openPool, type ConnectionSettings } from './database-client.ts'
import type { DB } from './db-types.ts'
import {
  applyMissing,
  planMigrations,
  thisRelease,
  type MigrationPlan,
  type Release,
} from './migrations.ts'
import { tracedPart } from './spans.ts'

export type Database = Kysely<DB>
export type Tx = Transaction<DB>
/** A database or a transaction: for reads that may run inside or outside of one. */
export type Queryable = Kysely<DB>

// int8 as bigint: money and counters never pass through floating point. (PostgreSQL's type 20.)
pg.types.setTypeParser(20, (text) => BigInt(text))

export interface Pool {
  readonly db: Database
  readonly pool: pg.Pool
  close(): Promise<void>
}

/** The server ends what takes longer, ms. */
const serverLimits = { statement_timeout: 30_000, idle_in_transaction_session_timeout: 60_000 }
/**
 * Without our own time limit a half-open connection makes `pg` wait for ever. The server's
 * statement timeout is shorter and comes first.
 */
const limits = { query_timeout: 35_000, application_name: 'portal' }

/**
 * At most `max` connections. `through`: the address of a pooler that gives a connection of the
 * server to each transaction (PgBouncer's pool_mode=transaction), where there is one.
 */
export const connect = (
  url: string,
  max: number,
  onError: (error: Error) => void,
  through?: string,
): Pool =>
  through === undefined
    ? open(url, max, { ...limits, ...serverLimits }, onError)
    : open(through, max, limits, onError, ThroughPooler)

/**
 * A pooler takes no settings when a session begins, because the next transaction may use another
 * connection of the server: each transaction sets them in the statement that begins it.
 */
class ThroughPooler extends PostgresDialect {
  readonly #config: PostgresDialectConfig
  constructor(config: PostgresDialectConfig) {
    super(config)
    this.#config = config
  }
  override createDriver(): PostgresDriver {
    return new DriverThroughPooler(this.#config)
  }
}
class DriverThroughPooler extends PostgresDriver {
  override async beginTransaction(
    connection: DatabaseConnection,
    { isolationLevel, accessMode }: TransactionSettings,
  ): Promise<void> {
    const how =
      (isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`) +
      (accessMode === undefined ? '' : ` ${accessMode}`)
    const settings = Object.entries(serverLimits)
      .map(([name, ms]) => `set local ${name} = ${ms}`)
      .join('; ')
    await connection.executeQuery(CompiledQuery.raw(`start transaction${how}; ${settings}`))
  }
}

/**
 * The transaction of the running code; recorded only while a test watches for second connections.
 */
const inTransaction = new AsyncLocalStorage<{ open: boolean }>()
let watched = false
/**
 * From now on a request for a second connection inside a transaction throws. If as many
 * transactions as the pool has connections each wait for another connection, all of them wait until
 * the pool times out, and so do all other calls. For tests only: it slows down every asynchronous
 * step a little.
 */
export function watchForSecondConnections(): void {
  watched = true
}

function refuseSecondConnections(pool: pg.Pool): void {
  const { connect: take } = pool
  const guarded = (...args: unknown[]): unknown => {
    if (inTransaction.getStore()?.open === true)
      throw new Error('a second connection was asked for inside of a transaction')
    return Reflect.apply(take, pool, args)
  }
  pool.connect = guarded as typeof pool.connect
}

function open(
  url: string,
  max: number,
  settings: ConnectionSettings,
  onError: (error: Error) => void,
  Dialect = PostgresDialect,
): Pool {
  let closing = false
  // Connections that the server closes while both stop are not reported.
  const pool = openPool(url, max, settings, (error) => {
    if (!closing) onError(error)
  })
  refuseSecondConnections(pool)
  const db = new Kysely<DB>({ dialect: new Dialect({ pool }) })
  return {
    db,
    pool,
    close() {
      closing = true
      return db.destroy()
    },
  }
}

/**
 * Runs on a connection of its own without the time limits of calls: building an index on a large
 * table takes long, and so does waiting for another process that builds it.
 */
async function forMigrations<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  // A connection that breaks while idle also rejects the next query, and that error is reported.
  const { db, close } = open(url, 1, { application_name: 'portal-migrations' }, () => undefined)
  try {
    return await work(db)
  } finally {
    await close()
  }
}

/** `applyMissing` of migrations.ts on the database of this address. */
export const migrate = (url: string, release?: Release): Promise<string[]> =>
  forMigrations(url, async (db) => applyMissing(db, release ?? (await thisRelease())))

/** `planMigrations` of migrations.ts on the database of this address. */
export const planOf = (url: string, release: Release): Promise<MigrationPlan> =>
  forMigrations(url, (db) => planMigrations(db, release))

const spanOfTransaction = {
  name: 'transaction',
  kind: 'client',
  attributes: { 'db.system.name': 'postgresql' },
} as const
const afterCommit = new WeakMap<Queryable, (() => void)[]>()

/**
 * Runs `work` in one transaction, then whatever it left with `onCommit`. Nothing runs when it rolls
 * back.
 */
export async function transaction<T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  const todo: (() => void)[] = []
  const result = await tracedPart(spanOfTransaction, () =>
    db.transaction().execute(async (tx) => {
      afterCommit.set(tx, todo)
      if (!watched) return await work(tx)
      const here = { open: true }
      return await inTransaction.run(here, () => work(tx)).finally(() => (here.open = false))
    }),
  )
  for (const act of todo) act()
  return result
}

const attemptsOfDeadlock = 3

/**
 * Like `transaction`, for `work` without effects outside of its transaction: after a deadlock
 * (40P01) it runs again, at most three times in all.
 */
export async function repeatableTransaction<T>(
  db: Database,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await transaction(db, work)
    } catch (error) {
      if (attempt === attemptsOfDeadlock || databaseError(error)?.code !== '40P01') throw error
    }
}

/**
 * Runs a side effect after the commit (wake a worker, push an event). The database must be correct
 * without it.
 */
export function onCommit(tx: Tx, act: () => void): void {
  afterCommit.get(tx)?.push(act)
}

/** PostgreSQL's error code (such as 23505) and constraint, if the error is the database's. */
export const databaseError = (
  error: unknown,
): { code: string; constraint: string | undefined } | undefined =>
  error instanceof pg.DatabaseError && error.code !== undefined
    ? { code: error.code, constraint: error.constraint }
    : undefined

/**
 * Signs that the database is absent. SQLSTATEs: shutting down, starting, too many connections, no
 * connections accepted, no such database, a standby that takes no writes, a failed connection. Then
 * the network's error codes for a server that is gone.
 */
const absence = new Set([
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '55000',
  '3D000',
  '25006',
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
])
/**
 * PgBouncer's messages while the server behind it is away; their code is the same as for other
 * errors.
 */
const ofPooler =
  /server conn crashed|server login (?:has been )?fail|query_wait_timeout|pgbouncer (?:cannot|is)/i
/**
 * The pool is exhausted or the database is unreachable: a temporary failure, not a bug of this
 * request.
 */
export const databaseIsAway = (error: unknown): boolean =>
  error instanceof Error &&
  (error instanceof NoWritableHost ||
    ofPooler.test(error.message) ||
    /timeout exceeded when trying to connect|Connection terminated/.test(error.message) ||
    /is not queryable|Query read timeout|ENOENT.*PGSQL/.test(error.message) ||
    absence.has((error as { code?: string }).code ?? ''))

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/**
 * Whether the text is a UUID. Any other id belongs to nobody: the caller responds with 404, and the
 * database need not parse the id.
 */
export const isUuid = (text: string): boolean => uuid.test(text)
