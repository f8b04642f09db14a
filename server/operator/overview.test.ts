/** The desk's first page: nothing is said to wait before something does, and then how much. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Overview, OverdueInvoice } from '../../contract/operator-overview.ts'
import { reason } from '../../test/desk.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import { eventually, manualClock, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { newMember } from '../../test/staff.ts'
import { days } from '../platform/clock.ts'

const clock = manualClock()
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ clock })
})
afterAll(() => portal.close())

/** Sessions end while the clock travels. */
const read = async <T>(path: string): Promise<T> =>
  (await (await newMember(portal, 'read_only', { clock })).call<T>('GET', `/api/operator/${path}`))
    .body.result

test('what is not well, and what waits, is counted; nothing is zero', async () => {
  const calm = {
    faults: {
      ledger: 0,
      nodes: 0,
      serversDown: 0,
      stuck: 0,
      jobs: 0,
      certificates: 0,
      backups: 0,
      letters: 0,
    },
    waiting: {
      proposals: 0,
      tickets: 0,
      dataRequests: 0,
      suspense: 0,
      differences: 0,
      disputes: 0,
      overdueInvoices: 0,
    },
  }
  expect(await read<Overview>('overview')).toEqual(calm)

  const { db } = portal.app
  const an = await portal.customer()
  await portal.topUp(an, 300_000)
  const { id: site } = await orderServer(portal, an)
  clock.advance(days(31))
  await portal.app.bills.sweep()
  const [invoice] = await read<OverdueInvoice[]>('overdue-invoices')
  expect(invoice).toMatchObject({
    customer: { id: an.id, email: an.email },
    total: 218_000,
    currency: 'VND',
    suspended: false,
  })
  expect(invoice?.subject).not.toBeNull()

  const finance = await newMember(portal, 'finance', { clock })
  const line = { customer: an.id, limit: 60_000_000, currency: 'VND' }
  await finance.act('credit_line.set', { ...line, reason })
  const { email, password } = an
  const opened = await portal.call<{ token: { accessToken: string } }>(
    'POST',
    '/api/v1/auth/login',
    { body: { email, password } },
  )
  const token = opened.body.result.token.accessToken
  const ask = (path: string, body: object) => portal.call('POST', path, { token, body })
  await ask('/api/tickets', { subject: 'My server', text: 'It is slow since Monday.' })
  await ask('/api/v1/account/data-requests', { kind: 'access', text: 'All that you store.' })
  const money = { driver: 'vnpay', amount: 70_000n, currency: 'VND', created_at: clock.now() }
  await db
    .insertInto('payment_suspense')
    .values({ ...money, provider_transaction_id: 'FT1', code: null, reason: 'unknown_reference' })
    .execute()
  await db
    .updateTable('site')
    .set({ down_since: clock.now(), down_reason: 'HTTP 500' })
    .where('id', '=', site)
    .execute()
  await db
    .insertInto('node')
    .values({ id: 'silent', last_seen: new Date(Date.now() - days(1)) })
    .execute()
  const counted = await eventually('all of it is counted', async () => {
    const found = await read<Overview>('overview')
    return found.waiting.tickets === 1 && found
  })
  expect(counted.waiting).toEqual({
    ...calm.waiting,
    proposals: 1,
    tickets: 1,
    dataRequests: 1,
    suspense: 1,
    overdueInvoices: 1,
  })
  expect(counted.faults).toMatchObject({ nodes: 1, serversDown: 1, ledger: 0 })
})
