/** The operator's desk: acts with reason and trail, a second member, money, and the search. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { CustomerStory, Hit, Proposal, TrailAct } from '../../contract/operator-desk.ts'
import { runCommand } from '../../test/operator.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import { payers } from '../../test/payers.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { hours, minutes } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'

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

const reason = 'asked for by phone'
const told = 'Goodwill for the outage'
const storyOf = async (id: string): Promise<CustomerStory> =>
  (await support.call<CustomerStory>('GET', `/api/operator/customers/${id}`)).body.result
const balanceOf = async (id: string): Promise<number> => (await storyOf(id)).wallets[0]!.balance
const credit = (by: TestMember, customer: TestCustomer, amount: number, more: object = {}) =>
  by.act<ActOutcome>('money.credit', {
    customer: customer.id,
    amount,
    currency: 'VND',
    told,
    reason,
    ...more,
  })
const debit = (by: TestMember, customer: TestCustomer, amount: number, more: object = {}) =>
  by.act<ActOutcome>('money.debit', {
    customer: customer.id,
    amount,
    currency: 'VND',
    told,
    reason,
    ...more,
  })
const verification = async () =>
  (
    await support.call<{ acts: number; findings: { seq: number; fault: string }[] }>(
      'GET',
      '/api/operator/trail/verification',
    )
  ).body.result

describe('a customer is blocked', () => {
  test('sessions end, no sign-in is possible, and both are undone', async () => {
    const an = await portal.customer()
    const block = { customer: an.id, reason }
    const missing = await support.act('customer.block', { customer: an.id })
    expect(missing.body.error?.fields).toHaveProperty('reason')
    const done = await support.act<ActOutcome>('customer.block', block)
    expect(done.body.result).toMatchObject({
      state: 'done',
      before: { blocked: false },
      after: { blocked: true, sessions: 1 },
    })
    expect((await portal.call('GET', '/api/v1/auth/me', { token: an.token })).status).toBe(401)
    const { email, password } = an
    const refused = await portal.call('POST', '/api/v1/auth/login', { body: { email, password } })
    expect(refused.body.error?.code).toBe('account_blocked')
    const wrong = { email, password: 'Wrong-horse-9' }
    // Who does not know the password learns nothing of it.
    const stranger = await portal.call('POST', '/api/v1/auth/login', { body: wrong })
    expect(stranger.body.error?.code).toBe('bad_credentials')
    expect((await support.act('customer.block', block)).status).toBe(409)
    expect((await storyOf(an.id)).blockedAt).not.toBeNull()
    expect((await support.act('customer.unblock', block)).status).toBe(200)
    await portal.signIn(an)
  })

  test('of two members at once one blocks, and the other is told', async () => {
    const an = await portal.customer()
    const block = { customer: an.id, reason }
    const answers = await Promise.all([
      support.act('customer.block', block),
      owner.act('customer.block', block),
    ])
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409'])
  })
})

describe('an act', () => {
  test('stands in the trail with who, from where, why, before and after', async () => {
    const an = await portal.customer()
    await support.act('customer.language', { customer: an.id, language: 'en', reason })
    const { acts, language } = await storyOf(an.id)
    expect(language).toBe('en')
    expect(acts[0]).toMatchObject({
      actor: support.name,
      address: '127.0.0.1',
      act: 'customer.language',
      reason,
      subject: { kind: 'customer', id: an.id },
      before: { language: null },
      after: { language: 'en' },
      approvedBy: null,
    })
  })

  test('acts once under its key, and another act may not have the key', async () => {
    const an = await portal.customer()
    const key = randomUUID()
    const first = await credit(finance, an, 1000, { key })
    const again = await credit(finance, an, 1000, { key })
    expect(again.body.result).toEqual({ ...first.body.result, repeated: true })
    expect(await balanceOf(an.id)).toBe(1000)
    const other = await credit(finance, an, 2000, { key })
    expect(other.body.error?.code).toBe('idempotency_key_reused')
    const both = randomUUID()
    await Promise.all([1, 2, 3].map(() => credit(finance, an, 500, { key: both })))
    expect(await balanceOf(an.id)).toBe(1500)
  })

  test('notes and labels need no reason', async () => {
    const an = await portal.customer()
    await support.act('customer.note', { customer: an.id, text: 'Prefers\nVietnamese' })
    await support.act('customer.label', { customer: an.id, label: 'VIP' })
    expect((await support.act('customer.label', { customer: an.id, label: 'VIP' })).status).toBe(
      409,
    )
    const story = await storyOf(an.id)
    expect(story.notes).toMatchObject([{ by: support.name, text: 'Prefers\nVietnamese' }])
    expect(story.labels).toEqual(['VIP'])
    await support.act('customer.unlabel', { customer: an.id, label: 'VIP' })
    expect((await storyOf(an.id)).labels).toEqual([])
    const nobody = { customer: randomUUID(), text: 'Nobody' }
    expect((await support.act('customer.note', nobody)).status).toBe(404)
  })

  test('a lost second factor is taken away with proof, and the customer is told', async () => {
    const an = await portal.customer()
    await portal.app.db
      .insertInto('totp')
      .values({
        customer_id: an.id,
        secret: Buffer.from('sealed'),
        confirmed_at: clock.now(),
        created_at: clock.now(),
      })
      .execute()
    const proof = 'Called back, identity card compared'
    const wish = { customer: an.id, reason, proof }
    const done = await support.act<ActOutcome>('customer.reset_second_factor', wish)
    expect(done.body.result.after).toMatchObject({ app: false, proof })
    expect((await support.act('customer.reset_second_factor', wish)).status).toBe(409)
    await eventually('the letter', async () =>
      (await portal.inbox(an.email)).some(({ text }) => text.includes('tắt xác thực hai lớp')),
    )
  })
})

describe('money', () => {
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
    // Whoever else does it, and only the same way.
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
    // What another member approved is not counted, and a member who gave nothing may give.
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

describe('the search', () => {
  const find = async (q: string): Promise<Hit[]> => {
    const answer = await support.call<Hit[]>(
      'GET',
      `/api/operator/search?q=${encodeURIComponent(q)}`,
    )
    if (answer.status !== 200) throw new Error(answer.text)
    return answer.body.result
  }
  let an: TestCustomer
  beforeAll(async () => {
    an = await portal.customer()
    await portal.app.db
      .updateTable('customer')
      .set({ name: 'Đặng Thị Ánh-Nguyệt', phone: '+84987654321' })
      .where('id', '=', an.id)
      .execute()
  })
  const isFound = (hits: Hit[]): boolean => hits.some(({ customer }) => customer?.id === an.id)

  test.each([
    'dang thi',
    'ĐẶNG ánh',
    'nguyệt đặng anh',
    '0987654321',
    '0987 654',
    '+84 987.654.321',
    '84987654321',
  ])('finds a customer by %s', async (q) => {
    expect(isFound(await find(q))).toBe(true)
  })

  test('finds a customer by e-mail in any case, its domain, and the id', async () => {
    expect(isFound(await find(an.email.toUpperCase()))).toBe(true)
    expect(isFound(await find(an.email.slice(0, 12)))).toBe(true)
    expect(isFound(await find(an.id))).toBe(true)
    expect((await find('example.vn')).every(({ kind }) => kind === 'customer')).toBe(true)
  })

  test('finds by domain, transaction code and invoice, and nothing by signs', async () => {
    const { transactionCode } = await portal.topUp(an, 100_000)
    expect(await find(transactionCode.toLowerCase())).toMatchObject([
      { kind: 'payment', customer: { id: an.id }, text: transactionCode },
    ])
    await portal.call('POST', '/api/dns', { token: an.token, body: { name: 'tìm-kiếm.vn' } })
    expect(await find('tìm-kiếm.vn')).toMatchObject([
      { kind: 'domain', customer: { id: an.id }, text: 'tìm-kiếm.vn' },
    ])
    for (const q of [
      "'; drop table customer; --",
      '%%',
      '__',
      '\\\\',
      "''",
      ':*',
      '!!',
      '((',
      '&|',
    ])
      expect(Array.isArray(await find(q))).toBe(true)
    expect((await support.call('GET', '/api/operator/search?q=a')).status).toBe(422)
  })

  test('finds a transfer by what the bank called it, with the account or without', async () => {
    const binh = await portal.customer()
    const begun = await payers['bank (SePay)']?.begin(portal, binh)
    await begun?.pay()
    const { provider_transaction_id: id } = await portal.app.db
      .selectFrom('payment')
      .select('provider_transaction_id')
      .where('code', '=', begun?.code ?? '')
      .executeTakeFirstOrThrow()
    const [account, reference] = (id ?? '').split(':')
    expect(account).toBe(portal.keysOf('bank')['accountNumber'])
    for (const typed of [id ?? '', reference ?? ''])
      expect(await find(typed)).toMatchObject([
        { kind: 'bank_reference', customer: { id: binh.id }, text: id },
      ])
  })

  test('reads no whole table among thousands of customers', async () => {
    await sql`
      insert into customer (id, email, phone, name, password_hash, region_code, active, created_at)
      select gen_random_uuid(), 'bulk' || n || '@bulk.example', '+8490' || lpad(n::text, 7, '0'),
        (array['Nguyễn', 'Trần', 'Lê'])[1 + n % 3] || ' Văn ' || n, 'x', 'VN', true, now()
      from generate_series(1, 5000) n`.execute(portal.app.db)
    await sql`analyze customer`.execute(portal.app.db)
    const plans: string[] = []
    const queries = [
      `select id from customer
        where customer_search_terms(name, email, phone) @@ '''bulk42'':*'::tsquery limit 20`,
      `select id from customer
        where customer_search_terms(name, email, phone) @@ '''nguyen'':* & ''van'':*'::tsquery
        limit 20`,
      `select customer_id from dns_zone where name like 'shop%' and deleted_at is null limit 20`,
      `select site_id from host where name like 'shop%' limit 20`,
      `select id from message where recipient in ('a@x.vn', '+84900') order by created_at desc
        limit 10`,
      `select id from payment where driver in ('vnpay') and provider_transaction_id = 'x' limit 20`,
      `select id from payment where code in ('x', 'X')`,
      `select id from invoice where number = 'X'`,
      `select id from payment_suspense where driver in ('vnpay') and provider_transaction_id = 'x'`,
      `select * from operator_act where customer_id = '${an.id}' order by seq desc limit 21`,
    ]
    await portal.app.db.transaction().execute(async (tx) => {
      await sql`set local enable_seqscan = off`.execute(tx)
      for (const query of queries) {
        const { rows } = await sql.raw<{ 'QUERY PLAN': string }>(`explain ${query}`).execute(tx)
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      }
    })
    for (const plan of plans) expect(plan).not.toContain('Seq Scan')
    expect(plans[0]).toContain('customer_search')
    const found = await find('bulk4242')
    expect(found.map(({ text }) => text)).toEqual(['bulk4242@bulk.example'])
    expect(await find('nguyen van')).toHaveLength(20)
  })
})

describe('the trail', () => {
  test('takes acts that come at once one after the other', async () => {
    const an = await portal.customer()
    const { acts } = await verification()
    const notes = Array.from({ length: 12 }, (_, index) =>
      (index % 2 === 0 ? support : owner).act('customer.note', {
        customer: an.id,
        text: `Note ${index}`,
      }),
    )
    const answers = await Promise.all(notes)
    expect(answers.map(({ status }) => status)).toEqual(notes.map(() => 200))
    expect(await verification()).toMatchObject({ acts: acts + notes.length, findings: [] })
  })

  test('is whole, lists by pages, and is only added to', async () => {
    const { acts, findings } = await verification()
    expect(findings).toEqual([])
    expect(acts).toBeGreaterThan(20)
    const first = await support.call<TrailAct[]>('GET', '/api/operator/trail?limit=5')
    expect(first.body.result.map(({ seq }) => seq)).toEqual(
      [0, 1, 2, 3, 4].map((back) => acts - back),
    )
    const { next } = first.body.page ?? {}
    const second = await support.call<TrailAct[]>(
      'GET',
      `/api/operator/trail?limit=5&cursor=${next}`,
    )
    expect(second.body.result[0]?.seq).toBe(acts - 5)
    for (const statement of [
      'update operator_act set reason = null where seq = 1',
      'delete from operator_act where seq = 1',
      'truncate operator_act cascade',
    ])
      await expect(sql.raw(statement).execute(portal.app.db)).rejects.toThrow(/append-only/)
  })

  test.each([
    ['a changed row', "update operator_act set reason = 'another' where seq = 3", 3],
    ['a changed fact', `update operator_act set after = '{"balance": 1}' where seq = 4`, 4],
    ['a removed row', 'delete from operator_act where seq = 5', 5],
    [
      'a removed end',
      'delete from operator_act where seq = (select max(seq) from operator_act)',
      0,
    ],
    [
      'two swapped rows',
      'update operator_act set seq = case seq when 7 then 8 else 7 end where seq in (7, 8)',
      7,
    ],
  ])('verification notices %s', async (_what, statement, seq) => {
    const { acts } = await verification()
    const rollback = new Error('rolled back')
    const seen = await portal.app.db
      .transaction()
      .execute(async (tx) => {
        const { verifyTrail } = await import('./index.ts')
        await sql`alter table operator_act disable trigger operator_act_immutable`.execute(tx)
        await sql`
          alter table operator_proposal drop constraint operator_proposal_act_seq_fkey`.execute(tx)
        await sql`alter table operator_act drop constraint operator_act_pkey`.execute(tx)
        await sql.raw(statement).execute(tx)
        throw Object.assign(rollback, { seen: await verifyTrail(tx) })
      })
      .catch((error: Error & { seen?: Awaited<ReturnType<typeof verification>> }) => {
        if (error !== rollback) throw error
        return error.seen
      })
    expect(seen?.findings[0]?.seq).toBe(seq === 0 ? acts : seq)
    expect((await verification()).findings).toEqual([])
  })
})

describe('work', () => {
  test('a server is suspended by hand, though it is paid for, and released', async () => {
    const operations = await newMember(portal, 'operations', { clock })
    const an = await portal.customer()
    await credit(finance, an, 4_000_000)
    const { id: server, name } = await orderServer(portal, an)
    const statusOf = async (): Promise<string> =>
      (await portal.call<{ status: string }>('GET', `/api/wp/${server}`, { token: an.token })).body
        .result.status
    const wish = { server, reason: 'Complaint of a bank', told: 'A page imitates a bank' }
    expect((await finance.act('work.hold_server', wish)).status).toBe(403)
    expect((await operations.act('work.hold_server', wish)).status).toBe(200)
    expect((await operations.act('work.hold_server', wish)).status).toBe(409)
    await eventually('it is suspended', async () => (await statusOf()) === 'suspended')
    expect((await storyOf(an.id)).servers).toMatchObject([{ name, held: true }])
    await eventually('the letter', async () =>
      (await portal.inbox(an.email)).some(({ text }) => text.includes('A page imitates a bank')),
    )
    expect(await statusOf()).toBe('suspended')
    const release = { server, reason: 'The page is gone' }
    expect((await operations.act('work.release_server', release)).status).toBe(200)
    await eventually('it runs', async () => (await statusOf()) === 'running')
    expect((await operations.act('work.release_server', release)).status).toBe(409)
    const nothing = { ...wish, server: randomUUID() }
    expect((await operations.act('work.hold_server', nothing)).status).toBe(404)
  })

  test('a job that gave up is shown with why, and started again once', async () => {
    const operations = await newMember(portal, 'operations', { clock })
    const { rows } = await sql<{ id: string }>`
      insert into pgboss.job (name, data, state, output, completed_on, policy)
      select name, '{}', 'failed', '{"message": "The mail server is away"}', now(), policy
      from pgboss.queue where name = 'send-message' returning id`.execute(portal.app.db)
    const job = rows[0]?.id ?? ''
    type Seen = { givenUp: { id: string; why: string }[]; queues: { queue: string }[] }
    const seen = async (): Promise<Seen> =>
      (await support.call<Seen>('GET', '/api/operator/work')).body.result
    const before = await seen()
    expect(before.givenUp.find(({ id }) => id === job)?.why).toBe('The mail server is away')
    const wish = { job, reason: 'Its password was changed' }
    expect((await support.act('work.retry_job', wish)).status).toBe(403)
    const both = await Promise.all([
      operations.act('work.retry_job', wish),
      owner.act('work.retry_job', wish),
    ])
    expect(both.map(({ status }) => String(status)).toSorted()).toEqual(['200', '404'])
    expect((await seen()).givenUp.some(({ id }) => id === job)).toBe(false)
    expect((await operations.act('work.retry_job', { ...wish, job: 'x' })).status).toBe(404)
  })
})

describe('commands', () => {
  const command = async (...args: string[]) => {
    const { code, said } = await runCommand(portal, {}, ...args, '--json')
    return { code, said, body: JSON.parse(said) as Record<string, unknown> }
  }

  test('do the same acts, without the desk, and can be tried', async () => {
    const an = await portal.customer()
    const wish = [
      'act',
      'money.credit',
      '--customer',
      an.id,
      '--amount',
      '4000',
      '--currency',
      'VND',
      '--told',
      told,
      '--reason',
      reason,
    ]
    const tried = await command(...wish, '--dry-run')
    expect([tried.code, tried.body['dryRun'], tried.body['after']]).toEqual([
      0,
      true,
      { balance: 4000, currency: 'VND' },
    ])
    expect(await balanceOf(an.id)).toBe(0)
    const done = await command(...wish)
    expect(done.body).toMatchObject({ state: 'done', after: { balance: 4000 } })
    expect((await storyOf(an.id)).acts[0]).toMatchObject({ actor: 'command', address: 'shell' })
    const large = wish.map((word) => (word === '4000' ? '9000000' : word))
    expect((await command(...large)).body).toMatchObject({ state: 'proposed', act: null })
    const without = await command('act', 'customer.block', '--customer', an.id)
    expect([without.code, String(without.body['error'])]).toEqual([
      64,
      expect.stringContaining('reason'),
    ])
    const nobody = await command('act', 'customer.block', '--customer', 'x', '--reason', reason)
    expect(nobody.code).toBe(1)
    const verified = await command('acts', 'verify')
    expect([verified.code, verified.body['findings']]).toEqual([0, []])
    const listed = await command('acts', 'list', '--customer', an.id)
    expect(JSON.stringify(listed.body)).toContain('money.credit')
  })

  test('staff add prints a link that makes the first owner', async () => {
    const added = await command(
      'staff',
      'add',
      '--email',
      'First@Operator.example',
      '--name',
      'First Owner',
      '--role',
      'owner',
    )
    expect(added.code).toBe(0)
    const token = new URL(String(added.body['link'])).hash.slice(1)
    const opened = await portal.call<{ email: string; role: string }>(
      'POST',
      '/api/operator/invitation',
      { body: { token } },
    )
    expect(opened.body.result).toMatchObject({ email: 'first@operator.example', role: 'owner' })
    const listed = await command('staff')
    expect(JSON.stringify(listed.body)).toContain('first@operator.example')
  })
})

/** As `test/rng` would, and without a package: mulberry32. */
const randomOf = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
}

/** ACTS=1000 does so many. */
const generated = Number(process.env['ACTS'] ?? 200)
test(`after ${generated} acts wallets are as modelled, ledger and trail whole`, async () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 100_000)
  const random = randomOf(seed)
  const customers = await Promise.all([1, 2, 3].map(() => portal.customer()))
  const model = new Map(customers.map(({ id }) => [id, 0]))
  /** What went each way with nobody's approval, and what each member gave so. */
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
