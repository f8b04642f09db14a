/** The sandbox's own schema `sandbox` in the database, created at start. */
import pg from 'pg'

export type Database = pg.Pool
export type Transaction = pg.PoolClient

/**
 * An arbitrary lock number, the same for every sandbox: two that start at the same time take turns.
 */
const startLock = 727_081

// The portal in the same process parses big integers as bigint; the sandbox always reads them as
// text. (PostgreSQL's type 20.)
const types = new pg.TypeOverrides()
types.setTypeParser(20, (text) => text)

/**
 * Opens at most three connections and creates missing tables. If the database is unavailable later,
 * calls fail until it is back.
 */
export async function openDatabase(
  address: pg.PoolConfig,
  tables: readonly string[],
  log: (line: string) => void,
): Promise<Database> {
  const pool = new pg.Pool({
    ...address,
    types,
    max: 3,
    connectionTimeoutMillis: 5000,
    allowExitOnIdle: true,
    application_name: 'sandbox',
  })
  pool.on('error', (error) => log(`sandbox: a database connection ended: ${error.message}`))
  try {
    await inTransaction(pool, async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1)', [startLock])
      await tx.query('create schema if not exists sandbox')
      for (const table of tables) await tx.query(table)
    })
  } catch (error) {
    await pool.end()
    throw error
  }
  return pool
}

/** Runs `work` in one transaction; a failure rolls it back. */
export async function inTransaction<T>(
  pool: Database,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const tx = await pool.connect()
  let broken: Error | undefined
  // Without a listener, a connection that dies between two queries would end the process.
  const onError = (error: Error): void => {
    broken = error
  }
  tx.on('error', onError)
  try {
    await tx.query('begin')
    const result = await work(tx)
    await tx.query('commit')
    return result
  } catch (error) {
    await tx.query('rollback').catch((trouble: Error) => {
      broken = trouble
    })
    throw error
  } finally {
    tx.off('error', onError)
    tx.release(broken)
  }
}
