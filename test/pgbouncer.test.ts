/**
 * The portal's calls and jobs through PgBouncer in transaction mode; connections that need a
 * session go directly to the server. Runs only where PgBouncer is installed (PGBOUNCER names the
 * program).
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { transaction } from '../server/platform/db.ts'
import { hasPgbouncer, openPgbouncer, type Pgbouncer } from './pgbouncer.ts'
import { eventually, openTestPortal, type TestPortal } from './portal.ts'
import { openPostgresServer, type PostgresServer } from './postgres-server.ts'

if (!hasPgbouncer) console.log('no PgBouncer on this machine: its tests are left out')

const poolSize = 5

describe.skipIf(!hasPgbouncer)('through PgBouncer', () => {
  let server: PostgresServer
  let pooler: Pgbouncer
  let portal: TestPortal
  beforeAll(async () => {
    server = await openPostgresServer()
    pooler = await openPgbouncer(server, poolSize)
    portal = await openTestPortal({
      database: { url: server.url, drop: () => Promise.resolve() },
      env: { DATABASE_URL: server.url, DATABASE_CONNECTION_POOL_URL: pooler.url },
    })
  }, 120_000)
  afterAll(async () => {
    await portal.close()
    await pooler.close()
    await server.close()
  })

  test('many calls share few connections of the server', async () => {
    const customers = await Promise.all(Array.from({ length: 12 }, () => portal.customer()))
    await Promise.all(customers.map((customer) => portal.topUp(customer, 500_000)))
    for (const { id } of customers)
      await eventually(
        'the top-up',
        async () => (await portal.app.ledger.balanceOf(portal.app.db, id)).balance === 500_000n,
      )
    await portal.ledgerHolds()
    const rows = await server.admin<{ name: string; n: number }>(
      `select application_name as name, count(*)::int as n from pg_stat_activity
       where datname = 'portal' and usename = 'portal' group by 1 order by 1`,
    )
    const countOf = new Map(rows.map(({ name, n }) => [name, n]))
    expect(countOf.get('portal')).toBeLessThanOrEqual(poolSize)
    expect([...countOf.keys()]).toEqual(
      expect.arrayContaining(['portal-jobs', 'portal-limits', 'portal-listen', 'portal-presence']),
    )
    const { notReady = {} } = (await portal.call('GET', '/readyz')).body as unknown as {
      notReady?: Record<string, string>
    }
    expect(['database', 'jobs', 'realtime'].filter((check) => notReady[check])).toEqual([])
  })

  test('a transaction has its limits, and leaves none to the next one', async () => {
    const limits = sql<{ statement: string; idle: string }>`
      select current_setting('statement_timeout') as statement,
        current_setting('idle_in_transaction_session_timeout') as idle`
    const { rows } = await transaction(portal.app.db, (tx) => limits.execute(tx))
    expect(rows).toEqual([{ statement: '30s', idle: '1min' }])
    const after = await limits.execute(portal.app.db)
    expect(after.rows).toEqual([{ statement: '0', idle: '0' }])
    const isolated = await portal.app.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute((tx) =>
        sql<{ level: string }>`select current_setting('transaction_isolation') as level`.execute(
          tx,
        ),
      )
    expect(isolated.rows).toEqual([{ level: 'repeatable read' }])
  })

  test('while it, or the server behind it, is away calls get a clear no', async () => {
    const { token } = await portal.customer()
    const read = () => portal.call('GET', '/api/payments/stripe', { token })
    const unavailable = {
      status: 503,
      body: expect.objectContaining({
        error: expect.objectContaining({ code: 'unavailable' }) as object,
      }) as object,
    }
    expect((await read()).status).toBe(200)
    await pooler.kill()
    expect(await read()).toMatchObject(unavailable)
    await pooler.start()
    await eventually('an answer', async () => (await read()).status === 200)
    await server.kill()
    for (let call = 0; call < 5; call++) expect(await read()).toMatchObject(unavailable)
    await server.start()
    await eventually('an answer', async () => (await read()).status === 200)
  })
})
