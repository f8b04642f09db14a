/**
 * A server through its subscription: unpaid, suspended, resumed, cancelled; told through the API,
 * with a real site behind it.
 */
import http from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { days } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { holdServer, releaseServer } from './desk.ts'

const clock = manualClock(new Date())
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ clock })
})
afterAll(() => portal.close())

const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}
const price = 218_000

interface Server {
  id: string
  status: string
  domain: string
  renewsAt: string | null
  subscriptionId: string
  invoice: { id: string; amount_due: number; hosted_invoice_url: string } | null
}
interface Subscription {
  id: string
  status: string
  renewsAt: string | null
  cancelAtPeriodEnd: boolean
  unused: number
  unpaid: { amount_due: number } | null
}

/** Signs in again, because sessions end while the clock is moved. */
async function signIn(customer: TestCustomer): Promise<string> {
  const answer = await portal.call<{ token: { accessToken: string } }>(
    'POST',
    '/api/v1/auth/login',
    {
      body: { email: customer.email, password: customer.password },
    },
  )
  return answer.body.result.token.accessToken
}
const get = async <T>(customer: TestCustomer, address: string): Promise<T> =>
  (await portal.call<T>('GET', address, { token: await signIn(customer) })).body.result
const post = async <T>(customer: TestCustomer, address: string, body?: unknown) =>
  await portal.call<T>('POST', address, { token: await signIn(customer), body })

/** Credits money that arrived, and starts what a top-up starts. */
async function fund(customer: TestCustomer, amount: bigint): Promise<void> {
  const { db, ledger, bills } = portal.app
  await transaction(db, (tx) =>
    ledger.credit(tx, {
      key: crypto.randomUUID(),
      customerId: customer.id,
      driver: 'vnpay',
      amount,
      currency: 'VND',
      details: {},
    }),
  )
  await bills.payOpen(customer.id)
}
const visit = (host: string): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    http
      .get(
        {
          host: '127.0.0.1',
          port: portal.config.SITES_PORT,
          path: '/',
          headers: { host },
          agent: false,
        },
        (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk: Buffer) => chunks.push(chunk))
          answer.on('end', () =>
            resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
          )
        },
      )
      .on('error', reject)
  })
const becomes = (customer: TestCustomer, id: string, status: string): Promise<Server> =>
  eventually(
    `the server being ${status}`,
    async () => {
      const server = await get<Server>(customer, `/api/wp/${id}`)
      return server.status === status && server
    },
    120,
  )
async function passes(count: number): Promise<void> {
  clock.advance(days(count))
  await portal.app.bills.sweep()
}

test('unpaid it is suspended with its data kept; paid, back; cancelled, refunded', async () => {
  const an = await portal.customer()
  const { id } = (await post<{ id: string }>(an, '/api/wp', order)).body.result
  await fund(an, BigInt(price))
  const running = await becomes(an, id, 'running')
  await eventually('the site', async () => (await visit(running.domain)).status === 200, 60)
  expect(await get(an, '/api/wallet/runway')).toMatchObject({
    emptyAt: running.renewsAt,
    monthly: price,
    next: [{ at: running.renewsAt, amount: price, wp: { id } }],
  })

  await passes(31)
  await passes(7)
  const suspended = await becomes(an, id, 'suspended')
  expect(suspended.invoice?.amount_due).toBe(price)
  expect(suspended.renewsAt).toBeNull()
  expect(await get(an, `/api/subscriptions/${running.subscriptionId}`)).toMatchObject({
    status: 'suspended',
    unpaid: { amount_due: price },
  })
  expect(await get(an, '/api/payments/stripe/invoices/unpaid')).toEqual({
    count: 1,
    amount_due: price,
    currency: 'VND',
  })
  const page = await eventually('the page of a suspended site', async () => {
    const shown = await visit(running.domain)
    return shown.status === 503 && shown
  })
  expect(page.text).toContain('suspended')
  expect((await portal.drivers.wordpress.state(id)).state).toBe('stopped')
  await eventually('both letters', async () => (await portal.inbox(an.email)).length >= 2)

  await fund(an, BigInt(price))
  await becomes(an, id, 'running')
  // It is reported as running only once it answers.
  expect(await portal.drivers.wordpress.addresses(id)).toHaveLength(1)
  await eventually('the site again', async () => (await visit(running.domain)).status === 200, 60)

  const planned = await post<Subscription>(
    an,
    `/api/subscriptions/${running.subscriptionId}/cancel`,
    { when: 'period_end' },
  )
  expect(planned.body.result).toMatchObject({ cancelAtPeriodEnd: true, renewsAt: null })
  const kept = await post<Subscription>(an, `/api/subscriptions/${running.subscriptionId}/resume`)
  expect(kept.body.result.cancelAtPeriodEnd).toBe(false)
  const { unused } = kept.body.result
  expect(
    (
      await post<Subscription>(an, `/api/subscriptions/${running.subscriptionId}/cancel`, {
        when: 'now',
      })
    ).body.result.status,
  ).toBe('ended')
  const { balance } = await get<{ balance: number }>(an, '/api/v1/auth/me')
  expect(balance).toBe(unused)
  await eventually(
    'the server being gone',
    async () =>
      (await portal.call('GET', `/api/wp/${id}`, { token: await signIn(an) })).status === 404,
    60,
  )
  expect((await visit(running.domain)).status).toBe(404)
  expect((await portal.drivers.wordpress.state(id)).state).toBe('absent')
  const [entry] = await get<{ id: string; amount: number }[]>(an, '/api/payments/stripe?limit=1')
  const explained = await get<{ invoice: { total: number; recomputed: number; lines: unknown[] } }>(
    an,
    `/api/payments/stripe/transactions/${entry?.id}`,
  )
  expect(explained.invoice).toMatchObject({ total: -unused, recomputed: -unused })
  const again = await post(an, `/api/subscriptions/${running.subscriptionId}/cancel`, {
    when: 'now',
  })
  expect([again.status, again.body.error?.code]).toEqual([409, 'subscription_ended'])
  await portal.ledgerHolds()
})

test('late with its renewal it is held, stays so when it is paid, and is released', async () => {
  const an = await portal.customer()
  const { id } = (await post<{ id: string }>(an, '/api/wp', order)).body.result
  await fund(an, BigInt(price))
  const { subscriptionId } = await becomes(an, id, 'running')
  const { db, jobs } = portal.app
  const put = (act: typeof holdServer) =>
    transaction(db, (tx) => act(tx, { clock, jobs }, id, 'It sends spam'))
  const stands = async () =>
    (await get<Subscription>(an, `/api/subscriptions/${subscriptionId}`)).status
  const runtime = async () => (await portal.drivers.wordpress.state(id)).state

  await passes(31)
  expect(await stands()).toBe('past_due')
  await put(holdServer)
  await becomes(an, id, 'suspended')
  await eventually('its end', async () => (await runtime()) === 'stopped')
  await fund(an, BigInt(price))
  expect(await stands()).toBe('active')
  await jobsIdle(db)
  expect([(await get<Server>(an, `/api/wp/${id}`)).status, await runtime()]).toEqual([
    'suspended',
    'stopped',
  ])

  await passes(31)
  expect(await stands()).toBe('past_due')
  await put(releaseServer)
  await becomes(an, id, 'running')
  expect(await portal.drivers.wordpress.addresses(id)).toHaveLength(1)

  // A state that an earlier release left: no job works on it.
  const write = (held_at: Date | null) =>
    db.updateTable('site').set({ held_at }).where('id', '=', id).execute()
  await write(clock.now())
  await portal.app.resumeServers()
  await becomes(an, id, 'suspended')
  await jobsIdle(db)
  await write(null)
  await portal.app.resumeServers()
  await becomes(an, id, 'running')
})

test("somebody else's subscription is unknown", async () => {
  const [an, binh] = [await portal.customer(), await portal.customer()]
  const { id } = (await post<{ id: string }>(an, '/api/wp', order)).body.result
  const { subscriptionId } = await get<Server>(an, `/api/wp/${id}`)
  for (const wanted of [subscriptionId, crypto.randomUUID(), 'x']) {
    expect(
      (await portal.call('GET', `/api/subscriptions/${wanted}`, { token: await signIn(binh) }))
        .status,
    ).toBe(404)
    expect((await post(binh, `/api/subscriptions/${wanted}/cancel`, { when: 'now' })).status).toBe(
      404,
    )
    expect((await post(binh, `/api/subscriptions/${wanted}/resume`)).status).toBe(404)
  }
  expect(
    (await post(an, `/api/subscriptions/${subscriptionId}/cancel`, { when: 'later' })).status,
  ).toBe(422)
  // An unpaid order is simply gone.
  expect(
    (await post<Subscription>(an, `/api/subscriptions/${subscriptionId}/cancel`, { when: 'now' }))
      .body.result.status,
  ).toBe('ended')
  await eventually(
    'the order being gone',
    async () => (await get<Server[]>(an, '/api/wp')).length === 0,
  )
  expect(await get(an, '/api/payments/stripe/invoices/unpaid')).toMatchObject({
    count: 0,
    amount_due: 0,
  })
})
