/** A portal on an operator's own PostgreSQL server, which only accepts TLS. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../server/config.ts'
import { budgetOf, judgeConnections } from '../server/platform/connection-budget.ts'
import { connect } from '../server/platform/db.ts'
import { createLog } from '../server/platform/log.ts'
import { whyNotStarted } from '../server/start-failures.ts'
import { createAuthority } from './tls-authority.ts'
import { runCommand } from './operator.ts'
import { openTestPortal, type TestPortal } from './portal.ts'
import { openPostgresServer, type PostgresServer } from './postgres-server.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-tls-'))
const file = (name: string, content: string): string => {
  const place = path.join(folder, name)
  writeFileSync(place, content)
  return place
}
const ours = createAuthority('Ours')
const certificate = file('ours.crt', ours.certificate)
const stranger = file('stranger.crt', createAuthority('Stranger').certificate)

let server: PostgresServer
let portal: TestPortal
const address = (mode: string, ca?: string): string =>
  `${server.url}?sslmode=${mode}${ca === undefined ? '' : `&sslrootcert=${ca}`}`

beforeAll(async () => {
  server = await openPostgresServer({
    tls: ours.certify('127.0.0.1'),
    settings: { max_connections: '45' },
  })
  const url = address('verify-full', certificate)
  portal = await openTestPortal({
    database: { url, drop: () => Promise.resolve() },
    logLines: (line) => lines.push(line),
  })
}, 120_000)
afterAll(async () => {
  await portal.close()
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})
const lines: string[] = []

/** The error that an operator reads when this URL is refused at start. */
async function refusal(url: string): Promise<string> {
  const { db, close } = connect(url, 1, () => undefined)
  try {
    await sql`select 1`.execute(db)
    return 'it was allowed'
  } catch (error) {
    return whyNotStarted(error)
  } finally {
    await close()
  }
}

test('every connection goes through TLS', async () => {
  const { token } = await portal.customer()
  const checkout = await portal.call('POST', '/api/payments/checkout', {
    token,
    headers: { 'idempotency-key': randomUUID() },
    body: { amount: 500_000, type: 1, method: 'QRPAY' },
  })
  expect(checkout.status).toBe(200)
  const { rows } = await sql<{ name: string; tls: boolean }>`
    select distinct application_name as name, ssl as tls from pg_stat_activity a
    join pg_stat_ssl using (pid) where datname = 'portal' order by 1`.execute(portal.app.db)
  expect(rows).toEqual(
    [
      'portal',
      'portal-jobs',
      'portal-limits',
      'portal-listen',
      'portal-locks',
      'portal-presence',
      'sandbox',
    ].map((name) => ({ name, tls: true })),
  )
})

test('commands, a backup and its trial restore go through it too', async () => {
  const env = { BACKUP_PASSPHRASE: 'một câu dài mà không ai đoán được' }
  const saved = path.join(folder, 'saved')
  expect(await runCommand(portal, env, 'backup', saved)).toMatchObject({ code: 0 })
  expect(await runCommand(portal, env, 'verify-backup', saved)).toMatchObject({
    code: 0,
    said: expect.stringContaining('is good') as string,
  })
  expect(await runCommand(portal, env, 'jobs')).toMatchObject({ code: 0 })
  expect(await runCommand(portal, env, 'migrate', '--plan')).toMatchObject({ code: 0 })
}, 120_000)

test('what is wrong with the certificate is said in one sentence', async () => {
  const strangers = await refusal(address('verify-full', stranger))
  expect(strangers).toMatch(
    /^DATABASE_URL: the certificate of the database server is not signed by an authority that/,
  )
  // No certificate is trusted unless the URL names its authority; `require` checks the certificate
  // too.
  expect(await refusal(address('require'))).toMatch(/is not signed by an authority/)
  expect(
    await refusal(address('verify-full', certificate).replace('127.0.0.1', 'localhost')),
  ).toMatch(
    /^DATABASE_URL: the certificate of the database server is for another name: .*localhost/,
  )
  expect(await refusal(address('disable'))).toMatch(
    /^DATABASE_URL: no TLS connection to the database server \(sslmode\): .*no encryption/,
  )
  expect(() => readConfig({ DATABASE_URL: address('verify-full', '/nowhere/ca.crt') })).toThrow(
    'DATABASE_URL: /nowhere/ca.crt (sslrootcert) cannot be read.',
  )
})

test('the budget is what the process opens at most, and is noted', async () => {
  // As many concurrent calls as there are connections.
  await Promise.all(
    Array.from({ length: 40 }, () => sql`select pg_sleep(0.05)`.execute(portal.app.db)),
  )
  const { total } = budgetOf({ calls: 20, throughPooler: false, sandbox: true })
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from pg_stat_activity where datname = 'portal'`.execute(portal.app.db)
  // Two connections are reserved for a backup, which is not running.
  expect(rows[0]?.n).toBeLessThanOrEqual(total - 2)
  expect(rows[0]?.n).toBeGreaterThan(20)
  const noted = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(noted.filter(({ perProcess }) => perProcess !== undefined)).toMatchObject([
    { perProcess: total, msg: expect.stringMatching(/^connections of this process: calls and/) },
    {
      perProcess: total,
      allowed: 42,
      msg: expect.stringMatching(
        /gives 42 connections .* others use \d+ of them, and two processes .* need 68\. .* to \d\./,
      ),
    },
  ])
})

test('a server that cannot hold one process is refused', async () => {
  const { db, close } = connect(address('verify-full', certificate), 1, () => undefined)
  const log = createLog('silent')
  const judge = (calls: number, throughPooler = false): Promise<void> =>
    judgeConnections(db, { calls, throughPooler, sandbox: false }, log)
  try {
    await judge(31)
    await expect(judge(32)).rejects.toThrow(
      'The database gives 42 connections (max_connections of the server, less what it reserves), ' +
        'and a process of the portal needs 43: calls and jobs 32, limits 2, jobs 4, ' +
        'workerLease 1, sessionLocks 1, events 1, migrations or nightly backup 2. Raise that ' +
        'limit, or lower DATABASE_CONNECTION_POOL_MAX to 31.',
    )
    await judge(200, true)
    await server.admin('alter role portal connection limit 12')
    await expect(judge(20)).rejects.toThrow(
      /^The database gives 12 connections \(the connection limit of the role\).* that limit\.$/,
    )
  } finally {
    await server.admin('alter role portal connection limit -1')
    await close()
  }
})
