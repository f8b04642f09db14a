/**
 * The Stripe stand-in, called by the vendor's own SDK: what it accepts, what it refuses, and with
 * which messages.
 */
import Stripe from 'stripe'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { stripeBrowser, testCards } from '../../test/stripe-browser.ts'
import { startSandbox, type Sandbox } from '../index.ts'
import { passesLuhn } from './cards.ts'
import { readForm } from './form.ts'

const keys = {
  secretKey: 'sk_test_sandbox',
  publishableKey: 'pk_test_sandbox',
  webhookSecret: 'whsec_sandbox',
}
let database: TestDatabase
let sandbox: Sandbox
let stripe: Stripe

const clientFor = (key: string): Stripe => {
  const { hostname, port } = new URL(sandbox.url)
  return new Stripe(key, {
    host: hostname,
    port,
    protocol: 'http',
    maxNetworkRetries: 0,
    telemetry: false,
  })
}
beforeAll(async () => {
  database = await testDatabase()
  sandbox = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    databaseUrl: database.url,
    // Nobody receives the events.
    portalUrl: 'http://127.0.0.1:9',
    gateways: { stripe: keys },
    esms: { apiKey: 'k', secretKey: 's' },
    log: () => undefined,
    pace: 0.01,
  })
  stripe = clientFor(keys.secretKey)
})
afterAll(async () => {
  await sandbox?.close()
  await database?.drop()
})

const refusal = async (call: Promise<unknown>): Promise<Record<string, unknown>> =>
  await call.then(
    () => ({}),
    (error: unknown) => {
      if (!(error instanceof Stripe.errors.StripeError)) throw error
      const { type, code, param, statusCode } = error
      return { type, code, param, statusCode }
    },
  )
/** A call with parameters that the SDK's types do not know. */
const loosely = (of: object) => of as never
async function cardOf(number: string): Promise<{ customer: string; method: string }> {
  const { id: customer } = await stripe.customers.create({ email: 'anh@example.vn' })
  const { client_secret } = await stripe.setupIntents.create({
    customer,
    allowed_payment_method_types: ['card'],
  })
  const { payment_method: method = '' } = await stripeBrowser(
    sandbox.url,
    keys.publishableKey,
  ).confirm(client_secret ?? '', { number })
  return { customer, method }
}

describe('a request', () => {
  test.each([
    [
      'a parameter that API 2026-09-30 took away',
      { amount: 500, currency: 'aud', payment_method_types: ['card'] },
      'parameter_unknown',
      'payment_method_types',
    ],
    [
      'one that never was',
      { amount: 500, currency: 'aud', nonsense: 'x' },
      'parameter_unknown',
      'nonsense',
    ],
    ['no amount', { currency: 'aud' }, 'parameter_missing', 'amount'],
    ['half a cent', { amount: 500.5, currency: 'aud' }, undefined, 'amount'],
    [
      'a usage of its own',
      { amount: 500, currency: 'aud', setup_future_usage: 'for_ever' },
      undefined,
      'setup_future_usage',
    ],
  ])('with %s is refused as Stripe refuses it', async (_, params, code, param) => {
    expect(await refusal(stripe.paymentIntents.create(loosely(params)))).toEqual({
      type: 'StripeInvalidRequestError',
      code,
      param,
      statusCode: 400,
    })
  })

  test('under a known key gets the first answer; with another body it is refused', async () => {
    const refundOf = (amount: number) =>
      stripe.paymentIntents.create({ amount, currency: 'aud' }, { idempotencyKey: 'one' })
    const [one, other] = await Promise.all([refundOf(500), refundOf(500)])
    expect(one.id).toBe(other.id)
    expect((await refundOf(500)).lastResponse.headers['idempotent-replayed']).toBe('true')
    expect(await refusal(refundOf(600))).toMatchObject({
      type: 'StripeIdempotencyError',
      statusCode: 400,
    })
  })

  test('with a wrong key, or the browser’s key beyond its rights, is refused', async () => {
    for (const key of ['sk_test_other', keys.publishableKey])
      expect(await refusal(clientFor(key).customers.create({}))).toMatchObject({
        type: 'StripeAuthenticationError',
        statusCode: 401,
      })
    const { id } = await stripe.paymentIntents.create({ amount: 500, currency: 'aud' })
    expect(await refusal(clientFor(keys.publishableKey).paymentIntents.retrieve(id))).toMatchObject(
      {
        code: 'resource_missing',
      },
    )
    expect(
      await refusal(
        clientFor(keys.publishableKey).paymentIntents.retrieve(id, {
          client_secret: `${id}_secret_guess`,
        }),
      ),
    ).toMatchObject({
      code: 'resource_missing',
      statusCode: 404,
    })
  })
})

test('a card of another customer pays nothing, and is attached to nobody else', async () => {
  const [one, other] = [await cardOf(testCards.visa), await cardOf(testCards.jcb)]
  const { id } = await stripe.paymentIntents.create({
    amount: 500,
    currency: 'aud',
    customer: one.customer,
  })
  expect(
    await refusal(stripe.paymentIntents.update(id, { payment_method: other.method })),
  ).toMatchObject({ param: 'payment_method' })
  expect(
    await refusal(stripe.paymentMethods.attach(other.method, { customer: one.customer })),
  ).toMatchObject({ statusCode: 400 })
})

test('a refused charge is a card error, and leaves the intent for another card', async () => {
  const { customer, method } = await cardOf(testCards.linkedThenDeclined)
  const { id } = await stripe.paymentIntents.create({ amount: 500, currency: 'aud', customer })
  await stripe.paymentIntents.update(id, { payment_method: method })
  expect(await refusal(stripe.paymentIntents.confirm(id))).toMatchObject({
    type: 'StripeCardError',
    code: 'card_declined',
    statusCode: 402,
  })
  const left = await stripe.paymentIntents.retrieve(id)
  expect([left.status, left.payment_method, left.last_payment_error?.decline_code]).toEqual([
    'requires_payment_method',
    null,
    'generic_decline',
  ])
})

describe('a charge while nobody is there', () => {
  const charge = (of: { customer: string; method: string }, changes: object = {}) =>
    stripe.paymentIntents.create(
      loosely({
        amount: 500,
        currency: 'aud',
        customer: of.customer,
        payment_method: of.method,
        allowed_payment_method_types: ['card'],
        off_session: true,
        confirm: true,
        ...changes,
      }),
    )
  test('pays with a card that was set up for it', async () => {
    const card = await cardOf(testCards.asksOnce)
    expect(await charge(card)).toMatchObject({ status: 'succeeded', amount_received: 500 })
  })
  test.each([
    [testCards.linkedThenDeclined, 'card_declined', 'generic_decline'],
    [testCards.asksAlways, 'authentication_required', 'authentication_required'],
  ])('of the card %s is answered with %s and the intent', async (number, code, decline) => {
    const error = await charge(await cardOf(number)).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ type: 'StripeCardError', statusCode: 402, code })
    expect(error).toMatchObject({ decline_code: decline })
    const { payment_intent: intent } = error as { payment_intent: { id: string; status: string } }
    expect(intent.status).toBe('requires_payment_method')
    expect(await stripe.paymentIntents.retrieve(intent.id)).toMatchObject({
      status: 'requires_payment_method',
      last_payment_error: { code, decline_code: decline },
    })
  })
  test('needs to be confirmed at once, with a card that is linked', async () => {
    const card = await cardOf(testCards.visa)
    expect((await refusal(charge(card, { confirm: false })))['param']).toBe('off_session')
    await stripe.paymentMethods.detach(card.method)
    expect(await refusal(charge(card))).toMatchObject({
      code: 'resource_missing',
      param: 'payment_method',
    })
  })
})

test('no more is given back than was charged', async () => {
  const { customer, method } = await cardOf(testCards.visa)
  const { id } = await stripe.paymentIntents.create({ amount: 500, currency: 'aud', customer })
  expect(await refusal(stripe.refunds.create({ payment_intent: id }))).toMatchObject({
    statusCode: 400,
  })
  await stripe.paymentIntents.confirm(id, { payment_method: method })
  await stripe.refunds.create({ payment_intent: id, amount: 200 })
  expect(await refusal(stripe.refunds.create({ payment_intent: id, amount: 301 }))).toMatchObject({
    param: 'amount',
  })
  await stripe.refunds.create({ payment_intent: id })
  expect(await refusal(stripe.refunds.create({ payment_intent: id }))).toMatchObject({
    code: 'charge_already_refunded',
  })
  const { latest_charge: charge } = await stripe.paymentIntents.retrieve(id, {
    expand: ['latest_charge', 'latest_charge.refunds'],
  })
  expect(charge).toMatchObject({ amount_refunded: 500, refunded: true })
  expect(typeof charge === 'object' && charge?.refunds?.data.length).toBe(2)
})

test('forms are read as the SDK writes them, whatever they name', () => {
  const form = (text: string) => readForm(new URLSearchParams(text))
  expect(form('a=1&b[c]=2&b[d][e]=3&f[0]=4&f[1]=5&g[]=6&g[]=7&h[0][i]=8')).toEqual({
    a: '1',
    b: { c: '2', d: { e: '3' } },
    f: ['4', '5'],
    g: ['6', '7'],
    h: [{ i: '8' }],
  })
  form('__proto__[polluted]=yes&constructor[prototype][polluted]=yes')
  expect(({} as { polluted?: string }).polluted).toBeUndefined()
})

test('every test card has a right check digit', () => {
  for (const number of Object.values(testCards))
    expect([number, passesLuhn(number)]).toEqual([number, true])
  expect(passesLuhn('4242424242424241')).toBe(false)
})

test('the portal alone may frame the frames, and the script asks its own origin only', async () => {
  for (const path of [
    '/stripe/v3/card',
    '/stripe/v3/controller',
    '/stripe/3ds?intent=x&client_secret=y"><script>',
  ]) {
    const answer = await fetch(`${sandbox.url}${path}`)
    expect(answer.headers.get('content-security-policy')).toContain(
      'frame-ancestors http://127.0.0.1:9',
    )
    expect(await answer.text()).not.toContain('"><script>')
  }
  const script = await fetch(`${sandbox.url}/stripe/v3/stripe.js`)
  expect(script.headers.get('content-type')).toMatch(/^text\/javascript/)
})
