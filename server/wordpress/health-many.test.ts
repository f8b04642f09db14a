/** Front pages and disks of many servers: all that are due are checked, each by one worker. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { manualClock } from '../../test/portal.ts'
import { minutes } from '../platform/clock.ts'
import { connect, type Pool } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import { createLog } from '../platform/log.ts'
import { defineDiskWarnings } from './disk-warnings.ts'
import type { WordpressDriver } from './driver.ts'
import { defineHealth, type Health } from './health.ts'

/** More than two workers claim at a time. */
const servers = 900
let database: TestDatabase
let pool: Pool
const clock = manualClock()
/** How often each front page was requested, and which of them fail. */
const asked = new Map<string, number>()
const broken = new Set<string>()
const looked: string[] = []
const driver = {
  async frontPage(_id: string, host: string) {
    const [name = ''] = host.split('.')
    asked.set(name, (asked.get(name) ?? 0) + 1)
    return broken.has(name) ? 500 : 200
  },
  async state(id: string) {
    looked.push(id)
    return { diskUsedMb: 9000, databaseUsedMb: 1 }
  },
} as unknown as WordpressDriver
const jobs: Jobs = {
  define: () => undefined,
  add: async () => undefined,
  start: async () => undefined,
  stop: async () => undefined,
  health: async () => undefined,
}
const letters: string[] = []
let workers: Health[]
let disks: ((signal: AbortSignal) => Promise<void>)[]
const { signal } = new AbortController()

beforeAll(async () => {
  database = await testDatabase()
  pool = connect(database.url, 12, () => undefined)
  const customer = randomUUID()
  await sql`
    insert into customer (id, email, phone, name, password_hash, region_code, created_at)
    values (${customer}, 'an@example.vn', '+841', 'An', 'x', 'VN', now())`.execute(pool.db)
  await sql`
    insert into site (id, customer_id, name, status, plan_id, plan_name, cpu, ram_mb, disk_mb,
      mariadb_disk_mb, containers, region_id, region_name, language, price, currency, admin_user,
      created_at)
    select gen_random_uuid(), ${customer}, 'site-' || n, 'running', 1, 'BASIC-1', 1, 512, 10240,
      10240, 1, 1, 'Hà Nội', 'vi', 218000, 'VND', 'an', now()
    from generate_series(1, ${servers}) n`.execute(pool.db)
  const needs = {
    db: pool.db,
    clock,
    log: createLog('silent'),
    jobs,
    driver,
    addressing: { scheme: 'http', host: 'localhost', portSuffix: '' } as const,
    portalUrl: 'http://portal.example',
    outbox: { publishEvent: async () => undefined, publishEvents: async () => undefined },
    mail: async (_tx: unknown, _to: string, subject: string) => void letters.push(subject),
    owner: async () => ({ email: 'an@example.vn', language: 'en' as const }),
  }
  workers = [defineHealth(needs), defineHealth(needs)]
  disks = [defineDiskWarnings(needs), defineDiskWarnings(needs)]
})
afterAll(async () => {
  await pool.close()
  await database.drop()
})
beforeEach(() => {
  asked.clear()
  looked.length = 0
})

const checkAll = () => Promise.all(workers.map((worker) => worker.checkDue(signal)))

test('every front page that is due is asked for once, by two workers', async () => {
  await checkAll()
  expect(asked.size).toBe(servers)
  expect([...asked.values()].every((times) => times === 1)).toBe(true)
  asked.clear()
  await checkAll()
  expect(asked.size).toBe(0)
  clock.advance(minutes(10))
  await checkAll()
  expect([asked.size, Math.max(...asked.values())]).toEqual([servers, 1])
})

test('one that failed is asked again within minutes, the others are not', async () => {
  clock.advance(minutes(10))
  broken.add('site-7')
  await checkAll()
  asked.clear()
  clock.advance(minutes(1))
  await checkAll()
  expect([...asked]).toEqual([['site-7', 1]])
  const { rows } = await sql<{ name: string }>`
    select name from site where down_since is not null`.execute(pool.db)
  expect(rows).toEqual([{ name: 'site-7' }])
  broken.clear()
  clock.advance(minutes(1))
  await checkAll()
  expect((await sql`select from site where down_since is not null`.execute(pool.db)).rows).toEqual(
    [],
  )
})

test('one whose backup is being made is left alone', async () => {
  const making = sql`insert into site_backup (id, site_id, kind, state, created_at)
    select gen_random_uuid(), id, 'manual', 'making', now() from site where name = 'site-9'`
  await making.execute(pool.db)
  clock.advance(minutes(10))
  await checkAll()
  expect(asked.size).toBe(servers - 1)
  expect(asked.has('site-9')).toBe(false)
})

test('every disk that is due is looked at once, and its owner is warned once', async () => {
  await Promise.all(disks.map((watch) => watch(signal)))
  expect(looked.length).toBe(servers)
  expect(new Set(looked).size).toBe(servers)
  expect(letters.length).toBe(servers)
  clock.advance(minutes(20))
  looked.length = 0
  await Promise.all(disks.map((watch) => watch(signal)))
  expect(looked.length).toBe(servers)
  expect(letters.length).toBe(servers)
})
