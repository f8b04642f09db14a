import { createHash, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { InvoiceEvent } from '../../contract/realtime.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import {
  eightAtATime,
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { transaction } from '../platform/db.ts'
import { createInvoiceLinks } from './links.ts'
import { yearIn } from './period.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal()
})
afterAll(() => portal.close())

interface Shown {
  id: string
  number: string | null
  issuedAt: string | null
  status: string
  total: number
  amount_due: number
  amount_paid: number
  hosted_invoice_url: string
  invoice_pdf: string
  [field: string]: unknown
}
const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}
const invoices = async ({ token }: TestCustomer): Promise<Shown[]> =>
  (await portal.call<Shown[]>('GET', '/api/payments/stripe/invoices', { token })).body.result
const entries = async ({ token }: TestCustomer): Promise<string[]> =>
  (
    await portal.call<{ amount: number; ending_balance: number }[]>('GET', '/api/payments/stripe', {
      token,
    })
  ).body.result
    .toReversed()
    .map((entry) => `${entry.amount} → ${entry.ending_balance}`)
const pay = ({ token }: TestCustomer, id: string, headers: Record<string, string> = {}) =>
  portal.call<Shown>('POST', `/api/payments/stripe/invoices/${id}/pay`, { token, headers })
const events = async ({ token }: TestCustomer) =>
  (
    await portal.call<{ data: { event: string; payload: Record<string, unknown> }[] }>(
      'GET',
      '/api/notifications?limit=100',
      { token },
    )
  ).body.result.data.toReversed()

/** An invoice for something that starts nothing, issued by the module itself. */
function issue(
  customer: TestCustomer,
  unitPrice: bigint,
  regionCode: 'VN' | 'AUD' = 'VN',
): Promise<{ id: string }> {
  return transaction(portal.app.db, async (tx) => {
    const bill = {
      customer: {
        id: customer.id,
        name: 'An',
        email: customer.email,
        regionCode,
        language: 'en' as const,
      },
      currency: regionCode === 'VN' ? ('VND' as const) : ('AUD' as const),
      product: 'wordpress',
      lines: [
        { description: { en: 'A thing', vi: 'Một thứ' }, quantity: 2n, unitPrice, period: null },
      ],
      subject: null,
      subscriptionId: null,
      starts: null,
    }
    return await portal.app.bills.issue(tx, bill)
  })
}
/** Issues an invoice, which the empty wallet cannot pay. */
async function open(customer: TestCustomer, unitPrice: bigint): Promise<string> {
  const { id } = await issue(customer, unitPrice)
  await eventually('the first try to pay it', async () =>
    (await events(customer)).some(
      ({ event, payload }) =>
        event === 'invoice.payment_failed' && (payload['payment'] as { id: string }).id === id,
    ),
  )
  return id
}

describe('invoice numbers', () => {
  test('are given at payment, without a gap, despite rollbacks, each region its own', async () => {
    const [an, sam] = [await portal.customer(), await portal.customer({ region: 'AUD' })]
    const ids: string[] = []
    for (let n = 0; n < 60; n++) {
      const isSam = n % 5 === 0
      ids.push((await issue(isSam ? sam : an, 1n, isSam ? 'AUD' : 'VN')).id)
    }
    await jobsIdle(portal.app.db)
    expect((await invoices(an)).map(({ number, issuedAt }) => number ?? issuedAt)).toEqual(
      Array.from({ length: 48 }, () => null),
    )
    for (const [customer, currency] of [
      [an, 'VND'],
      [sam, 'AUD'],
    ] as const)
      await transaction(portal.app.db, (tx) =>
        portal.app.ledger.credit(tx, {
          key: `numbers:${customer.id}`,
          customerId: customer.id,
          driver: 'vnpay',
          amount: currency === 'VND' ? 64n : 16n,
          currency,
          details: {},
        }),
      )
    const tries = ids.map((id, n) =>
      transaction(portal.app.db, async (tx) => {
        await portal.app.bills.pay(tx, id)
        if (n % 3 === 0) throw new Error('rolled back on purpose')
      }).catch(() => undefined),
    )
    await Promise.all(tries)
    const numbersOf = async (customer: TestCustomer) =>
      (await invoices(customer)).flatMap(({ number }) => number ?? []).toSorted()
    const sequence = (region: string, zone: string, length: number) => {
      const year = yearIn(zone, new Date())
      return Array.from({ length }, (_, n) => `${region}-${year}-${String(n + 1).padStart(6, '0')}`)
    }
    expect(await numbersOf(an)).toEqual(sequence('VN', 'Asia/Ho_Chi_Minh', 32))
    expect(await numbersOf(sam)).toEqual(sequence('AUD', 'Australia/Sydney', 8))
  })

  test('and lines stand from then on: the database refuses another word', async () => {
    const an = await portal.customer()
    await portal.topUp(an, 10_000)
    const { id } = await issue(an, 10n)
    await eventually('the payment', async () => (await invoices(an))[0]?.status === 'paid')
    const rewrite = portal.app.db
      .updateTable('invoice_line')
      .set({ description_en: 'Another thing' })
      .where('invoice_id', '=', id)
      .execute()
    await expect(rewrite).rejects.toThrow(/its lines stand/)
  })
})

describe('the list of invoices', () => {
  test("shows an order's invoice with every field, in the reader's language", async () => {
    const an = await portal.customer()
    const { id } = (
      await portal.call<{ id: string }>('POST', '/api/wp', { token: an.token, body: order })
    ).body.result
    const { name } = (
      await portal.call<{ name: string }>('GET', `/api/wp/${id}`, { token: an.token })
    ).body.result
    const answer = await portal.call<Shown[]>('GET', '/api/payments/stripe/invoices', {
      token: an.token,
    })
    expect(answer.body).toEqual({
      statusCode: 200,
      message: 'success',
      result: [
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          number: null,
          issuedAt: null,
          lapsesAt: expect.stringMatching(/Z$/),
          amount_due: 218_000,
          amount_paid: 0,
          total: 218_000,
          currency: 'VND',
          status: 'open',
          kind: 'order',
          corrects: null,
          tax: null,
          created: expect.closeTo(Date.now() / 1000, -2),
          invoice_pdf: expect.stringMatching(/\/api\/invoices\/[\w-]{32}\/pdf\?lang=en$/),
          hosted_invoice_url: expect.stringMatching(/\/invoice\/hosted\/[\w-]{32}$/),
          lines: [
            {
              description: `WordPress ${name} (BASIC-1 · 10 GB SSD · 1 container)`,
              quantity: 1,
              unit_price: 218_000,
              amount: 218_000,
              tax: 0,
              period_start: expect.stringMatching(/Z$/),
              period_end: expect.stringMatching(/Z$/),
              corrects_line: null,
            },
          ],
        },
      ],
      page: { next: null },
    })
  })

  test("is read page by page, newest first, and nobody else's is in it", async () => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    const issued: string[] = []
    for (let n = 0; n < 5; n++) issued.push((await issue(an, 10n)).id)
    await issue(binh, 10n)
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: Awaited<ReturnType<typeof portal.call<Shown[]>>> = await portal.call<Shown[]>(
        'GET',
        `/api/payments/stripe/invoices?limit=2${cursor && `&cursor=${cursor}`}`,
        { token: an.token },
      )
      seen.push(...page.body.result.map(({ id }) => id))
      cursor = page.body.page?.next ?? null
    }
    expect(seen).toEqual(issued.toReversed())
    for (const query of [
      'limit=0',
      'limit=101',
      'limit=x',
      'cursor=x',
      `cursor=${Buffer.from("v1:1' or 1=1").toString('base64url')}`,
    ]) {
      expect(
        (await portal.call('GET', `/api/payments/stripe/invoices?${query}`, { token: an.token }))
          .body.error?.code,
      ).toBe('invalid_input')
    }
  })
})

test('invoices of one status are read page by page, and no other status is known', async () => {
  const an = await portal.customer()
  const first = await open(an, 30n)
  await portal.topUp(an, 100_000)
  await eventually(
    'the invoice being paid',
    async () => (await invoices(an))[0]?.status === 'paid' || undefined,
  )
  const [second, third] = [await open(an, 900_000n), await open(an, 900_001n)]
  const listed = async (query: string) => {
    const { status, body } = await portal.call<Shown[]>(
      'GET',
      `/api/payments/stripe/invoices?${query}`,
      { token: an.token },
    )
    return { status, ids: status === 200 ? body.result.map(({ id }) => id) : [], body }
  }
  expect((await listed('')).ids).toEqual([third, second, first])
  expect((await listed('status=paid')).ids).toEqual([first])
  expect((await listed('status=void')).ids).toEqual([])
  const page = await listed('status=open&limit=1')
  expect(page.ids).toEqual([third])
  expect((await listed(`status=open&limit=1&cursor=${page.body.page?.next}`)).ids).toEqual([second])
  expect((await listed('status=unpaid')).status).toBe(422)
})

describe('paying an invoice from the wallet', () => {
  test('is refused while the wallet is short, then paid, then settled', async () => {
    const an = await portal.customer()
    const id = await open(an, 100_000n)
    const short = await pay(an, id)
    expect([short.status, short.body.error?.code]).toEqual([422, 'insufficient_balance'])
    expect(await entries(an)).toEqual([])
    await portal.topUp(an, 200_000)
    await eventually(
      'the invoice being paid',
      async () => (await invoices(an))[0]?.status === 'paid',
    )
    expect((await invoices(an))[0]).toMatchObject({
      status: 'paid',
      amount_due: 0,
      amount_paid: 200_000,
      total: 200_000,
    })
    const twice = await pay(an, id)
    expect([twice.status, twice.body.error?.code]).toEqual([409, 'invoice_not_open'])
    expect(await entries(an)).toEqual(['200000 → 200000', '-200000 → 0'])
    await portal.ledgerHolds()
  })

  test('a top-up pays all that it covers; the customer is told of the one too dear', async () => {
    const an = await portal.customer()
    const [dear, cheap, dearToo, cheapToo] = [
      await open(an, 900_000n),
      await open(an, 50_000n),
      await open(an, 800_000n),
      await open(an, 20_000n),
    ]
    const told = async () =>
      (await events(an)).filter(({ event }) => event === 'invoice.payment_failed').length
    const before = await told()
    await portal.topUp(an, 150_000)
    const status = async () => {
      const all = new Map((await invoices(an)).map((invoice) => [invoice.id, invoice.status]))
      return [dear, cheap, dearToo, cheapToo].map((id) => all.get(id))
    }
    await eventually(
      'the cheap ones being paid',
      async () => (await status()).join() === 'open,paid,open,paid',
    )
    expect(await told()).toBe(before + 1)
    await portal.ledgerHolds()
  })

  test('200 times, as many at once as one customer may, charges once', async () => {
    const an = await portal.customer()
    await portal.topUp(an, 500_000)
    // The invoice is open, and its charging job is already added. Either one of these 200 calls
    // charges it, or the job does and the calls find it settled.
    const { id } = await issue(an, 50_000n)
    const answers = await eightAtATime(200, () => pay(an, id))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status !== 409).length).toBeLessThanOrEqual(1)
    expect(statuses.every((status) => status === 200 || status === 409)).toBe(true)
    expect(await entries(an)).toEqual(['500000 → 500000', '-100000 → 400000'])
    await portal.ledgerHolds()
  })

  test('under one Idempotency-Key answers the same for ever', async () => {
    const an = await portal.customer()
    const id = await open(an, 10_000n)
    const key = { 'idempotency-key': randomUUID() }
    const first = await pay(an, id, key)
    expect(first.status).toBe(422)
    const again = await pay(an, id, key)
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
  })

  test('of somebody else, or of nobody, is 404 and changes nothing', async () => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    const id = await open(an, 10_000n)
    await portal.topUp(binh, 100_000)
    for (const wanted of [id, randomUUID(), 'x', '%00', id.toUpperCase().slice(1)]) {
      const answer = await pay(binh, wanted)
      expect([wanted, answer.status, answer.body.error?.code]).toEqual([wanted, 404, 'not_found'])
    }
    expect((await portal.call('POST', `/api/payments/stripe/invoices/${id}/pay`)).status).toBe(401)
    expect((await invoices(an))[0]?.status).toBe('open')
    expect(await entries(binh)).toEqual(['100000 → 100000'])
  })
})

describe('the hosted invoice', () => {
  test('shows itself by its token to anybody, and nothing else', async () => {
    const an = await portal.customer()
    await open(an, 10_000n)
    await open(an, 20_000n)
    const [newer] = await invoices(an)
    const token = newer?.hosted_invoice_url.split('/').at(-1) ?? ''
    const answer = await portal.call<{ invoice: Shown; buyer: string; seller: string }>(
      'GET',
      `/api/invoices/${token}`,
    )
    expect(answer.status).toBe(200)
    expect(answer.body.result).toMatchObject({ invoice: newer, buyer: 'An', seller: "Let's Panel" })
    expect(answer.text).not.toContain(an.email)
    expect(answer.text).not.toContain(an.id)
    for (const wrong of [
      newer?.id ?? '',
      newer?.number ?? '',
      `${token.slice(0, -1)}!`,
      '%00',
      token.slice(1),
      "'",
    ]) {
      expect([wrong, (await portal.call('GET', `/api/invoices/${wrong}`)).status]).toEqual([
        wrong,
        404,
      ])
    }
  })

  test('is found by its token alone: the database has none, another secret fails', async () => {
    const an = await portal.customer()
    const id = await open(an, 10_000n)
    const token = (await invoices(an))[0]?.hosted_invoice_url.split('/').at(-1) ?? ''
    const { rows } = await sql<{ found: number }>`
      select (select count(*) from invoice i where to_jsonb(i)::text like ${`%${token}%`})
        + (select count(*) from notification n where n.payload::text like ${`%${token}%`}) as found
    `.execute(portal.app.db)
    expect(Number(rows[0]?.found)).toBe(0)
    const told = (await events(an)).filter(({ event }) => event === 'invoice.create')
    expect(told.map(({ payload }) => payload['payment'])).toMatchObject([
      { id, hosted_invoice_url: expect.stringMatching(new RegExp(`/invoice/hosted/${token}$`)) },
    ])
    const foreign = createInvoiceLinks(portal.url, 'another secret').hosted(id).split('/').at(-1)
    expect((await portal.call('GET', `/api/invoices/${foreign}`)).status).toBe(404)
  })

  test('goes on opening under a link of before tokens were reckoned', async () => {
    const an = await portal.customer()
    const id = await open(an, 10_000n)
    const old = 'q'.repeat(32)
    await portal.app.db
      .updateTable('invoice')
      .set({ old_token_hash: createHash('sha256').update(old).digest() })
      .where('id', '=', id)
      .execute()
    const answer = await portal.call<{ invoice: Shown }>('GET', `/api/invoices/${old}`)
    expect(answer.body.result.invoice.id).toBe(id)
  })
})

describe('who buys', () => {
  test('is named on an invoice as they were when it was issued', async () => {
    const an = await portal.customer()
    const change = (body: object) =>
      portal.call('PUT', '/api/v1/account', { token: an.token, body })
    const place = async () => {
      const { id } = (
        await portal.call<{ id: string }>('POST', '/api/wp', { token: an.token, body: order })
      ).body.result
      const { buyer, invoiceId } = await portal.app.db
        .selectFrom('invoice')
        .select(['buyer', 'id as invoiceId'])
        .where(sql`subject->'wp'->>'id'`, '=', id)
        .executeTakeFirstOrThrow()
      const found = (await invoices(an)).find((invoice) => invoice.id === invoiceId)
      return { buyer, token: found?.hosted_invoice_url.split('/').at(-1) }
    }
    const person = { name: 'Nguyễn Văn An', email: an.email }
    expect((await place()).buyer).toEqual(person)
    await change({
      company: 'Ánh Dương',
      taxCode: '0312345678',
      address: { line: '1 Tràng Tiền', locationId: 'vn-city-ha-noi' },
    })
    const company = {
      name: 'Ánh Dương',
      email: an.email,
      address: '1 Tràng Tiền, Hà Nội, Việt Nam',
      taxCode: '0312345678',
    }
    const { buyer, token } = await place()
    expect(buyer).toEqual(company)
    await change({ company: null, taxCode: null, address: null })
    expect((await place()).buyer).toEqual(person)
    const answer = await portal.call('GET', `/api/invoices/${token}`)
    expect(answer.body.result).toMatchObject({
      buyer: 'Ánh Dương',
      details: {
        buyer: { address: '1 Tràng Tiền, Hà Nội, Việt Nam', taxCode: '0312345678' },
        seller: { address: 'Hà Nội, Việt Nam', taxCode: null },
      },
    })
    expect(answer.text).not.toContain(an.email)
  })
})

describe('what the customer is told of an order', () => {
  test('is told in order, in the shapes of the contract', async () => {
    const an = await portal.customer()
    const { id } = (
      await portal.call<{ id: string }>('POST', '/api/wp', { token: an.token, body: order })
    ).body.result
    await eventually('the failed payment', async () =>
      (await events(an)).some(({ event }) => event === 'invoice.payment_failed'),
    )
    const [invoice] = await invoices(an)
    const payment = {
      id: invoice?.id,
      number: null,
      amount_paid: 0,
      amount_due: 218_000,
      currency: 'VND',
      hosted_invoice_url: invoice?.hosted_invoice_url,
    }
    const told = await events(an)
    expect(told.map(({ event }) => event)).toEqual([
      'subscribe.create',
      'invoice.create',
      'wordpress.status',
      'invoice.payment_failed',
    ])
    for (const { event, payload } of told.filter((one) => one.event.startsWith('invoice.'))) {
      expect(InvoiceEvent.safeParse(payload).success).toBe(true)
      expect([event, payload]).toEqual([event, { payment, wp: { id } }])
    }
    await portal.topUp(an, 218_000)
    const after = await eventually('the subscription', async () => {
      const all = (await events(an)).slice(4)
      return all.some(({ event }) => event === 'subscription.created') && all
    })
    expect(after.slice(0, 3).map(({ event }) => event)).toEqual([
      'wallet.credited',
      'invoice.paid',
      'subscription.created',
    ])
    const number: unknown = expect.stringMatching(/^VN-\d{4}-\d{6}$/)
    expect(after[1]?.payload).toEqual({
      payment: { ...payment, number, amount_paid: 218_000, amount_due: 0 },
      wp: { id },
    })
  })
})

describe("giving an invoice's money back", () => {
  const undo = (id: string) =>
    transaction(portal.app.db, (tx) => portal.app.bills.undo(tx, id, 'it did not come up'))

  test('returns what was paid, once, as a new entry', async () => {
    const an = await portal.customer()
    await portal.topUp(an, 100_000)
    const { id } = await issue(an, 30_000n)
    await eventually('the payment', async () => (await invoices(an))[0]?.status === 'paid')
    await Promise.all([undo(id), undo(id), undo(id)])
    await undo(id)
    expect(await entries(an)).toEqual(['100000 → 100000', '-60000 → 40000', '60000 → 100000'])
    const [note, taken, ...others] = await invoices(an)
    expect(others).toEqual([])
    expect(taken).toMatchObject({ id, status: 'refunded', amount_due: 0 })
    expect(note).toMatchObject({
      kind: 'credit',
      number: expect.stringMatching(/^VN-CN-\d{4}-\d{6}$/),
      status: 'paid',
      total: -60_000,
      amount_due: 0,
      corrects: { id, number: taken?.number },
      lines: [{ quantity: -2, unit_price: 30_000, amount: -60_000, corrects_line: 1 }],
    })
    expect((await pay(an, id)).status).toBe(409)
    await portal.ledgerHolds()
  })

  test('makes an unpaid one void, and it can no longer be paid', async () => {
    const an = await portal.customer()
    const id = await open(an, 30_000n)
    await undo(id)
    await portal.topUp(an, 100_000)
    expect((await pay(an, id)).status).toBe(409)
    expect((await invoices(an))[0]).toMatchObject({ status: 'void', amount_due: 0, amount_paid: 0 })
    expect(await entries(an)).toEqual(['100000 → 100000'])
  })
})
