/** Linked cards and payments with them, as a customer and a browser do it; what Stripe tells, and how often. */
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, openTestHouse, type TestCustomer, type TestHouse } from '../../test/house.ts'
import { stripeBrowser, testCards, type Browser, type Confirmed } from '../../test/stripe-browser.ts'

let house: TestHouse
let browser: Browser
beforeAll(async () => {
  // Nobody asks the gateway by itself unless a test says so.
  house = await openTestHouse({ timing: { askGatewaySeconds: [3600] } })
  browser = stripeBrowser(house.sandboxUrl, house.keysOf('stripe')['publishableKey'] ?? '')
})
afterAll(() => house.close())

interface Linked {
  id: string
  card: { brand: string; last4: string; exp_month: number; exp_year: number }
  default: boolean
}
const secretOf = async ({ token }: TestCustomer): Promise<string> =>
  (await house.call<{ client_secret: string }>('GET', '/api/v1/auth/card', { token })).body.result.client_secret
const listed = async ({ token }: TestCustomer): Promise<Linked[]> =>
  (await house.call<Linked[]>('GET', '/api/payments/stripe/methods', { token })).body.result
const shown = async (customer: TestCustomer): Promise<string[]> =>
  (await listed(customer)).map(({ card, default: chosen }) => `${card.brand} ${card.last4}${chosen ? ' default' : ''}`).toSorted()
const attach = (customer: TestCustomer, methodId: string) =>
  house.call('PUT', '/api/payments/stripe/attach', { token: customer.token, body: { methodId } })
async function link(customer: TestCustomer, number: string): Promise<string> {
  const { payment_method: id = '' } = await browser.confirm(await secretOf(customer), { number })
  expect((await attach(customer, id)).status).toBe(200)
  return id
}

interface Begun {
  readonly code: string
  /** Confirms with a linked card, as the screen does. */
  pay(cardId: string, bank?: 'confirm' | 'refuse'): Promise<Confirmed>
}
async function begin(customer: TestCustomer, amount = 2000): Promise<Begun> {
  const { token } = customer
  const begun = await house.call<{ transId: string }>('POST', '/api/payments/stripe/checkout', { token, body: { amount } })
  expect(begun.status).toBe(200)
  const code = begun.body.result.transId
  return {
    code,
    async pay(cardId, bank) {
      const confirmed = await confirm(customer, code, cardId)
      expect(confirmed.status).toBe(200)
      return await browser.confirm(confirmed.body.result.client_secret, null, bank)
    },
  }
}
const confirm = ({ token }: TestCustomer, code: string, methodId: string) =>
  house.call<{ client_secret: string }>('POST', `/api/payments/stripe/${code}/confirm`, { token, body: { method_id: methodId } })
const statusOf = async ({ token }: TestCustomer, code: string): Promise<string> =>
  (await house.call<{ status: string }>('GET', `/api/payments/get-transaction?transactionCode=${code}`, { token })).body.result.status
const balanceOf = async ({ token }: TestCustomer): Promise<number> =>
  (await house.call<{ balance: number }>('GET', '/api/v1/auth/me', { token })).body.result.balance
const amounts = async ({ token }: TestCustomer): Promise<number[]> =>
  (await house.call<{ amount: number }[]>('GET', '/api/payments/stripe', { token })).body.result.map(({ amount }) => amount).toReversed()
const becomes = (customer: TestCustomer, code: string, status: string) =>
  eventually(`the payment is ${status}`, async () => (await statusOf(customer, code)) === status)
const balances = (customer: TestCustomer, balance: number) =>
  eventually(`the balance is ${balance}`, async () => (await balanceOf(customer)) === balance)
const dashboard = (fields: Record<string, string>) =>
  fetch(`${house.sandboxUrl}/stripe/dashboard`, { method: 'POST', redirect: 'manual', body: new URLSearchParams(fields) })
const eventsGo = (manner: string) => dashboard({ action: 'events', manner })
const refOf = async (code: string): Promise<string> =>
  (await house.house.db.selectFrom('payment').select('provider_ref').where('code', '=', code).executeTakeFirstOrThrow()).provider_ref ?? ''
async function paid(customer: TestCustomer, amount = 2000): Promise<{ code: string; payment: string }> {
  const begun = await begin(customer, amount)
  await begun.pay(await link(customer, testCards.visa))
  await becomes(customer, begun.code, 'succeeded')
  return { code: begun.code, payment: await refOf(begun.code) }
}

describe('linking a card', () => {
  test('the linked cards are listed with brand and last digits, and the newest is the default', async () => {
    const an = await house.customer({ region: 'AUD' })
    expect(await shown(an)).toEqual([])
    for (const number of [testCards.visa, testCards.mastercard, testCards.amex, testCards.jcb]) await link(an, number)
    expect(await shown(an)).toEqual(['amex 0005', 'jcb 0505 default', 'mastercard 4444', 'visa 4242'])
    const visa = (await listed(an)).find(({ card }) => card.brand === 'visa')
    expect(visa?.card).toEqual({ brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2034 })
    expect((await attach(an, visa?.id ?? '')).status).toBe(200)
    expect(await shown(an)).toContain('visa 4242 default')
  })

  test('an unlinked card is gone, and cannot be unlinked again', async () => {
    const an = await house.customer({ region: 'USD' })
    const id = await link(an, testCards.visa)
    const unlink = () => house.call('DELETE', `/api/payments/stripe/methods/${id}`, { token: an.token })
    expect((await unlink()).status).toBe(200)
    expect(await shown(an)).toEqual([])
    expect((await unlink()).status).toBe(404)
  })

  test("another customer's card is nobody's: it is not listed, attached, unlinked or paid with", async () => {
    const [an, binh] = [await house.customer({ region: 'AUD' }), await house.customer({ region: 'AUD' })]
    const id = await link(an, testCards.visa)
    await link(binh, testCards.mastercard)
    expect(await shown(binh)).toEqual(['mastercard 4444 default'])
    const { code } = await begin(binh)
    for (const strange of [id, 'pm_none', '../customers', "' or 1=1", 'cus_1']) {
      const answers = [
        await attach(binh, strange),
        await house.call('DELETE', `/api/payments/stripe/methods/${encodeURIComponent(strange)}`, { token: binh.token }),
        await confirm(binh, code, strange),
      ]
      expect(answers.map(({ status }) => [strange, status])).toEqual([404, 404, 404].map((status) => [strange, status]))
    }
    expect(await shown(an)).toEqual(['visa 4242 default'])
  })

  test('a card that the bank refuses is not linked', async () => {
    const an = await house.customer({ region: 'AUD' })
    for (const [number, code] of [
      [testCards.declined, 'card_declined'],
      [testCards.insufficient, 'card_declined'],
      [testCards.expired, 'expired_card'],
    ] as const)
      expect((await browser.confirm(await secretOf(an), { number })).error).toMatchObject({ type: 'card_error', code })
    const refused = await browser.confirm(await secretOf(an), { number: testCards.asksOnce }, 'refuse')
    expect(refused.error?.code).toBe('setup_intent_authentication_failure')
    expect(await shown(an)).toEqual([])
    expect((await browser.confirm(await secretOf(an), { number: testCards.asksOnce }, 'confirm')).status).toBe('succeeded')
    expect(await shown(an)).toEqual(['visa 3155'])
  })

  test('a customer whom the provider does not know under that id is found or made again', async () => {
    const an = await house.customer({ region: 'AUD' })
    await link(an, testCards.visa)
    await house.house.db.updateTable('card_customer').set({ reference: 'cus_gone' }).where('customer_id', '=', an.id).execute()
    expect(await shown(an)).toEqual(['visa 4242 default'])
    await link(an, testCards.jcb)
    expect(await shown(an)).toContain('jcb 0505 default')
  })

  test('two calls at once make one customer at the provider', async () => {
    const an = await house.customer({ region: 'AUD' })
    await Promise.all([secretOf(an), secretOf(an), secretOf(an)])
    const rows = await house.house.db.selectFrom('card_customer').selectAll().where('customer_id', '=', an.id).execute()
    expect(rows).toHaveLength(1)
  })
})

describe('paying with a linked card', () => {
  test.each([
    ['AUD', 2000],
    ['USD', 500],
    ['EURO', 1_000_000],
  ])('in region %s credits the wallet once the provider says so', async (region, amount) => {
    const an = await house.customer({ region })
    const { code } = await paid(an, amount)
    expect(await balanceOf(an)).toBe(amount)
    expect(await amounts(an)).toEqual([amount])
    expect((await confirm(an, code, 'pm_any')).body.error?.code).toBe('conflict')
  })

  test('is not offered in Vietnam, and not beyond the limits', async () => {
    const checkout = async (region: string, amount: number) =>
      (await house.call('POST', '/api/payments/stripe/checkout', { token: (await house.customer({ region })).token, body: { amount } }))
        .body.error?.code
    expect(await checkout('VN', 100_000)).toBe('method_unavailable')
    expect(await checkout('AUD', 499)).toBe('invalid_input')
    expect(await checkout('AUD', 1_000_001)).toBe('invalid_input')
  })

  test('a refused card leaves the payment open: another card pays the same one', async () => {
    const an = await house.customer({ region: 'AUD' })
    const [bad, good] = [await link(an, testCards.linkedThenDeclined), await link(an, testCards.mastercard)]
    const { code, pay } = await begin(an)
    const refused = await pay(bad)
    expect(refused.error).toMatchObject({ type: 'card_error', code: 'card_declined' })
    expect(await statusOf(an, code)).toBe('pending')
    const before = await refOf(code)
    expect((await pay(good)).status).toBe('succeeded')
    await becomes(an, code, 'succeeded')
    expect(await refOf(code)).toBe(before)
    expect(await balanceOf(an)).toBe(2000)
  })

  test("the bank's challenge: refused nothing is paid, confirmed it is", async () => {
    const an = await house.customer({ region: 'AUD' })
    const id = await link(an, testCards.asksAlways)
    const { code, pay } = await begin(an)
    expect((await pay(id, 'refuse')).error?.code).toBe('payment_intent_authentication_failure')
    expect(await statusOf(an, code)).toBe('pending')
    expect((await pay(id, 'confirm')).status).toBe('succeeded')
    await becomes(an, code, 'succeeded')
  })

  test("another customer's payment cannot be confirmed, and a repeated confirmation begins no second one", async () => {
    const [an, binh] = [await house.customer({ region: 'AUD' }), await house.customer({ region: 'AUD' })]
    const id = await link(an, testCards.visa)
    const { code } = await begin(an)
    expect((await confirm(binh, code, await link(binh, testCards.visa))).status).toBe(404)
    const [one, other] = await Promise.all([confirm(an, code, id), confirm(an, code, id)])
    expect(one.body.result.client_secret).toBe(other.body.result.client_secret)
  })

  test('a lost event: the gateway is asked; a late one and a repeated one credit once', async () => {
    const an = await house.customer({ region: 'AUD' })
    const id = await link(an, testCards.visa)
    for (const [count, manner] of ['late', 'twice'].entries()) {
      await eventsGo(manner)
      const { code, pay } = await begin(an)
      await pay(id)
      await becomes(an, code, 'succeeded')
      await eventsGo('now')
      expect(await balanceOf(an)).toBe(2000 * (count + 1))
    }
    await house.reopen({ timing: { askGatewaySeconds: [1] } })
    await eventsGo('lost')
    const { code, pay } = await begin(an)
    await pay(id)
    await becomes(an, code, 'succeeded')
    await eventsGo('now')
    await house.reopen({ timing: { askGatewaySeconds: [3600] } })
    expect(await amounts(an)).toEqual([2000, 2000, 2000])
    await house.ledgerHolds()
  })

  test('a forged event credits nothing', async () => {
    const an = await house.customer({ region: 'AUD' })
    const { code } = await begin(an)
    const body = JSON.stringify({ id: 'evt_x', type: 'payment_intent.succeeded', data: { object: { metadata: { portal_payment: code } } } })
    const at = Math.floor(Date.now() / 1000)
    const mac = createHmac('sha256', 'whsec_guess').update(`${at}.${body}`).digest('hex')
    const answer = await house.call('POST', '/api/webhooks/stripe', { body, headers: { 'stripe-signature': `t=${at},v1=${mac}` } })
    expect(answer.status).toBe(400)
    // A genuine hint about a payment that is not paid credits nothing either.
    const right = createHmac('sha256', house.keysOf('stripe')['webhookSecret'] ?? '')
      .update(`${at}.${body}`)
      .digest('hex')
    await house.call('POST', '/api/webhooks/stripe', { body, headers: { 'stripe-signature': `t=${at},v1=${right}` } })
    expect(await statusOf(an, code)).toBe('pending')
    expect(await balanceOf(an)).toBe(0)
  })
})

describe('money that goes back', () => {
  test('a refund of ours, and the event about it, leave the wallet once; one that the bank refuses comes back', async () => {
    const an = await house.customer({ region: 'AUD' })
    const { code } = await paid(an)
    await house.house.topUps.refunds.begin(code, 500n, 'asked for')
    await balances(an, 1500)
    const refund = await eventually('the refund is done', async () =>
      house.house.db
        .selectFrom('payment_refund as r')
        .innerJoin('payment as p', 'p.id', 'r.payment_id')
        .select('r.provider_refund_id')
        .where('p.code', '=', code)
        .where('r.status', '=', 'done')
        .executeTakeFirst(),
    )
    expect(await amounts(an)).toEqual([2000, -500])
    await dashboard({ action: 'fail_refund', refund: refund.provider_refund_id ?? '' })
    await balances(an, 2000)
    await house.ledgerHolds()
  })

  test('a refund made in the dashboard takes the credit back, in parts and twice told', async () => {
    const an = await house.customer({ region: 'AUD' })
    const { payment } = await paid(an)
    await eventsGo('twice')
    await dashboard({ action: 'refund', payment, amount: '300' })
    await balances(an, 1700)
    await dashboard({ action: 'refund', payment })
    await balances(an, 0)
    await eventsGo('now')
    expect(await amounts(an)).toEqual([2000, -300, -1700])
    await house.ledgerHolds()
  })

  test('a chargeback takes the credit back, and gives it again when it is won', async () => {
    const an = await house.customer({ region: 'AUD' })
    const { payment } = await paid(an)
    await dashboard({ action: 'dispute', payment })
    await balances(an, 0)
    const page = await (await fetch(`${house.sandboxUrl}/stripe/dashboard`)).text()
    const dispute = /name="dispute" value="(dp_\w+)"/.exec(page)?.[1] ?? ''
    await dashboard({ action: 'win', dispute })
    await balances(an, 2000)
    expect(await amounts(an)).toEqual([2000, -2000, 2000])
    await house.ledgerHolds()
  })

  test('words in the wrong order end in the same place: what comes back before it went is told again', async () => {
    const an = await house.customer({ region: 'AUD' })
    const { payment } = await paid(an)
    const tell = async (id: string, type: string): Promise<number> => {
      const dispute = {
        id: 'dp_order',
        amount: 2000,
        currency: 'aud',
        payment_intent: payment,
        reason: 'fraudulent',
        created: 1_700_000_000,
      }
      const body = JSON.stringify({ id, object: 'event', type: `charge.dispute.${type}`, data: { object: dispute } })
      const at = Math.floor(Date.now() / 1000)
      const secret = house.keysOf('stripe')['webhookSecret'] ?? ''
      const mac = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
      return (await house.call('POST', '/api/webhooks/stripe', { body, headers: { 'stripe-signature': `t=${at},v1=${mac}` } })).status
    }
    expect(await tell('evt_2', 'funds_reinstated')).toBe(409)
    expect(await balanceOf(an)).toBe(2000)
    expect(await tell('evt_1', 'funds_withdrawn')).toBe(200)
    expect(await tell('evt_1', 'funds_withdrawn')).toBe(200)
    expect(await balanceOf(an)).toBe(0)
    expect(await tell('evt_2', 'funds_reinstated')).toBe(200)
    expect(await tell('evt_2', 'funds_reinstated')).toBe(200)
    expect(await amounts(an)).toEqual([2000, -2000, 2000])
    await house.ledgerHolds()
  })

  test('of a wallet that is short a chargeback takes what is there, and the rest is owed', async () => {
    const an = await house.customer({ region: 'AUD' })
    const { code, payment } = await paid(an)
    // Some of it went back to another source: the wallet holds less than the bank takes.
    const other = await paid(an, 1000)
    await house.house.topUps.refunds.begin(code, 2000n, 'spent elsewhere')
    await balances(an, 1000)
    expect(payment).not.toBe(other.payment)
    await house.house.db.transaction().execute(async (tx) => {
      await house.house.ledger.withhold(tx, {
        key: `test:${an.id}`,
        customerId: an.id,
        driver: 'stripe',
        amount: 400n,
        currency: 'AUD',
        details: { provider: 'Stripe' },
      })
    })
    await dashboard({ action: 'dispute', payment: other.payment })
    await balances(an, 0)
    const owed = await house.house.db
      .selectFrom('ledger_account')
      .select('balance')
      .where('code', '=', 'receivable:stripe:AUD')
      .executeTakeFirstOrThrow()
    expect(owed.balance < 0n ? -owed.balance : owed.balance).toBe(400n)
    await house.ledgerHolds()
  })
})

test('the portal says where cards are taken, and its pages may load the provider’s form and nothing else', async () => {
  const answer = await house.call<{
    cards: { provider: string; publishableKey: string; scriptUrl: string }
    square: { applicationId: string; locationId: string } | null
    payments: Record<string, { cards: boolean }>
  }>('GET', '/api/config')
  const { cards, square, payments } = answer.body.result
  expect(cards).toEqual({
    provider: 'stripe',
    publishableKey: house.keysOf('stripe')['publishableKey'],
    scriptUrl: `${house.sandboxUrl}/stripe/v3/stripe.js`,
  })
  expect(square).toEqual({ applicationId: house.keysOf('square')['applicationId'], locationId: house.keysOf('square')['locationId'] })
  expect(Object.entries(payments).map(([region, of]) => [region, of.cards])).toEqual([
    ['VN', false],
    ['USD', true],
    ['EURO', true],
    ['AUD', true],
  ])
  const policy = answer.headers.get('content-security-policy') ?? ''
  expect(policy).toContain(`script-src 'self' ${house.sandboxUrl};`)
  expect(policy).toContain(`frame-src 'self' ${house.sandboxUrl};`)
  expect(policy).not.toContain('stripe.com')
})

describe("a token of Square's form", () => {
  const charge = ({ token }: TestCustomer, changes: object = {}, key = crypto.randomUUID()) =>
    house.call<{ transactionCode: string; status: string }>('POST', '/api/payments/square/checkout', {
      token,
      headers: { 'idempotency-key': key },
      body: { amount: 2000, locationId: house.keysOf('square')['locationId'], source_id: 'cnon:card-nonce-ok', ...changes },
    })

  test('is charged at once, and once under one key', async () => {
    const an = await house.customer({ region: 'AUD' })
    const key = crypto.randomUUID()
    const [one, other] = [await charge(an, {}, key), await charge(an, {}, key)]
    expect(one.body.result.status).toBe('succeeded')
    expect(other.body.result).toEqual(one.body.result)
    expect(await balanceOf(an)).toBe(2000)
    await house.house.topUps.refunds.begin(one.body.result.transactionCode, undefined, 'asked for')
    await balances(an, 0)
    await house.ledgerHolds()
    await eventually('the words have come', async () => {
      const { n } = await house.house.db
        .selectFrom('payment_notice')
        .select((eb) => eb.fn.countAll<bigint>().as('n'))
        .where('driver', '=', 'square')
        .where('outcome', '=', 'already')
        .executeTakeFirstOrThrow()
      return n >= 2n
    })
    expect(await amounts(an)).toEqual([2000, -2000])
  })

  test('a thief who tries stolen cards has ten an hour, however many at once; what is paid does not count', async () => {
    const [thief, an] = [await house.customer({ region: 'AUD' }), await house.customer({ region: 'AUD' })]
    const declined = { source_id: 'cnon:card-nonce-declined' }
    const answers = await Promise.all(Array.from({ length: 25 }, () => charge(thief, declined)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(new Set(answers.filter(({ status }) => status !== 200).map(({ body }) => body.error?.code))).toEqual(new Set(['rate_limited']))
    expect((await charge(thief)).body.error?.code).toBe('rate_limited')
    for (let time = 0; time < 11; time++) expect((await charge(an)).body.result.status).toBe('succeeded')
    // Nor does an amount that is none: no card was tried.
    for (let time = 0; time < 11; time++) expect((await charge(an, { amount: 499 })).body.error?.code).toBe('invalid_input')
    expect((await charge(an)).body.result.status).toBe('succeeded')
  })

  test('that is declined fails the payment, another place or region is refused', async () => {
    const an = await house.customer({ region: 'AUD' })
    const declined = await charge(an, { source_id: 'cnon:card-nonce-declined', verification_token: 'verf:1' })
    expect([declined.status, declined.body.result.status]).toEqual([200, 'failed'])
    expect((await charge(an, { locationId: 'ELSEWHERE' })).status).toBe(404)
    expect((await charge(await house.customer({ region: 'USD' }))).body.error?.code).toBe('method_unavailable')
    expect(await balanceOf(an)).toBe(0)
  })
})
