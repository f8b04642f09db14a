/**
 * A credit line from the desk to the wallet, through the API: given, lent, told, reminded of,
 * settled; and overdue, dunned, suspended, paid, resumed.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Runway } from '../../contract/billing.ts'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { CustomerStory } from '../../contract/operator-desk.ts'
import type { CreditDebt } from '../../contract/operator-money.ts'
import { runCommand } from '../../test/operator.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { days } from '../platform/clock.ts'

const clock = manualClock()
let portal: TestPortal
let finance: TestMember
beforeAll(async () => {
  portal = await openTestPortal({ clock })
  finance = await newMember(portal, 'finance', { clock })
})
afterAll(async () => {
  await portal.ledgerHolds()
  await portal.close()
})

const price = 218_000
const reason = 'an agency that always pays'
const set = (by: TestMember, customer: TestCustomer, limit: number, more: object = {}) =>
  by.act<ActOutcome>('credit_line.set', {
    customer: customer.id,
    limit,
    currency: 'VND',
    termDays: 14,
    reason,
    ...more,
  })
const lineOf = async (an: TestCustomer) =>
  (await portal.call<Runway>('GET', '/api/wallet/runway', { token: an.token })).body.result
    .creditLine
const balanceOf = async (an: TestCustomer): Promise<bigint> =>
  (await portal.app.ledger.balanceOf(portal.app.db, an.id)).balance
const storyOf = async ({ id }: TestCustomer): Promise<CustomerStory> =>
  (await finance.call<CustomerStory>('GET', `/api/operator/customers/${id}`)).body.result
const debts = async (query = ''): Promise<CreditDebt[]> =>
  (await finance.call<CreditDebt[]>('GET', `/api/operator/credit-debts${query}`)).body.result
const debtsOf = async (an: TestCustomer, query: string): Promise<CreditDebt[]> =>
  (await debts(query)).filter(({ customer }) => customer?.id === an.id)
const told = (an: TestCustomer, words: RegExp) =>
  eventually(`a letter ${words}`, async () =>
    (await portal.inbox(an.email)).some(({ text }) => words.test(text.replaceAll('\u00A0', ' '))),
  )
/** A server whose order took all that the wallet had. */
async function withServer(an: TestCustomer): Promise<string> {
  await portal.topUp(an, price)
  const { id } = await orderServer(portal, an)
  await eventually('the order is paid', async () => (await balanceOf(an)) === 0n)
  return id
}
/** Advances the clock day by day and runs the due jobs; sessions have ended afterwards. */
async function pass(count: number, ...people: TestCustomer[]): Promise<void> {
  for (let day = 0; day < count; day++) {
    clock.advance(days(1))
    await portal.app.bills.sweep()
    await portal.app.bills.writeCreditLetters()
  }
  finance = await newMember(portal, 'finance', { clock })
  for (const an of people) Object.assign(an, await portal.signIn(an))
}
const statusOf = async (an: TestCustomer, id: string): Promise<string> =>
  (await portal.call<{ status: string }>('GET', `/api/wp/${id}`, { token: an.token })).body.result
    .status

test('given, a renewal is lent, told, reminded of, and settled by a top-up', async () => {
  const an = await portal.customer()
  const id = await withServer(an)
  expect(await lineOf(an)).toBeUndefined()
  const given = await set(finance, an, 500_000)
  expect(given.body.result).toMatchObject({
    state: 'done',
    before: { limit: 0, owed: 0 },
    after: { limit: 500_000, termDays: 14, amount: 500_000, currency: 'VND' },
  })
  await told(an, /tổng cộng tối đa 500\.000 đ/)
  await pass(31, an)
  expect(await lineOf(an)).toMatchObject({ owed: price, available: 282_000, stopped: null })
  expect(await statusOf(an, id)).toBe('running')
  await told(an, /Trong đó 218\.000 đ được ghi nợ/)
  const { wallets } = await storyOf(an)
  expect(wallets[0]).toMatchObject({ balance: 0, creditLine: { owed: price, limit: 500_000 } })
  const log = (
    await portal.call<{ description: string; amount: number }[]>('GET', '/api/payments/stripe', {
      token: an.token,
    })
  ).body.result
  expect(log.slice(0, 2).map(({ amount }) => amount)).toEqual([-price, price])
  expect(log[1]?.description).toMatch(/^Lent on your credit line · \S+ \(VN-\d{4}-\d{6}\)$/)
  const bell = await portal.call<{ data: { event: string; title: string }[] }>(
    'GET',
    '/api/notifications',
    { token: an.token },
  )
  const titles = bell.body.result.data
    .filter(({ event }) => event === 'wallet.credit_line')
    .map(({ title }) => title.replaceAll('\u00A0', ' '))
  expect(titles[0]).toMatch(/^Your credit line lent .*218.000/)
  expect(titles[1]).toMatch(/^Your credit line is .*500.000/)
  await pass(12, an)
  await told(an, /Sau ngày đó hệ thống không ghi nợ thêm/)
  await portal.topUp(an, 300_000)
  await eventually('what is owed is paid', async () => (await balanceOf(an)) === 82_000n)
  expect(await lineOf(an)).toMatchObject({ owed: 0, dueAt: null, available: 500_000 })
  await told(an, /218\.000 đ được dùng để trả khoản bạn còn nợ/)
  expect(await debts()).toEqual([])
})

test('overdue: dunned, suspended, listed by age; paid and resumed', async () => {
  const an = await portal.customer()
  const id = await withServer(an)
  await set(finance, an, 500_000)
  await pass(31, an)
  expect(await lineOf(an)).toMatchObject({ owed: price })
  expect(await debtsOf(an, '?age=current')).toMatchObject([
    { owed: price, lent: price, daysOver: 0, age: 'current', customer: { id: an.id } },
  ])
  await pass(16, an)
  await told(an, /Khoản nợ theo hạn mức công nợ đã đến hạn/)
  expect(await lineOf(an)).toMatchObject({ stopped: 'overdue', available: 0 })
  expect(await debtsOf(an, '?age=current')).toEqual([])
  expect(await debtsOf(an, '?age=week')).toMatchObject([{ owed: price, age: 'week' }])
  // The next renewal is not lent.
  await pass(16, an)
  await told(an, /còn 218\.000 đ chưa thanh toán/)
  expect(await debtsOf(an, '?age=month')).toHaveLength(1)
  await pass(8, an)
  await eventually('suspended', async () => (await statusOf(an, id)) === 'suspended')
  await portal.topUp(an, price * 2)
  await eventually('running again', async () => (await statusOf(an, id)) === 'running')
  expect(await lineOf(an)).toMatchObject({ owed: 0, stopped: null })
})

test('who is unblocked is lent again what stayed unpaid meanwhile', async () => {
  const an = await portal.customer()
  await withServer(an)
  const subscription = async (): Promise<string> =>
    (
      await portal.app.db
        .selectFrom('subscription')
        .select('status')
        .where('customer_id', '=', an.id)
        .executeTakeFirstOrThrow()
    ).status
  expect((await set(finance, an, 500_000)).status).toBe(200)
  const owner = await newMember(portal, 'owner', { clock })
  const block = { customer: an.id, reason: 'a complaint is looked into' }
  expect((await owner.act('customer.block', block)).status).toBe(200)
  await pass(38)
  await eventually('suspended', async () => (await subscription()) === 'suspended')
  const again = await newMember(portal, 'owner', { clock })
  expect((await again.act('customer.unblock', block)).status).toBe(200)
  await eventually('resumed', async () => (await subscription()) === 'active')
  expect(await balanceOf(an)).toBe(0n)
  expect(await debtsOf(an, '')).toMatchObject([{ owed: price }])
})

test('a list of debts is read page by page, the longest due first', async () => {
  const people = await Promise.all([1, 2, 3].map(() => portal.customer()))
  for (const an of people) await withServer(an)
  for (const an of people) await set(finance, an, 500_000)
  await pass(31, ...people)
  const all = await debts()
  expect(all.length).toBeGreaterThanOrEqual(3)
  const dues = all.map(({ dueAt }) => dueAt)
  expect(dues).toEqual(dues.toSorted())
  const read: string[] = []
  for (let cursor = ''; ;) {
    const page = await finance.call<CreditDebt[]>(
      'GET',
      `/api/operator/credit-debts?limit=1${cursor && `&cursor=${cursor}`}`,
    )
    read.push(...page.body.result.map(({ id }) => id))
    const { next } = (page.body as unknown as { page: { next: string | null } }).page
    if (next === null) break
    cursor = next
  }
  expect(read).toEqual(all.map(({ id }) => id))
})

test('who may: roles, a second member above the limit, the blocked, other currencies', async () => {
  const an = await portal.customer()
  const support = await newMember(portal, 'support', { clock })
  expect((await set(support, an, 100_000)).status).toBe(403)
  expect((await set(finance, an, 100_000, { currency: 'USD' })).body.error?.fields).toHaveProperty(
    'currency',
  )
  expect((await set(finance, an, 0)).body.error?.fields).toHaveProperty('limit')
  const large = await set(finance, an, 50_000_000)
  expect(large.body.result.state).toBe('proposed')
  expect(await lineOf(an)).toBeUndefined()
  const owner = await newMember(portal, 'owner', { clock })
  const approved = await owner.call(
    'POST',
    `/api/operator/proposals/${large.body.result.proposal}/approve`,
    {},
  )
  expect(approved.status).toBe(200)
  expect(await lineOf(an)).toMatchObject({ limit: 50_000_000 })
  // The whole limit counts, whoever raises it by how little; a longer term of it is more, too.
  const other = await newMember(portal, 'finance', { clock })
  expect((await set(other, an, 50_000_100)).body.result.state).toBe('proposed')
  expect((await set(other, an, 50_000_000, { termDays: 15 })).body.result.state).toBe('proposed')
  // Lowering needs no second member, and an unchanged line is refused. For a blocked customer a
  // line can only be lowered or ended.
  expect((await set(finance, an, 40_000_000)).body.result.state).toBe('done')
  expect((await set(finance, an, 40_000_000)).status).toBe(409)
  await owner.act('customer.block', { customer: an.id, reason })
  expect((await set(finance, an, 45_000_000)).body.error?.fields).toHaveProperty('customer')
  expect((await set(finance, an, 40_000_000, { termDays: 60 })).status).toBe(409)
  expect((await set(finance, an, 0)).body.result.state).toBe('done')
})

test('who lowers a line gives nothing, and may still give in another currency', async () => {
  const [an, emma] = [await portal.customer(), await portal.customer({ region: 'AUD' })]
  await set(finance, an, 200_000)
  const other = await newMember(portal, 'finance', { clock })
  expect((await set(other, an, 100_000)).body.result.state).toBe('done')
  const given = await other.act<ActOutcome>('money.credit', {
    customer: emma.id,
    amount: 100,
    currency: 'AUD',
    told: 'Sorry for the outage',
    reason,
  })
  expect(given.body.result?.state, given.text).toBe('done')
})

test('by a command, tried first; who owes cannot close the account', async () => {
  const an = await portal.customer()
  await withServer(an)
  const words = `--customer ${an.id} --limit 300000 --currency VND --reason trusted`.split(' ')
  const tried = await runCommand(portal, {}, 'act', 'credit_line.set', ...words, '--dry-run')
  expect(tried.code).toBe(0)
  expect(await lineOf(an)).toBeUndefined()
  const done = await runCommand(portal, {}, 'act', 'credit_line.set', ...words, '--json')
  expect(done.code).toBe(0)
  expect(await lineOf(an)).toMatchObject({ limit: 300_000, termDays: 30 })
  await told(an, /tổng cộng tối đa 300\.000 đ/)
  await pass(31, an)
  expect(await lineOf(an)).toMatchObject({ owed: price })
  const closing = await portal.call<{ obstacles: string[] }>('GET', '/api/v1/account/closing', {
    token: an.token,
  })
  expect(closing.body.result.obstacles).toContain('debts')
})
