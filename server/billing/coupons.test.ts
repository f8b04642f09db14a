/** Coupons: the price of the first month with one, and the amount that is given back later. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Invoice } from '../../contract/billing.ts'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { Coupon } from '../../contract/operator-money.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { days, later } from '../platform/clock.ts'
import { plainCode } from '../platform/codes.ts'
import { DriverFailure } from '../platform/errors.ts'
import { inVietnam } from '../platform/vietnam-time.ts'
import { offOf } from './coupons.ts'

const clock = manualClock()
/** While it is set, no server is delivered. */
let isFull = false
let portal: TestPortal
let finance: TestMember
let otherFinance: TestMember
let support: TestMember
beforeAll(async () => {
  portal = await openTestPortal({
    clock,
    changeCatalog: (catalog) => ({
      ...catalog,
      regions: {
        ...catalog.regions,
        AUD: { ...catalog.regions.AUD, tax: { name: 'GST', rate: 1000 } },
      },
    }),
    changeDrivers: (drivers) => ({
      ...drivers,
      wordpress: {
        ...drivers.wordpress,
        async install(site, admin) {
          if (isFull) throw new DriverFailure('full', 'there is no room')
          await drivers.wordpress.install(site, admin)
        },
      },
    }),
  })
  finance = await newMember(portal, 'finance', { clock })
  otherFinance = await newMember(portal, 'finance', { clock })
  support = await newMember(portal, 'support', { clock })
})
afterAll(() => portal.close())

const reason = 'campaign of November'
const form = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}
/** The monthly price of that server, minor units. */
const monthly = 218_000
const newCode = (): string => `C${randomUUID().slice(0, 11)}`.toUpperCase()
const plain = (code: string): string => code.replaceAll('-', '')
const making = (by: TestMember, more: object = {}) =>
  by.act<ActOutcome>('coupon.make', {
    amount: 40_000,
    currency: 'VND',
    uses: 2,
    reason,
    ...more,
  })
async function made(more: object = {}): Promise<string> {
  const code = newCode()
  const done = await making(finance, { code, ...more })
  expect(done.body.result?.state, done.text).toBe('done')
  return code
}
const list = async (): Promise<Coupon[]> =>
  (await finance.call<Coupon[]>('GET', '/api/operator/coupons')).body.result
const shown = async (code: string) => (await list()).find((one) => one.code === plain(code))
const quote = ({ token }: TestCustomer, coupon: string, more: object = {}) => {
  const { size, disk, mariadb_disk_size, replicate } = form
  return portal.call<{ off: number; first: number; monthly: number }>('POST', '/api/wp/coupon', {
    token,
    body: { size, disk, mariadb_disk_size, replicate, coupon, ...more },
  })
}
const order = ({ token }: TestCustomer, coupon?: string, more: object = {}) =>
  portal.call<{ id: string }>('POST', '/api/wp', {
    token,
    body: { ...form, ...(coupon !== undefined && { coupon }), ...more },
  })
const faultOf = (answer: { body: { error?: { fields?: Record<string, string> } } }) =>
  answer.body.error?.fields?.['coupon']
const server = async ({ token }: TestCustomer, id: string) =>
  (
    await portal.call<{ status: string; price: number; subscriptionId: string }>(
      'GET',
      `/api/wp/${id}`,
      { token },
    )
  ).body.result
const becomes = (customer: TestCustomer, id: string, status: string) =>
  eventually(
    `the server is ${status}`,
    async () => (await server(customer, id)).status === status,
    60,
  )
const balanceOf = async ({ id }: TestCustomer): Promise<number> =>
  Number((await portal.app.ledger.balanceOf(portal.app.db, id)).balance)
const invoicesOf = async ({ token }: TestCustomer): Promise<Invoice[]> =>
  (await portal.call<Invoice[]>('GET', '/api/payments/stripe/invoices', { token })).body.result
async function rich(amount = 2_000_000): Promise<TestCustomer> {
  const an = await portal.customer()
  await portal.topUp(an, amount)
  await eventually('the top-up', async () => (await balanceOf(an)) === amount)
  return an
}

describe('an order with a coupon', () => {
  test('costs less in its first month only, by a line of its own', async () => {
    const an = await rich()
    const code = await made({ percent: 20, amount: 100_000 })
    const typed = ` ${code.toLowerCase().slice(0, 4)}-${code.slice(4)} `
    const off = 43_600
    expect((await quote(an, typed)).body.result).toEqual({
      code: plain(code),
      off,
      first: monthly - off,
      monthly,
      currency: 'VND',
    })
    expect((await shown(code))?.uses).toBe(0)
    const { id } = (await order(an, typed)).body.result
    await becomes(an, id, 'running')
    expect(await balanceOf(an)).toBe(2_000_000 - monthly + off)
    const [invoice] = await invoicesOf(an)
    expect(invoice).toMatchObject({ total: monthly - off, status: 'paid' })
    expect(invoice?.lines.map(({ amount }) => amount)).toEqual([monthly, -off])
    expect(invoice?.lines[1]?.description).toContain(plain(code))
    expect(invoice?.lines[1]?.period_end).toBe(invoice?.lines[0]?.period_end)
    expect((await server(an, id)).price).toBe(monthly)
    expect(await shown(code)).toMatchObject({ uses: 1, good: true })
    clock.advance(days(32))
    await portal.app.bills.sweep()
    const later = await portal.signIn(an)
    expect((await invoicesOf(later))[0]).toMatchObject({ kind: 'renewal', total: monthly })
    await signInAnew()
    await portal.ledgerHolds()
  })

  test('has the tax of what is paid in it', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const money = { customer: an.id, amount: 20_000, currency: 'AUD', told: 'Prepaid', reason }
    expect((await otherFinance.act('money.credit', money)).status).toBe(200)
    const code = await made({ currency: 'AUD', amount: 500, uses: 1 })
    const { id } = (await order(an, code)).body.result
    await becomes(an, id, 'running')
    const [invoice] = await invoicesOf(an)
    expect(invoice?.lines[1]).toMatchObject({ amount: -500, tax: -45 })
    const taxed = invoice?.lines.reduce((sum, { tax }) => sum + tax, 0)
    expect(invoice?.tax).toMatchObject({ rate: 1000, amount: taxed })
    expect(Math.abs((taxed ?? 0) - (invoice?.total ?? 0) / 11)).toBeLessThanOrEqual(1)
    expect(await balanceOf(an)).toBe(20_000 - (invoice?.total ?? 0))
  })

  test('never costs nothing', async () => {
    const an = await rich()
    const code = await made({ amount: 1_000_000 })
    expect((await quote(an, code)).body.result).toMatchObject({ off: 215_820, first: 2_180 })
    const { id } = (await order(an, code)).body.result
    await becomes(an, id, 'running')
    expect(await balanceOf(an)).toBe(2_000_000 - 2_180)
    expect((await making(finance, { percent: 100 })).status).toBe(422)
  })

  test('is short by what it costs with it, and is paid by a top-up of that', async () => {
    const an = await rich(monthly - 40_000 - 1_000)
    const { id } = (await order(an, await made())).body.result
    await becomes(an, id, 'pending_payment')
    await portal.topUp(an, 10_000)
    await becomes(an, id, 'running')
    expect(await balanceOf(an)).toBe(9_000)
  })
})

describe('what is given back', () => {
  test('of a month that is cancelled is a share of what was paid', async () => {
    const an = await rich()
    const { id } = (await order(an, await made({ amount: 100_000 }))).body.result
    await becomes(an, id, 'running')
    const paid = monthly - 100_000
    const { subscriptionId } = await server(an, id)
    clock.advance(days(10))
    const { token } = await portal.signIn(an)
    const shownUnused = await portal.call<{ unused: number }>(
      'GET',
      `/api/subscriptions/${subscriptionId}`,
      { token },
    )
    const { unused } = shownUnused.body.result
    expect(unused).toBeGreaterThan(0)
    expect(unused).toBeLessThan(paid)
    // 20 days of a month of 30 or 31 are left.
    expect(unused / paid).toBeCloseTo(20 / 30, 1)
    expect((await portal.call('DELETE', `/api/wp/${id}`, { token })).status).toBe(200)
    expect(await balanceOf(an)).toBe(2_000_000 - paid + unused)
    await portal.ledgerHolds()
    await signInAnew()
  })

  test('at once is all that was paid, and no more, also after an upgrade', async () => {
    const an = await rich()
    const { id } = (await order(an, await made({ amount: 100_000 }))).body.result
    await becomes(an, id, 'running')
    const body = { size: 2 }
    const grown = await portal.call('PUT', `/api/wp/${id}`, { token: an.token, body })
    expect(grown.status, grown.text).toBe(200)
    expect((await portal.call('DELETE', `/api/wp/${id}`, { token: an.token })).status).toBe(200)
    expect(await balanceOf(an)).toBe(2_000_000)
    const notes = (await invoicesOf(an)).filter(({ kind }) => kind === 'credit')
    const charged = (await invoicesOf(an)).filter(({ kind }) => kind !== 'credit')
    const totals = (of: Invoice[]) =>
      of.map(({ total }) => Math.abs(total)).toSorted((a, b) => a - b)
    expect(totals(notes)).toEqual(totals(charged))
    await portal.ledgerHolds()
  })

  test('of a server that does not come up is every line, and the use', async () => {
    const an = await rich()
    const code = await made({ uses: 1 })
    isFull = true
    const { id } = (await order(an, code)).body.result
    await becomes(an, id, 'failed')
    isFull = false
    expect(await balanceOf(an)).toBe(2_000_000)
    const [note] = await invoicesOf(an)
    expect(note?.lines.map(({ amount }) => amount)).toEqual([-monthly, 40_000])
    expect((await shown(code))?.uses).toBe(0)
    const again = (await order(an, code)).body.result
    await becomes(an, again.id, 'running')
    expect((await shown(code))?.uses).toBe(1)
    await portal.ledgerHolds()
  })

  test('of an unpaid order is the use, when it lapses or is deleted', async () => {
    const code = await made({ uses: 2 })
    const [an, binh] = [await portal.customer(), await portal.customer()]
    const first = (await order(an, code)).body.result
    expect((await order(binh, code)).status).toBe(201)
    expect(faultOf(await order(await portal.customer(), code))).toMatch(/used up/)
    await portal.call('DELETE', `/api/wp/${first.id}`, { token: an.token })
    expect((await shown(code))?.uses).toBe(1)
    clock.advance(days(8))
    await portal.app.bills.sweep()
    await signInAnew()
    expect((await shown(code))?.uses).toBe(0)
  })
})

describe('a coupon', () => {
  test('with one use left is had by one of ten orders at once', async () => {
    const code = await made({ uses: 1 })
    const customers = await Promise.all(Array.from({ length: 10 }, () => portal.customer()))
    const answers = await Promise.all(customers.map((customer) => order(customer, code)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter((answer) => faultOf(answer) !== undefined)).toHaveLength(9)
    const an = await portal.customer()
    const other = await made({ uses: 5 })
    const same = await Promise.all([1, 2, 3, 4].map(() => order(an, other)))
    expect(same.filter(({ status }) => status === 201)).toHaveLength(1)
    expect((await shown(other))?.uses).toBe(1)
  })

  test('is of its plans, currency and days, and ends when it is stopped', async () => {
    const an = await portal.customer()
    const day = (after: number) => inVietnam(later(clock.now(), days(after))).slice(0, 10)
    expect(faultOf(await quote(an, await made({ plans: [2, 3] })))).toMatch(/plan/)
    expect((await quote(an, await made({ plans: [1] }))).status).toBe(200)
    expect(faultOf(await quote(an, await made({ currency: 'AUD', amount: 500 })))).toContain('AUD')
    expect((await quote(an, await made({ expiresOn: day(0) }))).status).toBe(200)
    const over = await made({ expiresOn: day(0), startsOn: day(-3) })
    await portal.app.db
      .updateTable('coupon')
      .set({ expires_at: clock.now() })
      .where('code', '=', plainCode(over))
      .execute()
    for (const code of [over, await made({ startsOn: day(1) })])
      expect(faultOf(await quote(an, code))).toMatch(/not valid/)
    const past = await making(finance, { startsOn: day(-3), expiresOn: day(-1) })
    expect(past.body.error?.fields).toHaveProperty('expiresOn')
    const backwards = await making(finance, { startsOn: day(3), expiresOn: day(1) })
    expect(backwards.body.error?.fields).toHaveProperty('expiresOn')
    const code = await made()
    expect((await finance.act('coupon.stop', { coupon: code, reason })).status).toBe(200)
    expect((await finance.act('coupon.stop', { coupon: code, reason })).status).toBe(404)
    expect(faultOf(await order(an, code))).toMatch(/not valid/)
    expect((await shown(code))?.good).toBe(false)
    const twice = await made({ perCustomer: 2, uses: 5 })
    const answers = [await order(an, twice), await order(an, twice), await order(an, twice)]
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 422])
  })

  test('is guessed ten times an hour, with orders and vouchers together', async () => {
    const an = await portal.customer()
    for (let n = 0; n < 4; n++) expect((await quote(an, `GUESS${n}`)).status).toBe(422)
    for (let n = 4; n < 8; n++) expect((await order(an, `GUESS${n}`)).status).toBe(422)
    for (let n = 8; n < 10; n++)
      await portal.call('POST', '/api/payments/voucher', {
        token: an.token,
        body: { code: `GUESS${n}` },
      })
    expect((await quote(an, await made())).body.error?.code).toBe('rate_limited')
    // An order without a coupon does not count as a guess.
    expect((await order(an)).status).toBe(201)
  })

  test('never takes off more than it may, whatever the price', () => {
    fc.assert(
      fc.property(
        fc.bigInt(1n, 10n ** 12n),
        fc.bigInt(1n, 10n ** 12n),
        fc.option(fc.integer({ min: 1, max: 99 })),
        (price, amount, percent) => {
          const off = offOf({ percent, amount }, price)
          expect(off).toBeGreaterThanOrEqual(0n)
          expect(off).toBeLessThan(price)
          expect((price - off) * 100n).toBeGreaterThanOrEqual(price)
          expect(off).toBeLessThanOrEqual(amount)
          if (percent !== null) expect(off * 100n).toBeLessThanOrEqual(price * BigInt(percent))
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

describe('the desk', () => {
  test('asks a second member by what all uses cost together, and hides codes', async () => {
    const code = newCode()
    expect((await making(support, { code })).status).toBe(403)
    expect((await support.call('GET', '/api/operator/coupons')).status).toBe(403)
    const wish = { code, amount: 50_000, percent: 10, uses: 101 }
    const proposed = await making(finance, wish)
    expect(proposed.body.result.state).toBe('proposed')
    expect(await shown(code)).toBeUndefined()
    const approval = `/api/operator/proposals/${proposed.body.result.proposal}/approve`
    expect((await otherFinance.call('POST', approval)).status).toBe(200)
    expect(await shown(code)).toMatchObject({ percent: 10, maxUses: 101, perCustomer: 1 })
    expect((await making(finance, { code })).body.error?.fields).toHaveProperty('code')
    const acts = await portal.app.db.selectFrom('operator_act').selectAll().execute()
    const trail = acts.map(({ input, before, after }) => JSON.stringify([input, before, after]))
    for (const text of [code, plain(code)])
      expect(trail.filter((each) => each.includes(text))).toEqual([])
    const drawn = await making(finance)
    const masked = String(drawn.body.result.after?.['code'])
    expect((await list()).some((one) => one.code.endsWith(masked.slice(1)))).toBe(true)
  })
})

test('the export of tax sums to what the ledger has, coupons and credits among it', async () => {
  const file = await finance.call('GET', '/api/operator/exports/tax?from=2026-01-01&to=2030-12-31')
  const [head = '', ...lines] = file.text.trim().split(/\r?\n/)
  const at = head.split(',').findIndex((name) => name.includes('Total'))
  const total = lines
    .map((line) => line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/))
    .filter((cells) => cells.includes('VND'))
    .reduce((sum, cells) => sum + Number(cells[at]), 0)
  const { balance } = await portal.app.db
    .selectFrom('ledger_account')
    .select((eb) => eb.fn.sum<string>('balance').as('balance'))
    .where('code', '=', 'revenue:wordpress:VND')
    .executeTakeFirstOrThrow()
  expect(Math.abs(total)).toBe(Math.abs(Number(balance)))
  expect(total).not.toBe(0)
  await portal.ledgerHolds()
})

/** The staff's sessions have ended after eight hours. */
async function signInAnew(): Promise<void> {
  finance = await newMember(portal, 'finance', { clock })
  otherFinance = await newMember(portal, 'finance', { clock })
  support = await newMember(portal, 'support', { clock })
}
