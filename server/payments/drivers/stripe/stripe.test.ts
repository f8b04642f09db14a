/**
 * Stripe's words, read. The signature's form and the events' are from
 * https://docs.stripe.com/webhooks and https://docs.stripe.com/api/events; the vector was made with
 * the published scheme (HMAC-SHA256 over `<t>.<body>`), and the vendor's own SDK agrees on it.
 */
import { createHmac } from 'node:crypto'
import Stripe from 'stripe'
import { expect, test } from 'vitest'
import { ForgedWebhook } from '../../driver.ts'
import { createStripe } from './index.ts'
import { defaults, settings } from './settings.ts'

const secret = 'whsec_test_secret'
const driver = createStripe(
  settings.parse({
    ...defaults,
    secretKey: 'sk_test_1',
    publishableKey: 'pk_test_1',
    webhookSecret: secret,
    apiUrl: 'http://127.0.0.1:9',
  }),
)
const mac = (at: number, body: string): string =>
  createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
const read = (body: string, signature: string) =>
  driver.readWebhook({
    method: 'POST',
    headers: { 'stripe-signature': signature },
    query: new URLSearchParams(),
    rawBody: Buffer.from(body),
  })
const now = (): number => Math.floor(Date.now() / 1000)
const webhookEvent = (type: string, object: object) => {
  const body = JSON.stringify({
    id: 'evt_1',
    object: 'event',
    type,
    created: 1_700_000_000,
    data: { object },
  })
  const at = now()
  return read(body, `t=${at},v1=${mac(at, body)}`)
}

test('the scheme gives the known signature, and the SDK the same', () => {
  const payload = '{"id":"evt_1","object":"event"}'
  const known = '0c8670ed117751cc551a20e35839447075c42800ea3cf3e8a2fbda99cd1e6edd'
  expect(mac(1_700_000_000, payload)).toBe(known)
  expect(
    new Stripe('sk_test_1').webhooks.generateTestHeaderString({
      payload,
      secret,
      timestamp: 1_700_000_000,
    }),
  ).toBe(`t=1700000000,v1=${known}`)
})

test.each([
  ['an old one', (body: string) => `t=${now() - 301},v1=${mac(now() - 301, body)}`],
  ['one of another body', () => `t=${now()},v1=${mac(now(), 'x')}`],
  ['one without the time', (body: string) => `v1=${mac(now(), body)}`],
  ['an older scheme', (body: string) => `t=${now()},v0=${mac(now(), body)}`],
  ['nothing', () => ''],
])('%s is no signature', (_, signature) => {
  const body = JSON.stringify({
    id: 'evt_1',
    object: 'event',
    type: 'payment_intent.succeeded',
    data: { object: {} },
  })
  expect(() => read(body, signature(body))).toThrow(ForgedWebhook)
})

test('an event about a payment is a hint, whatever it says', () => {
  const object = { id: 'pi_1', amount: 1, currency: 'aud', metadata: { portal_payment: 'CODE' } }
  for (const type of ['succeeded', 'payment_failed', 'canceled', 'processing'])
    expect(webhookEvent(`payment_intent.${type}`, object)).toEqual({
      ask: true,
      eventId: 'evt_1',
      reference: 'CODE',
    })
})

test('what is none of ours says nothing', () => {
  expect(webhookEvent('payment_intent.succeeded', { id: 'pi_1', metadata: {} })).toBeNull()
  expect(
    webhookEvent('charge.refunded', { id: 'ch_1', metadata: { portal_payment: 'CODE' } }),
  ).toBeNull()
  expect(webhookEvent('a.type.of.tomorrow', {})).toBeNull()
})

test.each([
  ['refund.created', 'succeeded', 'refunded'],
  ['refund.failed', 'failed', 'restored'],
  ['refund.updated', 'canceled', 'restored'],
])('%s with %s: %s', (type, status, expected) => {
  const refund = {
    id: 're_1',
    amount: 500,
    currency: 'aud',
    payment_intent: 'pi_1',
    status,
    created: 1_700_000_000,
    metadata: { portal_refund: 'R1' },
  }
  expect(webhookEvent(type, refund)).toMatchObject({
    status: expected,
    reference: null,
    paymentRef: 'pi_1',
    providerTransactionId: 're_1',
    amount: 500n,
    currency: 'AUD',
    refundId: 'R1',
  })
  expect(webhookEvent(type, { ...refund, status: 'pending' })).toBeNull()
})

test('that a dispute was opened, changed or closed leads to a question about it', () => {
  for (const type of ['created', 'updated', 'closed'])
    expect(webhookEvent(`charge.dispute.${type}`, { id: 'dp_1', payment_intent: 'pi_1' })).toEqual({
      dispute: 'dp_1',
      eventId: 'evt_1',
    })
})

test.each([
  ['charge.dispute.funds_withdrawn', 'reversed'],
  ['charge.dispute.funds_reinstated', 'restored'],
])('%s: %s', (type, status) => {
  const dispute = {
    id: 'dp_1',
    amount: 2000,
    currency: 'eur',
    payment_intent: 'pi_1',
    reason: 'fraudulent',
    created: 1_700_000_000,
  }
  expect(webhookEvent(type, dispute)).toMatchObject({
    status,
    paymentRef: 'pi_1',
    providerTransactionId: 'dp_1',
    amount: 2000n,
    currency: 'EUR',
    detail: 'dispute fraudulent',
  })
})

test('real keys let the browser reach Stripe only; a stand-in has its own origin', () => {
  expect(driver.origins.scripts).toContain('https://js.stripe.com')
  expect(
    [...driver.origins.scripts, ...driver.origins.frames, ...driver.origins.calls].every((origin) =>
      origin.endsWith('.stripe.com'),
    ),
  ).toBe(true)
  const near = createStripe(
    settings.parse({
      secretKey: 'sk_test_1',
      publishableKey: 'pk_test_1',
      webhookSecret: secret,
      apiUrl: 'http://127.0.0.1:9',
      scriptUrl: 'http://127.0.0.1:9/stripe/v3/stripe.js',
    }),
  )
  expect(near.origins).toEqual({
    scripts: ['http://127.0.0.1:9'],
    frames: ['http://127.0.0.1:9'],
    calls: [],
  })
})
