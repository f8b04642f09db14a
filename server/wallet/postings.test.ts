/**
 * Movements of a gateway's account in a span of time, and the number of rows that the query reads.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { manualClock } from '../../test/portal.ts'
import { walletsOf } from '../../test/wallets.ts'
import { hours, later } from '../platform/clock.ts'
import { connect, type Database, type Pool } from '../platform/db.ts'
import { createLedger } from './ledger.ts'
import { gatewayPostings, postingsQuery } from './postings.ts'

const clock = manualClock()
const ledger = createLedger(clock)
let database: TestDatabase
let pool: Pool
let db: Database
const { customer, topUp } = walletsOf(ledger, () => db)

beforeAll(async () => {
  database = await testDatabase()
  pool = connect(database.url, 8, () => undefined)
  ;({ db } = pool)
  await ledger.prepare(db, { drivers: ['vnpay', 'sepay'], products: ['wordpress'] })
})
afterAll(async () => {
  await pool.close()
  await database.drop()
})

test('a span has what was posted in it, and no other entry of the account is read', async () => {
  const an = await customer()
  const began = clock.now()
  for (let n = 1n; n <= 60n; n++) {
    await topUp(an, n)
    clock.advance(hours(1))
  }
  const span = { from: later(began, hours(20)), to: later(began, hours(23)) }
  const found = await gatewayPostings(db, 'vnpay', span)
  expect(found.map(({ amount }) => amount)).toEqual([21n, 22n, 23n])
  const whole = { from: later(began, -hours(1)), to: later(began, hours(100)) }
  expect(await gatewayPostings(db, 'vnpay', whole)).toHaveLength(60)
  expect(await gatewayPostings(db, 'sepay', whole)).toEqual([])

  interface Plan {
    'Relation Name'?: string
    'Actual Rows': number
    'Rows Removed by Filter'?: number
    'Actual Loops': number
    Plans?: Plan[]
  }
  // With 120 entries PostgreSQL would scan the table; these settings make it plan as with millions.
  const plan = await db.transaction().execute(async (tx) => {
    await sql`set local enable_seqscan = off`.execute(tx)
    await sql`set local enable_hashjoin = off`.execute(tx)
    await sql`set local enable_mergejoin = off`.execute(tx)
    const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: Plan }] }>`
      explain (analyze, format json) ${postingsQuery('vnpay', span)}`.execute(tx)
    return rows[0]?.['QUERY PLAN'][0].Plan as Plan
  })
  const read = (plan: Plan): number =>
    (plan['Relation Name'] === 'ledger_entry'
      ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
      : 0) + (plan.Plans ?? []).reduce((sum, one) => sum + read(one), 0)
  expect(read(plan)).toBe(3)
})
