/**
 * The daily check of customers' host names: every name is checked, and workers share the due ones.
 */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { manualClock } from '../../test/portal.ts'
import { hours } from '../platform/clock.ts'
import { connect, type Pool } from '../platform/db.ts'
import type { JobDefinition, Jobs } from '../platform/jobs.ts'
import { createLog } from '../platform/log.ts'
import { defineRecheck } from './domain-recheck.ts'
import type { Evidence } from './ownership.ts'

const clock = manualClock()
const [customer, site] = [randomUUID(), randomUUID()]
let database: TestDatabase
let pools: Pool[]
const asked: string[] = []
/** The DNS's answer about a name; by default the name holds. */
let answer: (name: string) => Promise<Partial<Evidence>> = async () => ({})

const holds: Omit<Evidence, 'name'> = {
  verified: true,
  pointed: true,
  records: [],
  proof: 'cname',
  answered: true,
}
const evidence = async (name: string): Promise<Evidence> => {
  asked.push(name)
  return { name, ...holds, ...(await answer(name)) }
}
/** The job of a separate worker. */
function worker({ db }: Pool): (signal?: AbortSignal) => Promise<void> {
  let defined: JobDefinition<object> | undefined
  const jobs = {
    define: (job: JobDefinition<object>) => void (defined = job),
  } as unknown as Jobs
  defineRecheck({
    db,
    clock,
    log: createLog('silent'),
    jobs,
    evidence,
    isZoneOf: async () => false,
  })
  return async (signal = new AbortController().signal) =>
    defined?.run({}, { number: 1, last: true, signal })
}

beforeAll(async () => {
  database = await testDatabase()
  pools = [connect(database.url, 8, () => undefined), connect(database.url, 8, () => undefined)]
  const { db } = pools[0] as Pool
  await sql`
    insert into customer (id, email, phone, name, password_hash, region_code, created_at)
    values (${customer}, 'an@example.vn', '+841', 'An', 'x', 'VN', now())`.execute(db)
  await sql`
    insert into site (id, customer_id, name, status, plan_id, plan_name, cpu, ram_mb, disk_mb,
      mariadb_disk_mb, containers, region_id, region_name, language, price, currency, admin_user,
      created_at)
    values (${site}, ${customer}, 'a-site', 'running', 1, 'BASIC-1', 1, 512, 10240, 10240, 1, 1,
      'Hà Nội', 'vi', 218000, 'VND', 'an', now())`.execute(db)
})
afterAll(async () => {
  for (const pool of pools) await pool.close()
  await database.drop()
})
beforeEach(async () => {
  asked.length = 0
  answer = async () => ({})
  await sql`delete from site_domain`.execute((pools[0] as Pool).db)
})

/** Names written by an older release, without a time of their next check. */
const names = (count: number) =>
  sql`
    insert into site_domain (site_id, customer_id, name, verified, proof, created_at, checked_at)
    select ${site}, ${customer}, 'n' || n || '.example.vn', true, 'cname', ${clock.now()},
      ${clock.now()}
    from generate_series(1, ${count}::int) n`.execute((pools[0] as Pool).db)

test('two workers look at every name once, and again a day later', async () => {
  await names(300)
  const [one, other] = pools.map(worker) as [() => Promise<void>, () => Promise<void>]
  await Promise.all([one(), other()])
  expect([asked.length, new Set(asked).size]).toEqual([300, 300])
  await one()
  expect(asked.length).toBe(300)
  clock.advance(hours(20))
  await one()
  expect(asked.length).toBe(600)
})

test('a name that nobody answers about, or that is a fault of ours, waits an hour', async () => {
  await names(40)
  const [one] = pools.map(worker) as [() => Promise<void>]
  answer = async (name) => {
    if (name === 'n1.example.vn') throw new TypeError('a bug')
    return name === 'n2.example.vn' ? { answered: false } : {}
  }
  await one()
  expect(new Set(asked).size).toBe(40)
  asked.length = 0
  clock.advance(hours(1))
  await one()
  expect(asked.toSorted()).toEqual(['n1.example.vn', 'n2.example.vn'])
})

test('what a stopped worker had taken is looked at in the next round', async () => {
  await names(200)
  const [one] = pools.map(worker) as [(signal?: AbortSignal) => Promise<void>]
  const stop = new AbortController()
  answer = async () => {
    stop.abort()
    return {}
  }
  await one(stop.signal)
  expect(asked.length).toBeLessThan(200)
  clock.advance(hours(1))
  answer = async () => ({})
  await one()
  expect(new Set(asked).size).toBe(200)
})
