/** Vouchers: made at the desk, used once by each customer, and impossible to guess. */
import { createHash, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { Voucher } from '../../contract/operator-money.ts'
import { runCommand } from '../../test/operator.ts'
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
import { transaction } from '../platform/db.ts'
import { inVietnam } from '../platform/vietnam-time.ts'
import type { Letters } from './letters.ts'
import { createVouchers, makeVoucher, stopVoucher } from './vouchers.ts'

const clock = manualClock()
let portal: TestPortal
let finance: TestMember
let otherFinance: TestMember
let support: TestMember
beforeAll(async () => {
  portal = await openTestPortal({ clock })
  finance = await newMember(portal, 'finance', { clock })
  otherFinance = await newMember(portal, 'finance', { clock })
  support = await newMember(portal, 'support', { clock })
})
afterAll(() => portal.close())

const reason = 'campaign of November'
const quiet = { take: async () => undefined, giveBack: async () => undefined }
const newCode = (): string => `T${randomUUID().slice(0, 11)}`.toUpperCase()
const making = (by: TestMember, more: object = {}) =>
  by.act<ActOutcome>('voucher.make', {
    amount: 50_000,
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
const use = ({ token }: TestCustomer, code: string) =>
  portal.call<{ amount: number; balance: number }>('POST', '/api/payments/voucher', {
    token,
    body: { code },
  })
const list = async (): Promise<Voucher[]> =>
  (await finance.call<Voucher[]>('GET', '/api/operator/vouchers')).body.result
const shown = async (code: string) =>
  (await list()).find((voucher) => voucher.code === plainCode(code))
const faultOf = (answer: Awaited<ReturnType<typeof use>>): string | undefined =>
  answer.body.error?.fields?.['code']

describe('a voucher', () => {
  test('is used as it is typed, once by each customer, with letter and line', async () => {
    const [an, binh, chi] = [
      await portal.customer(),
      await portal.customer(),
      await portal.customer(),
    ]
    const code = await made()
    const typed = ` ${code.toLowerCase().slice(0, 4)}-${code.slice(4)} `
    const first = await use(an, typed)
    expect([first.status, first.body.result]).toEqual([
      200,
      { amount: 50_000, currency: 'VND', balance: 50_000 },
    ])
    expect(faultOf(await use(an, code))).toMatch(/already/)
    expect((await use(binh, code)).status).toBe(200)
    const late = await use(chi, code)
    const never = await use(chi, 'NOSUCHCODE')
    expect([faultOf(late), late.status]).toEqual([faultOf(never), 422])
    expect(await shown(code)).toMatchObject({ uses: 2, maxUses: 2, good: false })
    const lines = await portal.call<{ amount: number; description: string }[]>(
      'GET',
      '/api/payments/stripe',
      { token: an.token },
    )
    expect(lines.body.result).toMatchObject([{ amount: 50_000 }])
    expect(lines.body.result[0]?.description).toContain('Voucher')
    await eventually('the letter', async () =>
      (await portal.inbox(an.email)).some(({ text }) => text.includes(plainCode(code))),
    )
    await portal.ledgerHolds()
  })

  test('with one use left, of ten customers at once one has it', async () => {
    const code = await made({ uses: 1 })
    const customers = await Promise.all(Array.from({ length: 10 }, () => portal.customer()))
    const answers = await Promise.all(customers.map((customer) => use(customer, code)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const an = await portal.customer()
    const other = await made()
    const same = await Promise.all([1, 2, 3, 4].map(() => use(an, other)))
    expect(same.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await shown(other))?.uses).toBe(1)
    await portal.ledgerHolds()
  })

  test('ends on its last day, or when it is stopped, and is of one currency', async () => {
    const an = await portal.customer()
    const day = (after: number) => inVietnam(later(clock.now(), days(after))).slice(0, 10)
    const [today, yesterday] = [
      await made({ expiresOn: day(0) }),
      await made({ expiresOn: day(0) }),
    ]
    await portal.app.db
      .updateTable('voucher')
      .set({ expires_at: clock.now() })
      .where('code', '=', plainCode(yesterday))
      .execute()
    const over = await making(finance, { code: newCode(), expiresOn: day(-1) })
    expect([over.status, Object.keys(over.body.error?.fields ?? {})]).toEqual([422, ['expiresOn']])
    expect([(await use(an, today)).status, (await use(an, yesterday)).status]).toEqual([200, 422])
    expect((await shown(yesterday))?.good).toBe(false)
    const stopped = await made()
    expect((await finance.act('voucher.stop', { voucher: stopped, reason })).status).toBe(200)
    expect((await finance.act('voucher.stop', { voucher: stopped, reason })).status).toBe(404)
    expect((await use(an, stopped)).status).toBe(422)
    const dollars = await made({ currency: 'USD', amount: 500 })
    expect(faultOf(await use(an, dollars))).toContain('USD')
  })

  test('is guessed ten times an hour; who has good ones is not counted', async () => {
    const an = await portal.customer()
    for (let n = 0; n < 12; n++) expect((await use(an, await made())).status).toBe(200)
    for (let n = 0; n < 10; n++) expect((await use(an, `GUESS${n}`)).status).toBe(422)
    const blocked = await use(an, await made())
    expect([blocked.status, blocked.body.error?.code]).toEqual([429, 'rate_limited'])
  })
})

describe('the desk', () => {
  test('asks a second member by what all uses cost together, and shows codes to few', async () => {
    const code = newCode()
    expect((await making(support, { code })).status).toBe(403)
    expect((await support.call('GET', '/api/operator/vouchers')).status).toBe(403)
    const proposed = await making(finance, { code, uses: 101 })
    expect(proposed.body.result.state).toBe('proposed')
    expect(await shown(code)).toBeUndefined()
    const waiting = await support.call('GET', '/api/operator/proposals')
    expect(waiting.text).toContain(`…${code.slice(-2)}"`)
    for (const text of [code, plainCode(code)]) expect(waiting.text).not.toContain(text)
    const approval = `/api/operator/proposals/${proposed.body.result.proposal}/approve`
    expect((await otherFinance.call('POST', approval)).status).toBe(200)
    expect(await shown(code)).toMatchObject({ maxUses: 101, good: true })
    expect((await making(finance, { code })).body.error?.fields).toHaveProperty('code')
    const drawn = await making(finance)
    const masked = String(drawn.body.result.after?.['code'])
    expect(masked).toMatch(/^….{4}$/)
    const found = (await list()).find((one) => one.code.endsWith(masked.slice(1)))
    expect(found?.code).toMatch(/^[A-HJ-NP-Z2-9]{16}$/)
  })

  test('writes no code into the trail, nor a hash of one that could be tried out', async () => {
    const long = `${newCode()}-ABCD-EFGH`
    const [short, key] = [newCode(), randomUUID()]
    const typed = `${short.slice(0, 4)}-${short.slice(4).toLowerCase()}`
    const wish = { code: typed, uses: 101, key }
    const { proposal } = (await making(finance, wish)).body.result
    expect((await making(finance, wish)).body.result).toMatchObject({ proposal, repeated: true })
    const other = await making(finance, { ...wish, code: `X${typed}` })
    expect(other.body.error?.code).toBe('idempotency_key_reused')
    const at = `/api/operator/proposals/${proposal}`
    const rejected = await otherFinance.call('POST', `${at}/reject`, { reason })
    expect(rejected.status, rejected.text).toBe(200)
    for (const code of [short, long]) {
      expect((await making(finance, { code })).body.result?.state).toBe('done')
      expect((await finance.act('voucher.stop', { voucher: code, reason })).status).toBe(200)
    }
    const acts = await portal.app.db.selectFrom('operator_act').selectAll().execute()
    const trail = acts.map(({ input, before, after }) => JSON.stringify([input, before, after]))
    for (const text of [short, plainCode(short), typed, long, plainCode(long)])
      expect(trail.filter((each) => each.includes(text))).toEqual([])
    const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
    const holding = (text: string) => trail.filter((each) => each.includes(text)).length
    expect([holding(hashOf(plainCode(long))), holding(hashOf(plainCode(short)))]).toEqual([2, 0])
  })

  test('has a command, which tells a drawn code once and tries first', async () => {
    const words = ['act', 'voucher.make', '--amount', '1000', '--currency', 'VND', '--uses', '1']
    const tried = await runCommand(portal, {}, ...words, '--reason', reason, '--dry-run', '--json')
    const done = await runCommand(portal, {}, ...words, '--reason', reason, '--json')
    const { code = '' } = JSON.parse(done.said) as { code?: string }
    expect(JSON.parse(tried.said)).not.toHaveProperty('code')
    expect(await shown(code)).toMatchObject({ amount: 1000, good: true })
  })
})

test('a call that began before the account was closed uses none', async () => {
  const code = await made()
  const an = await portal.customer()
  const { token } = an
  const body = { password: an.password }
  expect((await portal.call('POST', '/api/v1/account/close', { token, body })).status).toBe(200)
  const vouchers = createVouchers({
    clock,
    ledger: portal.app.ledger,
    jobs: portal.app.jobs,
    letters: { toppedUp: async () => undefined } as unknown as Letters,
    tries: quiet as never,
    triesOfNetwork: quiet as never,
  })
  const redeem = transaction(portal.app.db, (tx) =>
    vouchers.redeem(tx, { customerId: an.id, code, ip: '127.0.0.1' }),
  )
  await expect(redeem).rejects.toThrow('forbidden')
  expect((await shown(code))?.uses).toBe(0)
})

test('of generated acts wallets, uses and the ledger are as a model has them', async () => {
  const { ledger, jobs, db } = portal.app
  const vouchers = createVouchers({
    clock,
    ledger,
    jobs,
    letters: { toppedUp: async () => undefined } as unknown as Letters,
    tries: quiet as never,
    triesOfNetwork: quiet as never,
  })
  const customers = await Promise.all(Array.from({ length: 4 }, () => portal.customer()))
  const act = fc.oneof(
    { weight: 1, arbitrary: fc.record({ act: fc.constant('make' as const), n: fc.nat(400_000) }) },
    { weight: 1, arbitrary: fc.record({ act: fc.constant('stop' as const), n: fc.nat(50) }) },
    { weight: 8, arbitrary: fc.record({ act: fc.constant('use' as const), n: fc.nat(1000) }) },
  )
  interface Model {
    code: string
    amount: number
    left: number
    open: boolean
    users: Set<number>
  }
  const model: Model[] = []
  const wallets = customers.map(() => 0)
  for (const { act: what, n } of fc.sample(act, { numRuns: 1000, seed: 7 })) {
    const one = model[n % Math.max(1, model.length)]
    if (what === 'make') {
      const [code, amount, left] = [newCode(), n + 1, (n % 4) + 1]
      await transaction(db, (tx) =>
        makeVoucher(tx, clock, {
          code,
          amount: BigInt(amount),
          currency: 'VND',
          uses: left,
          expiresAt: null,
        }),
      )
      model.push({ code, amount, left, open: true, users: new Set() })
    } else if (what === 'stop' && one) {
      const stops = transaction(db, (tx) => stopVoucher(tx, clock, one.code))
      if (one.open) await stops
      else await expect(stops).rejects.toThrow('not_found')
      one.open = false
    } else if (one) {
      const who = Math.floor(n / 7) % customers.length
      const customerId = customers[who]?.id ?? ''
      const uses = transaction(db, (tx) =>
        vouchers.redeem(tx, { customerId, code: one.code, ip: '127.0.0.1' }),
      )
      if (!one.open || one.left === 0 || one.users.has(who)) {
        await expect(uses).rejects.toThrow('invalid_input')
        continue
      }
      one.left -= 1
      one.users.add(who)
      wallets[who] = (wallets[who] ?? 0) + one.amount
      expect((await uses).balance).toBe(wallets[who])
    }
  }
  const { balance } = await db
    .selectFrom('ledger_account')
    .select('balance')
    .where('code', '=', 'voucher:VND')
    .executeTakeFirstOrThrow()
  const { given } = await db
    .selectFrom('voucher')
    .select((eb) => eb.fn.sum<bigint>(eb('uses', '*', eb.ref('amount') as never)).as('given'))
    .where('currency', '=', 'VND')
    .executeTakeFirstOrThrow()
  expect(-balance).toBe(BigInt(given))
  await portal.ledgerHolds()
}, 120_000)
