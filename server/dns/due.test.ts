/** The sweep that checks delegations: no domain is left out, and workers share the due ones. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { manualClock } from '../../test/portal.ts'
import { days, minutes } from '../platform/clock.ts'
import { connect, type Pool } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import { createLog } from '../platform/log.ts'
import type { DelegationCheck } from './delegation/index.ts'
import type { Publisher } from './publish.ts'
import { createVerifier, type Verifier } from './verify.ts'

const pair = ['ns1.example.net', 'ns2.example.net']
const clock = manualClock()
const customer = randomUUID()
let database: TestDatabase
let one: Pool
let other: Pool
/** The domains queried at the parent, in order. */
const asked: string[] = []
/** Called when the parent is queried about a domain; does nothing by default. */
let trouble: (domain: string) => Promise<void> = async () => undefined

const delegation = {
  async check({ domain, expected }: { domain: string; expected: readonly string[] }) {
    asked.push(domain)
    await trouble(domain)
    return { isValid: true, expected, found: [...expected], warnings: [] }
  },
} as unknown as DelegationCheck
const publisher = {
  ensure: async () => undefined,
  reconsider: async () => undefined,
} as unknown as Publisher
const jobs: Jobs = {
  define: () => undefined,
  add: async () => undefined,
  start: async () => undefined,
  stop: async () => undefined,
  health: async () => undefined,
}
const verifierOn = ({ db }: Pool): Verifier =>
  createVerifier({
    db,
    clock,
    jobs,
    log: createLog('silent'),
    outbox: { publishEvent: async () => undefined, publishEvents: async () => undefined },
    publisher,
    delegation,
    pool: pair,
  })

beforeAll(async () => {
  database = await testDatabase()
  one = connect(database.url, 8, () => undefined)
  other = connect(database.url, 8, () => undefined)
  await sql`
    insert into customer (id, email, phone, name, password_hash, region_code, created_at)
    values (${customer}, 'an@example.vn', '+841', 'An', 'x', 'VN', now())`.execute(one.db)
})
afterAll(async () => {
  await one.close()
  await other.close()
  await database.drop()
})
beforeEach(() => {
  asked.length = 0
  trouble = async () => undefined
})

/** Active domains whose daily check is due. */
async function dueDomains(count: number, prefix: string): Promise<void> {
  const now = clock.now()
  await sql`
    insert into dns_zone (id, customer_id, name, shown_name, name_servers, serial, created_at,
      active_at, first_active_at, next_check_at)
    select gen_random_uuid(), ${customer}, ${prefix} || n || '.vn', ${prefix} || n || '.vn',
      ${pair}, 1, ${now}, ${now}, ${now},
      ${now}::timestamptz - interval '1 day' + n * interval '1 second'
    from generate_series(1, ${count}::int) n`.execute(one.db)
}
const due = async (): Promise<number> => {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from dns_zone where next_check_at <= ${clock.now()}
  `.execute(one.db)
  return rows[0]?.n ?? -1
}

test('one round checks all that are due, two workers each of them once', async () => {
  await dueDomains(700, 'shared')
  await Promise.all([verifierOn(one).checkDue(), verifierOn(other).checkDue()])
  expect([asked.length, new Set(asked).size, await due()]).toEqual([700, 700, 0])
  clock.advance(days(1))
  expect(await due()).toBe(700)
  await verifierOn(one).checkDue()
})

test('a parent that answers nothing keeps no other domain waiting', async () => {
  await dueDomains(60, 'slow')
  const { promise, resolve } = Promise.withResolvers<void>()
  trouble = async (domain) => {
    if (domain === 'slow1.vn') await promise
  }
  const round = verifierOn(one).checkDue()
  // Only the domains in the same batch wait for it.
  await expect.poll(() => new Set(asked).size).toBeGreaterThanOrEqual(60 - 7)
  resolve()
  await round
  expect(new Set(asked).size).toBe(60)
})

test('a check that fails, or was taken and not made, is due ten minutes later', async () => {
  clock.advance(minutes(1))
  await dueDomains(20, 'failing')
  const stop = new AbortController()
  trouble = async () => {
    stop.abort()
    throw new Error('no route to the parent')
  }
  await verifierOn(one).checkDue(stop.signal)
  expect(asked.length).toBeLessThan(20)
  expect(await due()).toBe(0)
  clock.advance(minutes(10))
  expect(await due()).toBe(20)
  trouble = async () => undefined
  asked.length = 0
  await verifierOn(one).checkDue()
  expect(new Set(asked).size).toBe(20)
})
