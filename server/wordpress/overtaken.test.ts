/**
 * What becomes due while a server is still being set up: the end of its month, an order that waits
 * behind it, a suspension.
 */
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { days, minutes } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { WordpressDriver } from './driver.ts'
import { alignJobs } from './product.ts'

const clock = manualClock(new Date('2026-03-01T03:00:00Z'))
let portal: TestPortal
let frontPage: http.Server
/** The data centre's final answer to a waiting installation, by site. */
const waiting = new Map<string, PromiseWithResolvers<'installed' | 'refused'>>()
/** The last order to each site. */
const told = new Map<string, 'start' | 'stop'>()

const slow = (real: WordpressDriver): WordpressDriver => ({
  ...real,
  async install({ id }) {
    const answer = Promise.withResolvers<'installed' | 'refused'>()
    waiting.set(id, answer)
    if ((await answer.promise) === 'refused')
      throw new DriverFailure('rejected', 'this host takes no such site')
  },
  async start({ id }) {
    told.set(id, 'start')
  },
  async stop(id) {
    told.set(id, 'stop')
  },
  frontPage: async () =>
    (await fetch(`http://127.0.0.1:${(frontPage.address() as AddressInfo).port}/`)).status,
})

beforeAll(async () => {
  frontPage = http.createServer((_, answer) => answer.end('a front page')).listen(0, '127.0.0.1')
  portal = await openTestPortal({
    clock,
    changeDrivers: (drivers) => ({ ...drivers, wordpress: slow(drivers.wordpress) }),
  })
})
afterAll(async () => {
  for (const { resolve } of waiting.values()) resolve('refused')
  await portal.close()
  frontPage.close()
})

const price = 218_000n
const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}
/** Resolves when every job of this name has run. */
const over = (job: string) =>
  eventually(`the end of every ${job}`, async () => {
    const { rows } = await sql`select from pgboss.job where name = ${job}
        and state in ('created', 'retry', 'active')`.execute(portal.app.db)
    return rows.length === 0
  })
const place = async ({ token }: TestCustomer): Promise<string> => {
  const { body } = await portal.call<{ id: string }>('POST', '/api/wp', { token, body: order })
  await over('pay-invoice')
  return body.result.id
}
async function credit({ id }: TestCustomer, amount: bigint): Promise<void> {
  const { db, ledger, bills } = portal.app
  await transaction(db, (tx) =>
    ledger.credit(tx, {
      key: randomUUID(),
      customerId: id,
      driver: 'vnpay',
      amount,
      currency: 'VND',
      details: {},
    }),
  )
  await bills.payOpen(id)
}
const balanceOf = async ({ id }: TestCustomer): Promise<bigint> =>
  (await portal.app.ledger.balanceOf(portal.app.db, id)).balance
const stateOf = (id: string) =>
  portal.app.db
    .selectFrom('site as s')
    .innerJoin('subscription as u', 'u.id', 's.subscription_id')
    .select(['s.status', 'u.status as subscription', 'u.period_end'])
    .where('s.id', '=', id)
    .executeTakeFirstOrThrow()
/** Kind and state of a customer's invoices, oldest first. */
const invoicesOf = async ({ id }: TestCustomer): Promise<string[]> => {
  const rows = await portal.app.db
    .selectFrom('invoice')
    .select(['kind', 'status'])
    .where('customer_id', '=', id)
    .orderBy('seq')
    .execute()
  return rows.map(({ kind, status }) => `${kind} ${status}`)
}
const installing = (id: string) =>
  eventually(
    'its installation',
    async () => (await stateOf(id)).status === 'provisioning' && waiting.get(id),
  )
const reaches = (id: string, status: string) =>
  eventually(status, async () => (await stateOf(id)).status === status)

/** A paid server that is still being set up when its first month ends. */
async function renewedTooEarly(paid: bigint): Promise<{ customer: TestCustomer; id: string }> {
  const customer = await portal.customer()
  const id = await place(customer)
  await credit(customer, paid)
  await installing(id)
  clock.advance((await stateOf(id)).period_end.getTime() - clock.now().getTime() + minutes(1))
  await portal.app.bills.sweep()
  return { customer, id }
}

test('a month was charged before the order is given up: both are back in the wallet', async () => {
  const { customer, id } = await renewedTooEarly(3n * price)
  expect(await invoicesOf(customer)).toEqual(['order paid', 'renewal paid'])
  waiting.get(id)?.resolve('refused')
  await reaches(id, 'failed')
  expect(await invoicesOf(customer)).toEqual([
    'order refunded',
    'renewal refunded',
    'credit paid',
    'credit paid',
  ])
  expect(await balanceOf(customer)).toBe(3n * price)
  await portal.ledgerHolds()
})

test('a month could not be charged before the order is given up: nothing is owed', async () => {
  const { customer, id } = await renewedTooEarly(price)
  expect(await invoicesOf(customer)).toEqual(['order paid', 'renewal open'])
  waiting.get(id)?.resolve('refused')
  await reaches(id, 'failed')
  await credit(customer, 5n * price)
  expect(await invoicesOf(customer)).toEqual(['order refunded', 'renewal void', 'credit paid'])
  expect(await balanceOf(customer)).toBe(6n * price)
  await portal.ledgerHolds()
})

test('deleted by its customer before it came up, it leaves nothing owed', async () => {
  const { customer, id } = await renewedTooEarly(price)
  const { body } = await portal.call<{ token: { accessToken: string } }>(
    'POST',
    '/api/v1/auth/login',
    {
      body: { email: customer.email, password: customer.password },
    },
  )
  const { status } = await portal.call('DELETE', `/api/wp/${id}`, {
    token: body.result.token.accessToken,
  })
  expect(status).toBe(200)
  waiting.get(id)?.resolve('refused')
  await credit(customer, 5n * price)
  expect(await invoicesOf(customer)).toEqual(['order refunded', 'renewal void', 'credit paid'])
  expect(await balanceOf(customer)).toBe(6n * price)
  await portal.ledgerHolds()
})

test('what comes back for one order pays for the next that waits', async () => {
  const customer = await portal.customer()
  const first = await place(customer)
  await credit(customer, price)
  await installing(first)
  const second = await place(customer)
  expect((await stateOf(second)).status).toBe('pending_payment')
  waiting.get(first)?.resolve('refused')
  await reaches(first, 'failed')
  await installing(second)
  expect(await balanceOf(customer)).toBe(0n)
  waiting.get(second)?.resolve('refused')
  await reaches(second, 'failed')
  await portal.ledgerHolds()
})

test('suspended while it was being set up, it is stopped as soon as it runs', async () => {
  const customer = await portal.customer()
  const id = await place(customer)
  await credit(customer, price)
  await installing(id)
  clock.advance(days(31))
  await portal.app.bills.sweep()
  clock.advance(days(8))
  await portal.app.bills.sweep()
  await over(alignJobs.suspend)
  expect(await stateOf(id)).toMatchObject({ status: 'provisioning', subscription: 'suspended' })
  waiting.get(id)?.resolve('installed')
  await reaches(id, 'suspended')
  await eventually('the stop', async () => told.get(id) === 'stop')
})
