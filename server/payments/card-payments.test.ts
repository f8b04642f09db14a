/**
 * Payments with linked cards and with tokens of Square's form, as a customer and a browser do it;
 * what Stripe tells, and how often.
 */
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cardsOf } from '../../test/card-holder.ts'
import {
  eightAtATime,
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { stripeBrowser, testCards, type Browser } from '../../test/stripe-browser.ts'

let portal: TestPortal
let browser: Browser
beforeAll(async () => {
  // No scheduled query reaches the gateway unless a test asks for one.
  portal = await openTestPortal({ timing: { askGatewaySeconds: [3600] } })
  browser = stripeBrowser(portal.sandboxUrl, portal.keysOf('stripe')['publishableKey'] ?? '')
})
afterAll(() => portal.close())
const {
  link,
  begin,
  confirm,
  statusOf,
  balanceOf,
  amounts,
  becomes,
  balances,
  eventsGo,
  refOf,
  paid,
} = cardsOf(
  () => portal,
  () => browser,
)

describe('paying with a linked card', () => {
  test.each([
    ['AUD', 2000],
    ['USD', 500],
    ['EURO', 1_000_000],
  ])('in region %s credits the wallet once the provider says so', async (region, amount) => {
    const an = await portal.customer({ region })
    const { code } = await paid(an, amount)
    expect(await balanceOf(an)).toBe(amount)
    expect(await amounts(an)).toEqual([amount])
    expect((await confirm(an, code, 'pm_any')).body.error?.code).toBe('conflict')
  })

  test('is not offered in Vietnam, and not beyond the limits', async () => {
    const checkout = async (region: string, amount: number) =>
      (
        await portal.call('POST', '/api/payments/stripe/checkout', {
          token: (await portal.customer({ region })).token,
          body: { amount },
        })
      ).body.error?.code
    expect(await checkout('VN', 100_000)).toBe('method_unavailable')
    expect(await checkout('AUD', 499)).toBe('invalid_input')
    expect(await checkout('AUD', 1_000_001)).toBe('invalid_input')
  })

  test('a refused card leaves the payment open: another card pays the same one', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const [bad, good] = [
      await link(an, testCards.linkedThenDeclined),
      await link(an, testCards.mastercard),
    ]
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
    const an = await portal.customer({ region: 'AUD' })
    const id = await link(an, testCards.asksAlways)
    const { code, pay } = await begin(an)
    expect((await pay(id, 'refuse')).error?.code).toBe('payment_intent_authentication_failure')
    expect(await statusOf(an, code)).toBe('pending')
    expect((await pay(id, 'confirm')).status).toBe('succeeded')
    await becomes(an, code, 'succeeded')
  })

  test("another's payment cannot be confirmed; a repeated confirmation does nothing", async () => {
    const [an, binh] = [
      await portal.customer({ region: 'AUD' }),
      await portal.customer({ region: 'AUD' }),
    ]
    const id = await link(an, testCards.visa)
    const { code } = await begin(an)
    expect((await confirm(binh, code, await link(binh, testCards.visa))).status).toBe(404)
    const [one, other] = await Promise.all([confirm(an, code, id), confirm(an, code, id)])
    expect(one.body.result.client_secret).toBe(other.body.result.client_secret)
  })

  test('a lost event: the gateway is asked; a late and a repeated one credit once', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const id = await link(an, testCards.visa)
    for (const [count, manner] of ['late', 'twice'].entries()) {
      await eventsGo(manner)
      const { code, pay } = await begin(an)
      await pay(id)
      await becomes(an, code, 'succeeded')
      await eventsGo('now')
      expect(await balanceOf(an)).toBe(2000 * (count + 1))
    }
    await portal.reopen({ timing: { askGatewaySeconds: [1] } })
    await eventsGo('lost')
    const { code, pay } = await begin(an)
    await pay(id)
    await becomes(an, code, 'succeeded')
    await eventsGo('now')
    await portal.reopen({ timing: { askGatewaySeconds: [3600] } })
    expect(await amounts(an)).toEqual([2000, 2000, 2000])
    await portal.ledgerHolds()
  })

  test('a forged event credits nothing', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { code } = await begin(an)
    const body = JSON.stringify({
      id: 'evt_x',
      type: 'payment_intent.succeeded',
      data: { object: { metadata: { portal_payment: code } } },
    })
    const at = Math.floor(Date.now() / 1000)
    const mac = createHmac('sha256', 'whsec_guess').update(`${at}.${body}`).digest('hex')
    const answer = await portal.call('POST', '/api/webhooks/stripe', {
      body,
      headers: { 'stripe-signature': `t=${at},v1=${mac}` },
    })
    expect(answer.status).toBe(400)
    // A genuine webhook about a payment that is not paid credits nothing either.
    const right = createHmac('sha256', portal.keysOf('stripe')['webhookSecret'] ?? '')
      .update(`${at}.${body}`)
      .digest('hex')
    await portal.call('POST', '/api/webhooks/stripe', {
      body,
      headers: { 'stripe-signature': `t=${at},v1=${right}` },
    })
    expect(await statusOf(an, code)).toBe('pending')
    expect(await balanceOf(an)).toBe(0)
  })
})

describe("a token of Square's form", () => {
  const charge = ({ token }: TestCustomer, changes: object = {}, key = crypto.randomUUID()) =>
    portal.call<{ transactionCode: string; status: string }>(
      'POST',
      '/api/payments/square/checkout',
      {
        token,
        headers: { 'idempotency-key': key },
        body: {
          amount: 2000,
          locationId: portal.keysOf('square')['locationId'],
          source_id: 'cnon:card-nonce-ok',
          ...changes,
        },
      },
    )

  test('is charged at once, and once under one key', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const key = crypto.randomUUID()
    const [one, other] = [await charge(an, {}, key), await charge(an, {}, key)]
    expect(one.body.result.status).toBe('succeeded')
    expect(other.body.result).toEqual(one.body.result)
    expect(await balanceOf(an)).toBe(2000)
    await portal.app.topUps.refunds.begin(one.body.result.transactionCode, undefined, 'asked for')
    await balances(an, 0)
    await portal.ledgerHolds()
    // A webhook that comes before the answer to the call credits, and the answer finds it done.
    await eventually('the webhooks about the payment and its refund are handled', async () => {
      const { n } = await portal.app.db
        .selectFrom('payment_notice')
        .innerJoin('payment', 'payment.id', 'payment_notice.payment_id')
        .select((eb) => eb.fn.countAll<bigint>().as('n'))
        .where('payment.code', '=', one.body.result.transactionCode)
        .where('outcome', 'in', ['already', 'recorded'])
        .executeTakeFirstOrThrow()
      return n >= 2n
    })
    expect(await amounts(an)).toEqual([2000, -2000])
  })

  test('a thief tries ten stolen cards an hour; what is paid does not count', async () => {
    const [thief, an] = [
      await portal.customer({ region: 'AUD' }),
      await portal.customer({ region: 'AUD' }),
    ]
    const declined = { source_id: 'cnon:card-nonce-declined' }
    const answers = await eightAtATime(25, () => charge(thief, declined))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(
      new Set(answers.filter(({ status }) => status !== 200).map(({ body }) => body.error?.code)),
    ).toEqual(new Set(['rate_limited']))
    expect((await charge(thief)).body.error?.code).toBe('rate_limited')
    for (let time = 0; time < 11; time++)
      expect((await charge(an)).body.result.status).toBe('succeeded')
    // A refused amount does not count towards the limit either: no card was tried.
    for (let time = 0; time < 11; time++)
      expect((await charge(an, { amount: 499 })).body.error?.code).toBe('invalid_input')
    expect((await charge(an)).body.result.status).toBe('succeeded')
  })

  test('that is declined fails the payment, another place or region is refused', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const declined = await charge(an, {
      source_id: 'cnon:card-nonce-declined',
      verification_token: 'verf:1',
    })
    expect([declined.status, declined.body.result.status]).toEqual([200, 'failed'])
    expect((await charge(an, { locationId: 'ELSEWHERE' })).status).toBe(404)
    expect((await charge(await portal.customer({ region: 'USD' }))).body.error?.code).toBe(
      'method_unavailable',
    )
    expect(await balanceOf(an)).toBe(0)
  })
})
