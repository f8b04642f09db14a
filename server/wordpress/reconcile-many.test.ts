/**
 * The reconciliation with the runtime when there are many servers: its cost, and which servers are
 * touched.
 */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { systemClock } from '../platform/clock.ts'
import { connect, type Pool } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import { createLog } from '../platform/log.ts'
import type { SiteSpec, WordpressDriver } from './driver.ts'
import { createReconciler, type Reconciler } from './reconcile.ts'

/** More than one query reads. */
const servers = 5100
let database: TestDatabase
let pool: Pool
let reconciler: Reconciler
/** Number of answering containers by site, in a runtime that follows its orders. */
const runtime = new Map<string, number>()
const told: string[] = []
let questions = 0
/** Called once a round knows which sites answer. */
let onListed: () => Promise<void> = async () => undefined
/** The start of this site does not end before `until` does. */
let slow: { id: string; until: Promise<void> } | undefined

const driver = {
  async answering() {
    questions++
    const now = Object.fromEntries(runtime)
    await onListed()
    return now
  },
  async addresses(id: string) {
    questions++
    return Array.from({ length: runtime.get(id) ?? 0 }, () => ({ host: '127.0.0.1', port: 1 }))
  },
  async start({ id, containers }: SiteSpec) {
    told.push(`start ${id}`)
    if (slow?.id === id) await slow.until
    runtime.set(id, containers)
  },
  async stop(id: string) {
    told.push(`stop ${id}`)
    runtime.delete(id)
  },
  list: async () => [...runtime.keys()],
} as unknown as WordpressDriver
const jobs: Jobs = {
  define: () => undefined,
  add: async () => undefined,
  start: async () => undefined,
  stop: async () => undefined,
  health: async () => undefined,
}

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
  reconciler = createReconciler({
    db: pool.db,
    clock: systemClock,
    log: createLog('silent'),
    jobs,
    nodes: () => [{ node: 'main', driver }],
    addressing: { scheme: 'http', host: 'localhost', portSuffix: '' },
    onChange: () => undefined,
  })
})
afterAll(async () => {
  await pool.close()
  await database.drop()
})

const ids = async (): Promise<string[]> =>
  (await pool.db.selectFrom('site').select('id').orderBy('seq').execute()).map(({ id }) => id)
const round = async (): Promise<void> => {
  told.length = 0
  questions = 0
  await reconciler.run(new AbortController().signal)
}

test('where nothing drifted apart, one question is asked and no server is touched', async () => {
  for (const id of await ids()) runtime.set(id, 1)
  await round()
  expect([told, questions]).toEqual([[], 1])
})

test('those that differ are repaired, also behind the first page', async () => {
  const all = await ids()
  const [first, last, suspended] = [all[0], all.at(-1), all[7]] as [string, string, string]
  runtime.delete(first)
  runtime.delete(last)
  await pool.db
    .updateTable('site')
    .set({ status: 'suspended' })
    .where('id', '=', suspended)
    .execute()
  await round()
  expect(told.toSorted()).toEqual(
    [`start ${first}`, `start ${last}`, `stop ${suspended}`].toSorted(),
  )
})

test('one whose start takes long keeps no other waiting', async () => {
  const all = await ids()
  const [one, other] = [all[0], all.at(-1)] as [string, string]
  const { promise, resolve } = Promise.withResolvers<void>()
  slow = { id: one, until: promise }
  runtime.delete(one)
  runtime.delete(other)
  const under = round()
  await expect.poll(() => runtime.get(other), { timeout: 5000 }).toBe(1)
  expect(runtime.get(one)).toBeUndefined()
  resolve()
  await under
  expect(runtime.get(one)).toBe(1)
})

test('one that was moved away since it was listed does not start beside its copy', async () => {
  const [before, during] = (await ids()).slice(20, 22) as [string, string]
  await sql`insert into node (id) values ('second') on conflict do nothing`.execute(pool.db)
  const move = (id: string) =>
    pool.db.updateTable('site').set({ node_id: 'second' }).where('id', '=', id).execute()
  runtime.delete(before)
  runtime.delete(during)
  onListed = async () => void (await move(before))
  const { promise, resolve } = Promise.withResolvers<void>()
  slow = { id: during, until: promise }
  const under = round()
  await expect.poll(() => told, { timeout: 5000 }).toContain(`start ${during}`)
  await move(during)
  resolve()
  await under
  expect(told).toEqual([`start ${during}`, `stop ${during}`])
  expect([runtime.has(before), runtime.has(during)]).toEqual([false, false])
})
