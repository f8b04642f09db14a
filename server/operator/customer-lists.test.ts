/** What the desk reads of one customer's money and servers goes on to the oldest row. */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CustomerStory, Hit } from '../../contract/operator-desk.ts'
import type { PaymentAtDesk } from '../../contract/operator-customer-lists.ts'
import type { TicketOfDesk } from '../../contract/tickets-desk.ts'
import { reason } from '../../test/desk.ts'
import { manyTickets, newerTopUps } from '../../test/many-rows.ts'
import {
  openTestPortal,
  type Answer,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'

let portal: TestPortal
let finance: TestMember
let an: TestCustomer
let oldest: string
const many = 25
beforeAll(async () => {
  portal = await openTestPortal()
  finance = await newMember(portal, 'finance')
  an = await portal.customer()
  oldest = (await portal.topUp(an, 50_000)).transactionCode
})
afterAll(() => portal.close())

/** Every page of a list, `limit` rows each. */
async function pagesOf<R>(path: string, limit: number): Promise<R[][]> {
  const pages: R[][] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const answer: Answer<R[]> = await finance.call<R[]>(
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor && `&cursor=${cursor}`}`,
    )
    if (answer.status !== 200) throw new Error(answer.text)
    pages.push(answer.body.result)
    cursor = answer.body.page?.next ?? null
  }
  return pages
}

describe('of a customer with more than the page shows', () => {
  beforeAll(async () => {
    const { db } = portal.app
    await newerTopUps(db, oldest, many)
    await sql`
      insert into invoice (id, customer_id, region_code, product, currency, total, status, kind,
        buyer, seller, created_at, tax_name, tax_rate)
      select gen_random_uuid(), ${an.id}, 'VN', 'wordpress', 'VND', n, 'void', 'order', '{}', '{}',
        now(), 'VAT', 0
      from generate_series(1, ${many}::int) n`.execute(db)
    await sql`
      insert into site (id, customer_id, name, status, plan_id, plan_name, cpu, ram_mb, disk_mb,
        mariadb_disk_mb, containers, region_id, region_name, language, price, currency, admin_user,
        created_at)
      select gen_random_uuid(), ${an.id}, 'older-server-' || n, 'failed', 1, 'BASIC-1', 1, 512,
        10240, 10240, 1, 1, 'VN', 'vi', 218000, 'VND', 'an', now()
      from generate_series(1, 60) n`.execute(db)
  })
  const path = (list: string) => `/api/operator/customers/${an.id}/${list}`
  const story = async () =>
    (await finance.call<CustomerStory>('GET', `/api/operator/customers/${an.id}`)).body.result

  test('every top-up, invoice and server is read page by page, once', async () => {
    const first = await story()
    expect(first.more).toEqual({ payments: true, invoices: true, servers: true })
    for (const [list, key, all, shown] of [
      ['payments', 'code', many + 1, first.payments],
      ['invoices', 'id', many, first.invoices],
      ['servers', 'id', 60, first.servers],
    ] as const) {
      const pages = await pagesOf<Record<string, string>>(path(list), 7)
      expect(pages.length).toBe(Math.ceil(all / 7))
      const rows = pages.flat()
      expect(new Set(rows.map((row) => row[key])).size).toBe(all)
      expect(rows.length).toBe(all)
      // The page of the customer begins with the same rows.
      expect(rows.slice(0, shown.length)).toEqual(shown)
    }
    const nobody = await portal.customer()
    const fresh = await finance.call<CustomerStory>('GET', `/api/operator/customers/${nobody.id}`)
    expect(fresh.body.result.more).toEqual({ payments: false, invoices: false, servers: false })
  })

  test('a search for an old transaction code leads to its top-up, which is refunded', async () => {
    expect((await story()).payments.some(({ code }) => code === oldest)).toBe(false)
    const [hit] = (await finance.call<Hit[]>('GET', `/api/operator/search?q=${oldest}`)).body.result
    expect(hit).toMatchObject({ kind: 'payment', customer: { id: an.id }, payment: oldest })
    const found = async () =>
      (await finance.call<PaymentAtDesk[]>('GET', `${path('payments')}?code=${oldest}`)).body.result
    expect(await found()).toMatchObject([{ code: oldest, refundable: true, givenBack: 0 }])
    expect((await finance.act('money.refund', { payment: oldest, reason })).status).toBe(200)
    expect(await found()).toMatchObject([{ code: oldest, refundable: false, givenBack: 50_000 }])
    const { provider_transaction_id: movement } = await portal.app.db
      .selectFrom('payment')
      .select('provider_transaction_id')
      .where('code', '=', oldest)
      .executeTakeFirstOrThrow()
    const byBank = await finance.call<Hit[]>('GET', `/api/operator/search?q=${movement}`)
    expect(byBank.body.result).toMatchObject([{ kind: 'bank_reference', payment: oldest }])
  })

  test('of nobody there is no list, and a cursor of another kind is refused', async () => {
    for (const list of ['payments', 'invoices', 'servers']) {
      for (const id of ['x', '00000000-0000-4000-8000-000000000000'])
        expect((await finance.call('GET', `/api/operator/customers/${id}/${list}`)).status).toBe(
          404,
        )
      expect((await finance.call('GET', `${path(list)}?cursor=x`)).status).toBe(422)
      expect((await portal.call('GET', path(list))).status).toBe(401)
    }
    // Another customer's code is not this customer's top-up.
    const binh = await portal.customer()
    const other = await finance.call<PaymentAtDesk[]>(
      'GET',
      `/api/operator/customers/${binh.id}/payments?code=${oldest}`,
    )
    expect(other.body.result).toEqual([])
  })
})

test('the queue of tickets goes on to the last, in its order', async () => {
  for (const state of ['open', 'closed'] as const)
    await manyTickets(portal.app.db, an.id, state, 120)
  const rank = { low: 0, normal: 1, high: 2, urgent: 3 }
  for (const state of ['open', 'closed']) {
    const pages = await pagesOf<TicketOfDesk>(`/api/operator/tickets?state=${state}`, 25)
    expect(pages.map((page) => page.length)).toEqual([25, 25, 25, 25, 20])
    const rows = pages.flat()
    expect(new Set(rows.map(({ id }) => id)).size).toBe(120)
    const places = rows.map(({ priority, since, number }) =>
      state === 'open'
        ? [-rank[priority], Date.parse(since), number]
        : [-Date.parse(since), -number],
    )
    const inOrder = places.toSorted(
      (one, other) => one.map((part, at) => part - (other[at] ?? 0)).find((by) => by !== 0) ?? 0,
    )
    expect(places).toEqual(inOrder)
  }
  const urgent = await pagesOf<TicketOfDesk>('/api/operator/tickets?priority=urgent', 25)
  expect(urgent.flat().length).toBe(30)
  expect((await finance.call('GET', '/api/operator/tickets?cursor=x')).status).toBe(422)
})
