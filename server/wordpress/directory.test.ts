/** The edge's table of host names is read when something changed, and only then. */
import { randomUUID } from 'node:crypto'
import { sql, type KyselyPlugin } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { connect, type Pool } from '../platform/db.ts'
import { createLog } from '../platform/log.ts'
import { createDirectory, type Directory, type HostTarget } from './directory.ts'

const customer = randomUUID()
let database: TestDatabase
let pool: Pool
let directory: Directory
let reads = 0
const published: (readonly HostTarget[])[] = []
let edgeIsAway = false

/** Counts the queries that read the whole table. */
const counting: KyselyPlugin = {
  transformQuery({ node }) {
    if (JSON.stringify(node).includes('from host h')) reads++
    return node
  },
  transformResult: async ({ result }) => result,
}
const site = (name: string, status: string) =>
  sql`
    insert into site (id, customer_id, name, status, plan_id, plan_name, cpu, ram_mb, disk_mb,
      mariadb_disk_mb, containers, region_id, region_name, language, price, currency, admin_user,
      created_at)
    values (gen_random_uuid(), ${customer}, ${name}, ${status}, 1, 'BASIC-1', 1, 512, 10240, 10240,
      1, 1, 'Hà Nội', 'vi', 218000, 'VND', 'an', now())`.execute(pool.db)
const states = (): Record<string, string> =>
  Object.fromEntries((published.at(-1) ?? []).map(({ host, state }) => [host, state]))
/** As every few seconds; resolves when nothing is under way. */
const round = async (): Promise<void> => {
  directory.refresh()
  await directory.idle()
}

beforeAll(async () => {
  database = await testDatabase()
  pool = connect(database.url, 8, () => undefined)
  await sql`
    insert into customer (id, email, phone, name, password_hash, region_code, created_at)
    values (${customer}, 'an@example.vn', '+841', 'An', 'x', 'VN', now())`.execute(pool.db)
  await site('one', 'running')
  directory = createDirectory(
    pool.db.withPlugin(counting),
    {
      async publish(targets) {
        if (edgeIsAway) throw new Error('the edge is away')
        published.push(targets)
      },
    },
    { scheme: 'http', host: 'sites.example', portSuffix: '' },
    createLog('silent'),
  )
  await directory.start()
})
afterAll(async () => {
  directory.stop()
  await directory.idle()
  await pool.close()
  await database.drop()
})

test('nothing is read while nothing changed, whatever else is written', async () => {
  expect([reads, states()]).toEqual([1, { 'one.sites.example': 'live' }])
  await sql`update site set disk_warned = 80`.execute(pool.db)
  for (let n = 0; n < 5; n++) await round()
  expect([reads, published.length]).toEqual([1, 1])
})

test('a new site, a new state and a name that is let go of are told', async () => {
  await site('two', 'pending_payment')
  await round()
  expect(states()).toEqual({ 'one.sites.example': 'live', 'two.sites.example': 'starting' })
  await sql`update site set status = 'suspended' where name = 'two'`.execute(pool.db)
  await round()
  expect(states()['two.sites.example']).toBe('suspended')
  await sql`
    insert into site_domain (site_id, customer_id, name, verified, proof, created_at, checked_at)
    select id, ${customer}, 'www.example.vn', true, 'txt', now(), now() from site where name = 'one'
  `.execute(pool.db)
  await round()
  expect(states()['www.example.vn']).toBe('live')
  await sql`update site_domain set released_at = now()`.execute(pool.db)
  await round()
  expect(states()['www.example.vn']).toBeUndefined()
})

test('a change that was under way at the last reading is told once it is over', async () => {
  const before = reads
  await pool.db.transaction().execute(async (tx) => {
    await sql`update site set status = 'suspended' where name = 'one'`.execute(tx)
    await sql`update site set status = 'failed' where name = 'two'`.execute(pool.db)
    await round()
    expect(states()).toEqual({ 'one.sites.example': 'live', 'two.sites.example': 'failed' })
    await round()
    expect(reads).toBe(before + 1)
  })
  await round()
  expect(states()).toEqual({ 'one.sites.example': 'suspended', 'two.sites.example': 'failed' })
})

test('what the edge was not told, it is told in the next round', async () => {
  edgeIsAway = true
  await sql`update site set status = 'running'`.execute(pool.db)
  await round()
  edgeIsAway = false
  await round()
  expect(states()).toEqual({ 'one.sites.example': 'live', 'two.sites.example': 'live' })
})
