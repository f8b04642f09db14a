/**
 * The first start of a portal by an operator, and configurations that must not go into production.
 */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { serverProgram } from '../scripts/bootstrap.mjs'
import { testDatabase } from './database.ts'
import { freePort } from './portal.ts'
import { PortalProcess } from './portal-process.ts'

let portal: PortalProcess
beforeAll(async () => {
  portal = await PortalProcess.create()
  await portal.start()
}, 180_000)
afterAll(async () => {
  await portal.terminate()
  portal.discard()
})

/** Starts it on the same folder with other settings, and returns how it ended. */
async function ended(
  env: Record<string, string>,
): Promise<{ code: number | null; faults: string[] }> {
  const [port, sandboxPort, sitesPort, dnsPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ]
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', serverProgram('main')],
    {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '/',
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
        PORT: String(port),
        SANDBOX_PORT: String(sandboxPort),
        SITES_PORT: String(sitesPort),
        DNS_PORT: String(dnsPort),
        DATA_DIR: portal.dataDir,
        LOG_LEVEL: 'silent',
        ...env,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
      // A portal that does start is stopped again; then it was not refused.
      timeout: 90_000,
    },
  )
  let said = ''
  child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString()))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, faults: [...said.matchAll(/^  - (.*)$/gm)].map(([, fault = '']) => fault) }
}

test('what it writes is closed to the other users of the machine', async () => {
  // The last file of a start, which is also the one whose mode depends on the umask.
  await vi.waitUntil(() => existsSync(path.join(portal.dataDir, 'portal.pid')), 20_000)
  const database = path.join(portal.dataDir, 'postgres')
  const open = readdirSync(portal.dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => path.join(entry.parentPath, entry.name))
    // As root the database's user passes through its own folder, and runs programs there that are
    // copied if it cannot enter the checkout.
    .filter((file) => file !== database && !file.startsWith(path.join(database, 'pgsql-')))
    .filter((file) => (statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o007)
  expect(open).toEqual([])
})

test('a network is not shown the sandbox', async () => {
  const { code, faults } = await ended({ HOST: '0.0.0.0' })
  expect([code, faults]).toEqual([78, [expect.stringMatching(/^HOST=0\.0\.0\.0 is no loopback/)]])
}, 120_000)

test('without its secret it does not start, and tells where the database stands', async () => {
  await portal.terminate()
  const file = path.join(portal.dataDir, 'secret')
  const secret = readFileSync(file)
  rmSync(file)
  onTestFinished(() => writeFileSync(file, secret, { mode: 0o600 }))
  const { code, faults } = await ended({})
  expect([code, faults]).toEqual([78, [expect.stringMatching(/^PORTAL_SECRET is not the one of/)]])
  const [, stands = ''] = /The database stands in (.*)\.$/.exec(faults[0] ?? '') ?? []
  expect(existsSync(path.join(stands, 'pgdata')), stands).toBe(true)
}, 120_000)

test('a database that has seen the sandbox does not become production', async () => {
  await portal.terminate()
  const { code, faults } = await ended({
    NODE_ENV: 'production',
    ESMS_API_KEY: 'key',
    ESMS_SECRET_KEY: 'secret',
    ESMS_BRANDNAME: 'Portal',
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'portal@example.vn',
  })
  expect(faults).toEqual([
    expect.stringMatching(/^This database has been the sandbox's since \d{4}-\d\d-\d\d, and holds/),
  ])
  expect(code).toBe(78)
}, 120_000)

test('a database that was changed for a newer release does not start this one', async () => {
  await portal.terminate()
  const database = await testDatabase()
  const admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  await admin.query("insert into schema_migration values ('9001_less', 99, now())")
  await admin.end()
  expect(await ended({ DATABASE_URL: database.url })).toEqual({
    code: 78,
    faults: [expect.stringMatching(/^This is release \d+, .* for release 99 or newer/)],
  })
  await database.drop()
}, 120_000)
