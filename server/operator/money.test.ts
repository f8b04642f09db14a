/** Money that the desk moves: by one member, by two, and by many acts in any order. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { Hit, Proposal } from '../../contract/operator-desk.ts'
import { credit, debit, deskOf, reason, told } from '../../test/desk.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newcomersTo } from '../../test/newcomers.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { hours, minutes } from '../platform/clock.ts'
import { transaction, type Tx } from '../platform/db.ts'

const clock = manualClock()
let portal: TestPortal
let owner: TestMember
let support: TestMember
let finance: TestMember
let otherFinance: TestMember
beforeAll(async () => {
  portal = await openTestPortal({ clock })
  owner = await newMember(portal, 'owner', { clock })
  support = await newMember(portal, 'support', { clock })
  finance = await newMember(portal, 'finance', { clock })
  otherFinance = await newMember(portal, 'finance', { clock })
})
afterAll(() => portal.close())
const { storyOf, balanceOf, verification } = deskOf(() => support)

describe('money', () => {
  test('is not given to a registration that was never activated', async () => {
    const { id } = await newcomersTo(() => portal).registered()
    const refused = await credit(finance, { id } as TestCustomer, 50_000)
    expect(refused.status).toBe(409)
    expect(refused.body.error?.fields).toHaveProperty('customer')
  })

  test('goes in and out with letter and notification, and never below zero', async () => {
    const an = await portal.customer()
    expect((await credit(finance, an, 50_000)).body.result).toMatchObject({
      before: { balance: 0 },
      after: { balance: 50_000 },
    })
    expect((await debit(finance, an, 20_000)).body.result.after).toMatchObject({ balance: 30_000 })
    const tooMuch = await debit(finance, an, 30_001)
    expect(tooMuch.status).toBe(409)
    expect(tooMuch.body.error?.fields).toHaveProperty('amount')
    const { wallets } = await storyOf(an.id)
    expect(wallets[0]?.entries.map(({ amount }) => amount)).toEqual([-20_000, 50_000])
    const read = await portal.call<{ data: { event: string }[] }>('GET', '/api/notifications', {
      token: an.token,
    })
    expect(read.body.result.data.map(({ event }) => event)).toEqual([
      'wallet.adjusted',
      'wallet.adjusted',
    ])
    await eventually('the letters', async () => {
      const letters = await portal.inbox(an.email)
      return (
        letters.some(({ text }) => text.includes('đã cộng 50.000')) &&
        letters.some(({ text }) => text.includes('đã trừ 20.000'))
      )
    })
    const list = await portal.call<{ description: string }[]>('GET', '/api/payments/stripe', {
      token: an.token,
      headers: { 'accept-language': 'en' },
    })
    expect(list.text).toContain(`Balance adjustment · ${told}`)
    await portal.ledgerHolds()
  })

  test('of another currency, or for nobody, is refused', async () => {
    const an = await portal.customer({ region: 'AUD' })
    expect((await credit(finance, an, 100)).status).toBe(409)
    const nobody = { ...an, id: randomUUID() }
    expect((await credit(finance, nobody, 100)).status).toBe(404)
    expect((await credit(finance, nobody, 900_000_000)).status).toBe(404)
    expect((await credit(finance, { ...an, id: 'x' }, 100)).status).toBe(404)
  })

  test('a top-up is given back, once, through its gateway', async () => {
    const an = await portal.customer()
    const { transactionCode: payment } = await portal.topUp(an, 200_000)
    await eventually('the top-up', async () => (await balanceOf(an.id)) === 200_000)
    const begun = await finance.act<ActOutcome>('money.refund', { payment, amount: 50_000, reason })
    expect(begun.body.result.after).toMatchObject({ amount: 50_000 })
    const tooMuch = await finance.act('money.refund', { payment, amount: 150_001, reason })
    expect(tooMuch.status).toBe(409)
    expect(await balanceOf(an.id)).toBe(150_000)
    const { name, acts, payments } = await storyOf(an.id)
    const refund = { act: 'money.refund', customerId: an.id, customerName: name }
    expect(acts[0]).toMatchObject(refund)
    const shown = { code: payment, status: 'succeeded', givenBack: 50_000, refundable: true }
    expect(payments[0]).toMatchObject(shown)
    expect((await finance.act('money.refund', { payment, reason })).status).toBe(200)
    const [last] = (await storyOf(an.id)).payments
    expect(last).toMatchObject({ ...shown, givenBack: 200_000, refundable: false })
    expect((await finance.act('money.refund', { payment: 'NOTHING', reason })).status).toBe(404)
    await portal.ledgerHolds()
  })

  test('is given back by a transfer of ours where the gateway makes no refunds', async () => {
    const an = await portal.customer()
    const wish = { amount: 200_000, type: 2, method: 'VIETQR' } as const
    const { transactionCode: payment } = await portal.topUpBy(an, wish, 'paid')
    await eventually('the top-up', async () => (await balanceOf(an.id)) === 200_000)
    const enter = (amount?: number, bankReference = 'FT26332001') =>
      finance.act<ActOutcome>('money.refund_by_hand', {
        payment,
        ...(amount !== undefined && { amount }),
        bankReference,
        reason,
      })
    expect((await finance.act('money.refund', { payment, reason })).status).toBe(409)
    expect((await enter(200_001)).status).toBe(409)
    expect((await enter(50_000)).body.result.after).toMatchObject({ amount: 50_000 })
    expect(await balanceOf(an.id)).toBe(150_000)
    expect((await storyOf(an.id)).payments[0]).toMatchObject({
      givenBack: 50_000,
      refundable: false,
      refundableByHand: true,
    })
    // The same transfer is entered once.
    expect((await enter(50_000)).status).toBe(409)
    // The money has left: what the customer has spent since is owed.
    expect((await debit(finance, an, 100_000)).status).toBe(200)
    expect((await enter(undefined, 'FT26332003')).status).toBe(200)
    expect((await storyOf(an.id)).payments[0]).toMatchObject({ refundableByHand: false })
    expect(await balanceOf(an.id)).toBe(0)
    await portal.topUp(an, 120_000)
    await eventually('the top-up, of which the debt is paid', async () => {
      return (await balanceOf(an.id)) === 20_000
    })
    // It is told as the refund that it is, and not as a dispute at the bank.
    const letter = await eventually('the letter', async () =>
      (await portal.inbox(an.email)).find(({ text }) => text.includes('bằng chuyển khoản.')),
    )
    expect(letter.text).toMatch(/bạn còn nợ 100\.000\sđ/)
    const as = { token: an.token, headers: { 'accept-language': 'en' } }
    const read = await portal.call<{ data: { event: string; payload: object }[] }>(
      'GET',
      '/api/notifications',
      as,
    )
    const refunds = read.body.result.data.filter(({ event }) => event !== 'wallet.credited')
    expect(refunds.map(({ event }) => event)).toEqual([
      'wallet.refunded',
      'wallet.adjusted',
      'wallet.refunded',
    ])
    expect(refunds[0]?.payload).toMatchObject({ wallet: { amount: 150_000, owed: 100_000 } })
    const { text: statement } = await portal.call('GET', '/api/payments/stripe', as)
    expect(statement).toContain('Settled against a top-up that was refunded')
    expect(statement).not.toContain('taken back')
    // One that the gateway gives back itself is not entered by hand.
    const { transactionCode: byGateway } = await portal.topUp(an, 20_000)
    const entered = { payment: byGateway, bankReference: 'FT26332002', reason }
    expect((await finance.act('money.refund_by_hand', entered)).status).toBe(409)
    await eventually('the letter', async () =>
      (await portal.inbox(an.email)).some(({ text }) => text.includes('150.000')),
    )
    await portal.ledgerHolds()
  })

  test('a transfer is entered beside a top-up by the same gateway without a deadlock', async () => {
    const an = await portal.customer()
    const wish = { amount: 200_000, type: 2, method: 'VIETQR' } as const
    const { transactionCode: payment } = await portal.topUpBy(an, wish, 'paid')
    await eventually('the top-up', async () => (await balanceOf(an.id)) === 200_000)
    const lock = (tx: Tx, codes: string) =>
      tx
        .selectFrom('ledger_account')
        .select('id')
        .where('code', 'like', codes)
        .orderBy('id')
        .forUpdate()
        .execute()
    // A top-up locks the gateway's account and then the wallet.
    const { entered } = await transaction(portal.app.db, async (tx) => {
      await lock(tx, 'gateway:%:VND')
      const wished = { payment, bankReference: 'FT26332009', reason }
      const act = finance.act('money.refund_by_hand', wished)
      await eventually('the act waits', async () => {
        const { rows } = await sql`select from pg_locks where not granted
          and pg_backend_pid() = any(pg_blocking_pids(pid))`.execute(tx)
        return rows.length > 0
      })
      await sql`set local lock_timeout = '500ms'`.execute(tx)
      await lock(tx, `wallet:${an.id}`)
      return { entered: act }
    })
    expect((await entered).status).toBe(200)
  })

  test('in suspense is given to whom it belongs', async () => {
    const an = await portal.customer()
    const ledger = portal.app.ledger
    await transaction(portal.app.db, async (tx) => {
      await ledger.holdInSuspense(tx, {
        key: 'test-suspense',
        driver: 'vnpay',
        amount: 70_000n,
        currency: 'VND',
        details: { provider: 'VNPay' },
      })
      await tx
        .insertInto('payment_suspense')
        .values({
          driver: 'vnpay',
          provider_transaction_id: 'FT26123456',
          code: null,
          amount: 70_000n,
          currency: 'VND',
          reason: 'unknown_reference',
          created_at: clock.now(),
        })
        .execute()
    })
    const waiting = await finance.call<{ id: number; reference: string }[]>(
      'GET',
      '/api/operator/suspense',
    )
    const [{ id: suspense, reference } = { id: 0, reference: '' }] = waiting.body.result
    expect(reference).toBe('FT26123456')
    const hits = await finance.call<Hit[]>('GET', '/api/operator/search?q=FT26123456')
    expect(hits.body.result).toEqual([{ kind: 'suspense', customer: null, text: 'FT26123456' }])
    const wish = { suspense, to: an.email, reason }
    expect((await finance.act('money.assign', { ...wish, to: 'nobody@x.vn' })).status).toBe(409)
    expect((await finance.act('money.assign', wish)).status).toBe(200)
    expect((await finance.act('money.assign', wish)).status).toBe(409)
    expect(await balanceOf(an.id)).toBe(70_000)
    await portal.ledgerHolds()
  })
})

describe('a second member', () => {
  const proposals = async (by: TestMember): Promise<Proposal[]> =>
    (await by.call<Proposal[]>('GET', '/api/operator/proposals')).body.result
  const propose = async (an: TestCustomer, amount = 6_000_000): Promise<string> => {
    const answer = await credit(finance, an, amount)
    expect(answer.body.result.state).toBe('proposed')
    return answer.body.result.proposal ?? ''
  }

  test('approves what is above the limit, and never who proposed it', async () => {
    const an = await portal.customer()
    const atLimit = await credit(await newMember(portal, 'finance', { clock }), an, 5_000_000)
    expect(atLimit.body.result.state).toBe('done')
    const id = await propose(an)
    expect(await balanceOf(an.id)).toBe(5_000_000)
    const of = (list: Proposal[]) => list.find((one) => one.id === id)
    expect(of(await proposals(finance))).toMatchObject({ mine: true, decidable: false })
    expect(of(await proposals(support))).toMatchObject({ mine: false, decidable: false })
    expect(of(await proposals(otherFinance))).toMatchObject({ decidable: true })
    // Exactly the members who may decide are told.
    const toldOf = async ({ email }: TestMember) =>
      (await portal.inbox(email)).some(({ text }) => text.includes('/operator/approvals'))
    for (const one of [otherFinance, owner]) await eventually('the letter', () => toldOf(one))
    for (const one of [finance, support]) expect(await toldOf(one)).toBe(false)
    const approve = `/api/operator/proposals/${id}/approve`
    expect((await finance.call('POST', approve)).body.error?.code).toBe('forbidden')
    expect((await support.call('POST', approve)).body.error?.code).toBe('forbidden')
    const both = await Promise.all([
      otherFinance.call<{ act: number }>('POST', approve),
      owner.call<{ act: number }>('POST', approve),
    ])
    expect(both.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409'])
    expect(await balanceOf(an.id)).toBe(11_000_000)
    const { acts } = await storyOf(an.id)
    expect(acts[0]).toMatchObject({ act: 'money.credit', actor: finance.name })
    expect([otherFinance.name, owner.name]).toContain(acts[0]?.approvedBy)
    expect(acts[1]).toMatchObject({ act: 'proposal.make', actor: finance.name })
  })

  test('is needed for many small sums within a day as for one large one', async () => {
    const an = await portal.customer()
    const [one, other] = [
      await newMember(portal, 'finance', { clock }),
      await newMember(portal, 'finance', { clock }),
    ]
    const states: string[] = []
    for (const [by, amount] of [
      [one, 3_000_000],
      [other, 2_000_000],
      [one, 1],
    ] as const)
      states.push((await credit(by, an, amount)).body.result.state)
    expect(states).toEqual(['done', 'done', 'proposed'])
    // The limit holds for every member together, and per direction.
    expect((await credit(other, an, 1)).body.result.state).toBe('proposed')
    expect((await debit(one, an, 5_000_000)).body.result.state).toBe('done')
  })

  test('is needed for what one member gives to many, in every currency', async () => {
    const giver = await newMember(portal, 'finance', { clock })
    const stateOf = async (by: TestMember, amount: number, currency = 'VND') => {
      const customer = await portal.customer({ region: currency === 'AUD' ? 'AUD' : 'VN' })
      return (await credit(by, customer, amount, { currency })).body.result.state
    }
    // 60 % of the limit in đồng, and 40 % of that in dollars.
    for (let n = 0; n < 3; n++) expect(await stateOf(giver, 1_000_000)).toBe('done')
    expect(await stateOf(giver, 12_000, 'AUD')).toBe('done')
    expect([await stateOf(giver, 1), await stateOf(giver, 1, 'AUD')]).toEqual([
      'proposed',
      'proposed',
    ])
    const voucher = { amount: 1, currency: 'VND', uses: 1, reason }
    const made = await giver.act<ActOutcome>('voucher.make', voucher)
    expect(made.body.result.state).toBe('proposed')
    // Approved amounts do not count, and a member who has given nothing may give.
    const approved = await newMember(portal, 'finance', { clock })
    const { proposal } = (await credit(approved, await portal.customer(), 6_000_000)).body.result
    const approval = await giver.call('POST', `/api/operator/proposals/${proposal}/approve`)
    expect(approval.status).toBe(200)
    expect(await stateOf(approved, 5_000_000)).toBe('done')
  })

  test('may reject it, and who proposed it may withdraw it', async () => {
    const an = await portal.customer()
    const [one, other] = [await propose(an), await propose(an)]
    const reject = (by: TestMember, id: string) =>
      by.call('POST', `/api/operator/proposals/${id}/reject`, { reason: 'Too much' })
    expect((await reject(support, one)).status).toBe(403)
    expect((await reject(owner, one)).status).toBe(200)
    expect((await reject(finance, other)).status).toBe(200)
    expect((await owner.call('POST', `/api/operator/proposals/${one}/approve`)).status).toBe(409)
    expect(await balanceOf(an.id)).toBe(0)
  })

  test('approves the amount that was proposed, also where it was left out', async () => {
    const an = await portal.customer()
    const { transactionCode: payment } = await portal.topUp(an, 6_000_000)
    await eventually('the top-up', async () => (await balanceOf(an.id)) === 6_000_000)
    const wish = { payment, reason, key: randomUUID() }
    const refund = (body: object) => finance.act<ActOutcome>('money.refund', { ...wish, ...body })
    const { proposal: id } = (await refund({})).body.result
    const waiting = (await proposals(otherFinance)).find((one) => one.id === id)
    expect(waiting?.input).toMatchObject({ payment, amount: 6_000_000 })
    expect((await refund({})).body.result).toMatchObject({ repeated: true, proposal: id })
    expect((await refund({ amount: 1 })).body.error?.code).toBe('idempotency_key_reused')
    const some = await refund({ amount: 1_000_000, key: randomUUID() })
    expect(some.body.result.state).toBe('done')
    const late = await otherFinance.call('POST', `/api/operator/proposals/${id}/approve`)
    expect([late.status, await balanceOf(an.id)]).toEqual([409, 5_000_000])
  })

  test('comes too late after 24 hours', async () => {
    const an = await portal.customer()
    const proposer = await newMember(portal, 'finance', { clock })
    const answer = await credit(proposer, an, 6_000_000)
    const id = answer.body.result.proposal ?? ''
    clock.advance(hours(24) + minutes(1))
    const late = await newMember(portal, 'finance', { clock })
    expect((await late.call('POST', `/api/operator/proposals/${id}/approve`)).status).toBe(409)
    // Sessions of eight hours have ended meanwhile.
    owner = await newMember(portal, 'owner', { clock })
    support = await newMember(portal, 'support', { clock })
    finance = late
    otherFinance = await newMember(portal, 'finance', { clock })
  })

  test('approves nothing of somebody who has left', async () => {
    const an = await portal.customer()
    const proposer = await newMember(portal, 'finance', { clock })
    const answer = await credit(proposer, an, 6_000_000)
    await owner.act('staff.disable', { member: proposer.id, reason })
    const id = answer.body.result.proposal ?? ''
    expect((await owner.call('POST', `/api/operator/proposals/${id}/approve`)).status).toBe(409)
    expect(await balanceOf(an.id)).toBe(0)
  })
})

/** mulberry32, a small seeded generator: a run can be repeated without a package. */
const randomOf = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
}

/** ACTS=1000 runs that many. */
const generated = Number(process.env['ACTS'] ?? 200)
test(`after ${generated} acts wallets are as modelled, ledger and trail whole`, async () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 100_000)
  const random = randomOf(seed)
  const customers = await Promise.all([1, 2, 3].map(() => portal.customer()))
  const model = new Map(customers.map(({ id }) => [id, 0]))
  /** The unapproved amounts in each direction, and each member's gifts. */
  const alone = new Map<string, number>()
  const givers = [
    await newMember(portal, 'finance', { clock }),
    await newMember(portal, 'finance', { clock }),
  ]
  const given = [0, 0]
  const open: { id: string; customer: string; amount: number }[] = []
  let expectedActs = (await verification()).acts
  for (let done = 0; done < generated; done++) {
    const customer = customers[Math.floor(random() * customers.length)]!
    const held = model.get(customer.id) ?? 0
    const large = random() < 0.15
    const amount = 1 + Math.floor(random() * (large ? 9_000_000 : 90_000))
    const what = random()
    const way = `${what < 0.45 || what >= 0.85 ? 'in' : 'out'} ${customer.id}`
    const moved = what < 0.85 ? amount : 777
    const sum = (alone.get(way) ?? 0) + moved
    const one = Math.floor(random() * givers.length)
    const giver = givers[one]!
    const isGift = way.startsWith('in')
    const needsSecond = sum > 5_000_000 || (isGift && given[one]! + moved > 5_000_000)
    const moves = (by: number): void => {
      alone.set(way, sum)
      model.set(customer.id, held + by)
      if (isGift) given[one]! += moved
    }
    const key = `model-${seed}-${done}`
    if (what < 0.45) {
      const { body } = await credit(giver, customer, amount, { key })
      expectedActs += 1
      if (needsSecond) open.push({ id: body.result.proposal ?? '', customer: customer.id, amount })
      else moves(amount)
    } else if (what < 0.75) {
      const { status, body } = await debit(finance, customer, amount, { key })
      const isShort = !needsSecond && amount > held
      expect(status, `seed ${seed}`).toBe(isShort ? 409 : 200)
      if (!isShort) expectedActs += 1
      if (needsSecond)
        open.push({ id: body.result.proposal ?? '', customer: customer.id, amount: -amount })
      else if (!isShort) moves(-amount)
    } else if (what < 0.85) {
      const proposal = open.shift()
      if (!proposal) continue
      const now = model.get(proposal.customer) ?? 0
      const { status } = await otherFinance.call(
        'POST',
        `/api/operator/proposals/${proposal.id}/approve`,
      )
      const isShort = now + proposal.amount < 0
      expect(status, `seed ${seed}`).toBe(isShort ? 409 : 200)
      if (isShort) continue
      expectedActs += 1
      model.set(proposal.customer, now + proposal.amount)
    } else {
      // A press that came twice.
      const twice = await Promise.all([
        credit(giver, customer, 777, { key }),
        credit(giver, customer, 777, { key }),
      ])
      const proposed = twice.map(({ body }) => body.result.proposal)
      expect(new Set(proposed).size).toBe(1)
      expectedActs += 1
      if (needsSecond) open.push({ id: proposed[0] ?? '', customer: customer.id, amount: 777 })
      else moves(777)
    }
  }
  for (const [id, balance] of model) expect([seed, await balanceOf(id)]).toEqual([seed, balance])
  await portal.ledgerHolds()
  expect(await verification()).toMatchObject({ acts: expectedActs, findings: [] })
})
