/** The authorities' limits are kept by counting, per authority and per registrable domain. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { testDatabase } from '../../test/database.ts'
import { manualClock } from '../../test/portal.ts'
import { hours, later } from '../platform/clock.ts'
import { connect } from '../platform/db.ts'
import { createOrderLimits, registrableOf } from './limits.ts'
import { NotIssued, waitAfter } from './problems.ts'

let database: Awaited<ReturnType<typeof testDatabase>>
let pool: ReturnType<typeof connect>
const clock = manualClock()
beforeAll(async () => {
  database = await testDatabase()
  pool = connect(database.url, 2, () => undefined)
})
afterAll(async () => {
  await pool.close()
  await database.drop()
})
beforeEach(async () => void (await pool.db.deleteFrom('acme_order').execute()))

const of = (
  name: string,
  isRenewal = false,
  directory = 'https://a.example',
  customerId: string | null = null,
) => ({
  directory,
  name,
  isRenewal,
  customerId,
})

test('names are counted by the domain right below a public suffix', () => {
  expect(
    ['www.shop.com.vn', '*.shop.com.vn', 'shop.com.vn', 'a.github.io', 'localhost'].map((name) =>
      registrableOf(name),
    ),
  ).toEqual(['shop.com.vn', 'shop.com.vn', 'shop.com.vn', 'a.github.io', 'localhost'])
})

test('a domain has so many new certificates in a week; renewals are no matter', async () => {
  const limits = createOrderLimits(pool.db, clock, { ordersIn3Hours: 100, aWeek: 2 })
  const began = clock.now()
  await limits.count(of('a.shop.vn'))
  await limits.count(of('b.shop.vn', true))
  expect(await limits.freeAt(of('c.shop.vn'))).toBeUndefined()
  clock.advance(hours(5))
  await limits.count(of('b.shop.vn'))
  expect(await limits.freeAt(of('c.shop.vn'))).toEqual(later(began, hours(7 * 24)))
  expect(await limits.freeAt(of('c.shop.vn', true))).toBeUndefined()
  expect(await limits.freeAt(of('other.vn'))).toBeUndefined()
  expect(await limits.freeAt(of('c.shop.vn', false, 'https://b.example'))).toBeUndefined()
  clock.advance(hours(7 * 24 - 5))
  expect(await limits.freeAt(of('c.shop.vn'))).toBeUndefined()
})

test('an account has so many orders in three hours, renewals among them', async () => {
  const limits = createOrderLimits(pool.db, clock, { ordersIn3Hours: 2, aWeek: 100 })
  const began = clock.now()
  await limits.count(of('a.vn'))
  await limits.count(of('b.vn', true))
  expect(await limits.freeAt(of('c.vn', true))).toEqual(later(began, hours(3)))
  clock.advance(hours(3))
  expect(await limits.freeAt(of('c.vn'))).toBeUndefined()
  clock.advance(hours(9 * 24))
  await limits.dropOld()
  expect(await pool.db.selectFrom('acme_order').selectAll().execute()).toEqual([])
})

test('each failure in a row waits longer, up to a limit, and never less than it was told', () => {
  const minutes = (code: 'dns' | 'unavailable', attempts: number, waitMs?: number): number =>
    waitAfter(new NotIssued(code, '', waitMs), attempts, 0.5) / 60_000
  expect([1, 2, 3, 10, 500].map((attempts) => minutes('dns', attempts))).toEqual([
    15, 30, 60, 720, 720,
  ])
  expect([1, 2, 7, 500].map((attempts) => minutes('unavailable', attempts))).toEqual([1, 2, 60, 60])
  expect(minutes('unavailable', 1, 3_600_000)).toBe(60)
})
