/** The edge's table of host names is read only when something changed. */
import { randomUUID } from 'node:crypto'
import { sql, type KyselyPlugin } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { connect, type Pool } from '../platform/db.ts'
import { createLog } from '../platform/log.ts'
import { createHostTable } from '../edge/index.ts'
import {
  createDirectory,
  type Directory,
  type HostTableControl,
  type HostChange,
} from './directory.ts'

const customer = randomUUID()
let database: TestDatabase
let pool: Pool
let directory: Directory
let reads = 0
const table = createHostTable(() => [{ host: '127.0.0.1', port: 1 }])
const told: HostChange[] = []
let edgeIsAway = false
const edge: HostTableControl = {
  version: async () => table.version(),
  async apply(change) {
    if (edgeIsAway) throw new Error('the edge is away')
    told.push(change)
    return table.apply(change)
  },
}

/** Counts the queries that read host names. */
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
/** States as the edge has them: a site with an answering container is running. */
const states = (...names: readonly string[]): string[] =>
  names.map((name) => table.resolve(`${name}.sites.example`).state)
/** A round, as it comes every few seconds; resolves when none is under way. */
const round = async (): Promise<void> => {
  directory.refresh()
  await directory.idle()
}

/** The calls to a node, in their order. */
const order: string[] = []
const tellLease = async (node: string): Promise<void> => void order.push(`lease of ${node}`)

beforeAll(async () => {
  database = await testDatabase()
  pool = connect(database.url, 8, () => undefined)
  await sql`
    insert into customer (id, email, phone, name, password_hash, region_code, created_at)
    values (${customer}, 'an@example.vn', '+841', 'An', 'x', 'VN', now())`.execute(pool.db)
  await site('one', 'running')
  directory = createDirectory(
    pool.db.withPlugin(counting),
    () => [{ node: 'main', edge }],
    { scheme: 'http', host: 'sites.example', portSuffix: '' },
    'a key',
    createLog('silent'),
    tellLease,
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
  expect([reads, told.length, ...states('one', 'two')]).toEqual([1, 1, 'running', 'unknown'])
  await sql`update site set disk_warned = 80`.execute(pool.db)
  for (let n = 0; n < 5; n++) await round()
  expect([reads, told.length]).toEqual([1, 1])
})

test('a new site, a new state and a name that is let go of are told, nothing else', async () => {
  await site('two', 'pending_payment')
  await round()
  expect(states('one', 'two')).toEqual(['running', 'starting'])
  expect(told.at(-1)?.entries.map(({ host }) => host)).toEqual(['two.sites.example'])
  await sql`update site set status = 'suspended' where name = 'two'`.execute(pool.db)
  await round()
  expect(states('one', 'two')).toEqual(['running', 'suspended'])
  await sql`
    insert into site_domain (site_id, customer_id, name, verified, proof, created_at, checked_at)
    select id, ${customer}, 'www.example.vn', true, 'txt', now(), now() from site where name = 'one'
  `.execute(pool.db)
  await round()
  expect(table.resolve('www.example.vn').state).toBe('running')
  await sql`update site_domain set released_at = now()`.execute(pool.db)
  await round()
  expect(table.resolve('www.example.vn').state).toBe('unknown')
})

test('a change that was under way at the last reading is told once it is over', async () => {
  const before = reads
  await pool.db.transaction().execute(async (tx) => {
    await sql`update site set status = 'suspended' where name = 'one'`.execute(tx)
    await sql`update site set status = 'failed' where name = 'two'`.execute(pool.db)
    await round()
    expect(states('one', 'two')).toEqual(['running', 'failed'])
    await round()
    expect(reads).toBe(before + 1)
  })
  await round()
  expect(states('one', 'two')).toEqual(['suspended', 'failed'])
})

test('what the edge was not told, it is told in the next round', async () => {
  edgeIsAway = true
  await sql`update site set status = 'running'`.execute(pool.db)
  await round()
  edgeIsAway = false
  await round()
  expect(states('one', 'two')).toEqual(['running', 'running'])
})

test('a move waits for every edge that can be reached, and tells the others too', async () => {
  const there = createHostTable(() => [{ host: '127.0.0.1', port: 1 }])
  const theirs: HostTableControl = {
    version: async () => there.version(),
    apply: async (change) => there.apply(change),
  }
  const both = createDirectory(
    pool.db,
    () => [
      { node: 'main', edge },
      { node: 'second', edge: theirs },
    ],
    { scheme: 'http', host: 'sites.example', portSuffix: '' },
    'a key',
    createLog('silent'),
    tellLease,
  )
  edgeIsAway = true
  await sql`update site set status = 'suspended' where name = 'one'`.execute(pool.db)
  await expect(both.tellInOrder('main', 'second')).rejects.toThrow('the edge is away')
  expect(there.resolve('one.sites.example').state).toBe('suspended')
  edgeIsAway = false
  await both.tellInOrder('main', 'second')
  expect(states('one')).toEqual(['suspended'])
  await sql`update site set status = 'running' where name = 'one'`.execute(pool.db)
  await round()
})

test('two processes tell one edge, and neither takes back what the other told', async () => {
  const other = createDirectory(
    pool.db,
    () => [{ node: 'main', edge }],
    { scheme: 'http', host: 'sites.example', portSuffix: '' },
    'a key',
    createLog('silent'),
    tellLease,
  )
  for (let turn = 0; turn < 10; turn++) {
    const status = turn % 2 === 0 ? 'suspended' : 'running'
    await sql`update site set status = ${status} where name = 'one'`.execute(pool.db)
    directory.refresh()
    other.refresh()
    await Promise.all([directory.idle(), other.idle()])
    expect(states('one')).toEqual([status])
  }
})

test('the edge of another node is told where the site is served', async () => {
  const away = createHostTable(() => [])
  await sql`
    insert into node (id, sites_address) values ('main', '10.0.0.1:8082'), ('second', null)
  `.execute(pool.db)
  const others = createDirectory(
    pool.db,
    () => [
      {
        node: 'second',
        edge: { version: async () => away.version(), apply: async (change) => away.apply(change) },
      },
    ],
    { scheme: 'http', host: 'sites.example', portSuffix: '' },
    'a key',
    createLog('silent'),
    tellLease,
  )
  const tell = async (): Promise<readonly unknown[]> => {
    others.refresh()
    await others.idle()
    return away.resolve('one.sites.example').addresses
  }
  expect(await tell()).toEqual([{ host: '10.0.0.1', port: 8082 }])
  await sql`update node set sites_address = '[2001:db8::1]:80' where id = 'main'`.execute(pool.db)
  expect(await tell()).toEqual([{ host: '2001:db8::1', port: 80 }])
})

test('a node that withholds a site hears that it is back before any edge leads there', async () => {
  const table = createHostTable(() => [{ host: '127.0.0.1', port: 1 }])
  const told: HostTableControl = {
    version: async () => table.version(),
    async apply(change) {
      order.push(`names of ${change.entries.length > 0 ? 'sites' : 'nothing'}`)
      return table.apply(change)
    },
  }
  const back = createDirectory(
    pool.db,
    () => [{ node: 'third', edge: told }],
    { scheme: 'http', host: 'sites.example', portSuffix: '' },
    'a key',
    createLog('silent'),
    tellLease,
  )
  const tell = async (): Promise<string[]> => {
    order.length = 0
    back.refresh()
    await back.idle()
    return [...order]
  }
  await sql`update node set sites_address = '10.0.0.2:80' where id = 'second'`.execute(pool.db)
  expect(await tell()).toEqual(['names of sites'])
  await sql`
    insert into site_move
      (id, site_id, from_node, to_node, cause, state, created_at, leftover_node)
    select gen_random_uuid(), id, 'second', 'main', 'act', 'moved', now(), 'second'
    from site where name = 'one'`.execute(pool.db)
  await sql`update site set status = 'suspended' where name = 'one'`.execute(pool.db)
  expect(await tell()).toEqual(['names of sites'])
  await sql`update site set node_id = 'second' where name = 'one'`.execute(pool.db)
  expect(await tell()).toEqual(['lease of second', 'names of sites'])
})
