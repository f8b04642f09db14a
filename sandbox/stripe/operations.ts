/** The operations of Stripe's API, one for each operation of its published schema. */
import type { Transaction } from '../database.ts'
import { invalid, missing, ok, type Answer } from './answer.ts'
import { transactionsOf } from './balance.ts'
import { passesLuhn, testCard } from './cards.ts'
import { answerDispute, closeDispute } from './dashboard.ts'
import {
  confirm,
  refund,
  type Charge,
  type Intent,
  type Method,
  type Payment,
  type Tell,
} from './intents.ts'
import { find, load, newId, newSecret, save, publicFields, type Stored } from './store.ts'

/** A request that passed the published schema: numbers are numbers. */
export interface Body {
  readonly [name: string]: unknown
  readonly customer?: string
  readonly payment_method?: string
  readonly payment_intent?: string
  readonly client_secret?: string
  readonly metadata?: Record<string, string>
  readonly expand?: readonly string[]
  readonly limit?: number
}
interface Customer extends Stored {
  invoice_settings: { default_payment_method: string | null }
}
interface Context {
  readonly tx: Transaction
  readonly id: string
  readonly body: Body
  readonly tell: Tell
  /** True with the publishable key, which only allows what a browser may do. */
  readonly browser: boolean
}

const now = (): number => Math.floor(Date.now() / 1000)
const list = (url: string, data: readonly object[]): Answer =>
  ok({ object: 'list', url, has_more: false, data: data.map(publicFields) })

/** The intent, if the caller may access it. */
async function intentFor<T extends Intent>(
  { tx, id, body, browser }: Context,
  kind: Intent['object'],
): Promise<T | Answer> {
  const intent = await load<T>(tx, kind, id)
  if (intent === undefined || (browser && body.client_secret !== intent.client_secret))
    return missing(kind, id, 'intent')
  return intent
}
const isAnswer = (of: object): of is Answer => 'body' in of

/** Expands `latest_charge` and its refunds on request. */
async function expanded(
  tx: Transaction,
  payment: Payment,
  expand: readonly string[] = [],
): Promise<object> {
  if (payment.latest_charge === null || !expand.includes('latest_charge'))
    return publicFields(payment)
  const charge = await load<Charge>(tx, 'charge', payment.latest_charge)
  const refunds = await find(tx, 'refund', { field: 'payment_intent', is: payment.id }, 100)
  const going = refunds.filter(({ status }) => status !== 'failed')
  return {
    ...publicFields(payment),
    latest_charge: {
      ...publicFields(charge ?? {}),
      ...(expand.includes('latest_charge.refunds') && {
        refunds: {
          object: 'list',
          has_more: false,
          url: `/v1/charges/${payment.latest_charge}/refunds`,
          data: going.map(publicFields),
        },
      }),
    },
  }
}

async function makeMethod({ tx, body }: Context): Promise<Answer> {
  const card = body['card'] as { number?: string; exp_month: number; exp_year: number } | undefined
  if (body['type'] !== 'card' || card?.number === undefined)
    return invalid('The sandbox takes cards only.', { param: 'type' })
  const number = card.number.replaceAll(/\D/g, '')
  const known = testCard(number)
  if (!passesLuhn(number))
    return {
      status: 402,
      body: {
        error: {
          type: 'card_error',
          code: 'incorrect_number',
          message: 'Your card number is incorrect.',
          param: 'number',
        },
      },
    }
  if (known === undefined)
    return invalid('The sandbox knows Stripe’s test cards only, such as 4242 4242 4242 4242.', {
      param: 'number',
    })
  const method: Method = {
    id: newId('pm'),
    object: 'payment_method',
    created: now(),
    type: 'card',
    customer: null,
    billing_details: { address: null, email: null, name: null, phone: null },
    card: {
      brand: known.brand,
      last4: number.slice(-4),
      exp_month: card.exp_month,
      exp_year: card.exp_year < 100 ? 2000 + card.exp_year : card.exp_year,
      country: 'US',
      funding: 'credit',
    },
    livemode: false,
    metadata: {},
    _turns: { setup: known.setup, pay: known.pay },
  }
  await save(tx, method)
  return ok(publicFields(method))
}

/** What Stripe checks before it creates an intent that is confirmed at once, or off-session. */
async function faultOfConfirming(tx: Transaction, body: Body): Promise<Answer | undefined> {
  const { customer, payment_method: methodId } = body
  if (body['off_session'] !== undefined && body['off_session'] !== false && !body['confirm'])
    return invalid('You can only set off_session when confirm is true.', { param: 'off_session' })
  if (methodId === undefined) return undefined
  const method = await load<Method>(tx, 'payment_method', methodId)
  if (!method) return missing('PaymentMethod', methodId, 'payment_method')
  if (body['off_session'] === true && (method.customer === null || method.customer !== customer))
    return invalid(
      `The customer does not have a payment method with the ID ${methodId}. The payment method ` +
        'must be attached to the customer.',
      { code: 'resource_missing', param: 'payment_method' },
    )
  return undefined
}

async function makeIntent({ tx, body, tell }: Context, object: Intent['object']): Promise<Answer> {
  const { customer = null } = body
  if (customer !== null && !(await load(tx, 'customer', customer)))
    return missing('customer', customer, 'customer')
  const fault = object === 'payment_intent' ? await faultOfConfirming(tx, body) : undefined
  if (fault) return fault
  const id = newId(object === 'payment_intent' ? 'pi' : 'seti')
  const intent: Intent = {
    id,
    object,
    created: now(),
    status: 'requires_payment_method',
    client_secret: newSecret(id),
    customer,
    payment_method: null,
    next_action: null,
    metadata: body.metadata ?? {},
    livemode: false,
    payment_method_types: ['card'],
    ...(object === 'payment_intent'
      ? {
          amount: body['amount'],
          amount_received: 0,
          currency: body['currency'],
          latest_charge: null,
          last_payment_error: null,
        }
      : { usage: body['usage'] ?? 'off_session', last_setup_error: null }),
  }
  await save(tx, intent)
  return object === 'payment_intent' && body['confirm'] === true
    ? await confirm(tx, intent, body.payment_method, tell, {
        offSession: body['off_session'] === true,
      })
    : ok(publicFields(intent))
}

export const operations: Readonly<Record<string, (call: Context) => Promise<Answer>>> = {
  async 'POST /v1/customers'({ tx, body }) {
    const customer: Customer = {
      id: newId('cus'),
      object: 'customer',
      created: now(),
      name: body['name'] ?? null,
      email: body['email'] ?? null,
      metadata: body.metadata ?? {},
      livemode: false,
      invoice_settings: { default_payment_method: null },
    }
    await save(tx, customer)
    return ok(publicFields(customer))
  },
  async 'GET /v1/customers/{customer}'({ tx, id }) {
    const customer = await load(tx, 'customer', id)
    return customer ? ok(publicFields(customer)) : missing('customer', id, 'id')
  },
  async 'POST /v1/customers/{customer}'({ tx, id, body }) {
    const customer = await load<Customer>(tx, 'customer', id)
    if (!customer) return missing('customer', id, 'id')
    const chosen = (body['invoice_settings'] as { default_payment_method?: string } | undefined)
      ?.default_payment_method
    if (chosen !== undefined) {
      const method = await load<Method>(tx, 'payment_method', chosen)
      if (method?.customer !== id)
        return invalid('The payment method must be attached to the customer.', {
          param: 'invoice_settings',
        })
      customer.invoice_settings.default_payment_method = chosen
    }
    await save(tx, customer)
    return ok(publicFields(customer))
  },
  async 'GET /v1/customers/{customer}/payment_methods'({ tx, id, body }) {
    if (!(await load(tx, 'customer', id))) return missing('customer', id, 'customer')
    return list(
      `/v1/customers/${id}/payment_methods`,
      await find(tx, 'payment_method', { field: 'customer', is: id }, body.limit ?? 10),
    )
  },

  'POST /v1/payment_methods': makeMethod,
  async 'GET /v1/payment_methods/{payment_method}'({ tx, id }) {
    const method = await load(tx, 'payment_method', id)
    return method ? ok(publicFields(method)) : missing('PaymentMethod', id, 'payment_method')
  },
  async 'POST /v1/payment_methods/{payment_method}/attach'({ tx, id, body }) {
    const method = await load<Method>(tx, 'payment_method', id)
    const customer = body.customer ?? ''
    if (!method) return missing('PaymentMethod', id, 'payment_method')
    if (!(await load(tx, 'customer', customer))) return missing('customer', customer, 'customer')
    if (method.customer !== null && method.customer !== customer)
      return invalid('The payment method you provided has already been attached to a customer.')
    method.customer = customer
    await save(tx, method)
    return ok(publicFields(method))
  },
  async 'POST /v1/payment_methods/{payment_method}/detach'({ tx, id }) {
    const method = await load<Method>(tx, 'payment_method', id)
    if (!method) return missing('PaymentMethod', id, 'payment_method')
    const customer =
      method.customer === null ? undefined : await load<Customer>(tx, 'customer', method.customer)
    if (customer?.invoice_settings.default_payment_method === id) {
      customer.invoice_settings.default_payment_method = null
      await save(tx, customer)
    }
    method.customer = null
    await save(tx, method)
    return ok(publicFields(method))
  },

  'POST /v1/setup_intents': (call) => makeIntent(call, 'setup_intent'),
  'POST /v1/payment_intents': (call) => makeIntent(call, 'payment_intent'),
  async 'GET /v1/setup_intents'({ tx, body }) {
    const customer = body['customer'] as string | undefined
    if (customer !== undefined && !(await load(tx, 'customer', customer)))
      return missing('customer', customer, 'customer')
    const where = customer === undefined ? null : { field: 'customer', is: customer }
    return list('/v1/setup_intents', await find(tx, 'setup_intent', where, body.limit ?? 10))
  },
  async 'GET /v1/setup_intents/{intent}'(call) {
    const intent = await intentFor(call, 'setup_intent')
    return isAnswer(intent) ? intent : ok(publicFields(intent))
  },
  async 'GET /v1/payment_intents/{intent}'(call) {
    const intent = await intentFor<Payment>(call, 'payment_intent')
    return isAnswer(intent) ? intent : ok(await expanded(call.tx, intent, call.body.expand))
  },
  async 'GET /v1/payment_intents/search'({ tx, body }) {
    const query = /^metadata\['(\w+)'\]:'(\w+)'$/.exec(String(body['query']))
    if (!query)
      return invalid('The sandbox searches by one field of the metadata.', { param: 'query' })
    const found = await find(
      tx,
      'payment_intent',
      { field: `metadata.${query[1]}`, is: query[2] ?? '' },
      body.limit ?? 10,
    )
    return ok({
      object: 'search_result',
      url: '/v1/payment_intents/search',
      has_more: false,
      next_page: null,
      data: found.map(publicFields),
    })
  },
  async 'POST /v1/payment_intents/{intent}'({ tx, id, body }) {
    const intent = await load<Payment>(tx, 'payment_intent', id)
    if (!intent) return missing('payment_intent', id, 'intent')
    if (['succeeded', 'canceled', 'processing'].includes(intent.status))
      return invalid(
        "This PaymentIntent's payment_method could not be updated because it has a status of " +
          `${intent.status}.`,
        {
          code: 'payment_intent_unexpected_state',
        },
      )
    if (body.payment_method !== undefined) {
      const method = await load<Method>(tx, 'payment_method', body.payment_method)
      if (!method) return missing('PaymentMethod', body.payment_method, 'payment_method')
      if (method.customer !== null && method.customer !== intent.customer)
        return invalid('The PaymentMethod provided belongs to another customer.', {
          param: 'payment_method',
        })
      Object.assign(intent, {
        payment_method: method.id,
        status: 'requires_confirmation',
        next_action: null,
      })
    }
    await save(tx, intent)
    return ok(publicFields(intent))
  },
  async 'POST /v1/payment_intents/{intent}/cancel'({ tx, id, tell }) {
    const intent = await load<Payment>(tx, 'payment_intent', id)
    if (!intent) return missing('payment_intent', id, 'intent')
    if (intent.status === 'succeeded')
      return invalid('You cannot cancel this PaymentIntent because it has a status of succeeded.')
    Object.assign(intent, { status: 'canceled', next_action: null, canceled_at: now() })
    await save(tx, intent)
    await tell(tx, 'payment_intent.canceled', intent)
    return ok(publicFields(intent))
  },
  async 'POST /v1/setup_intents/{intent}/confirm'(call) {
    const intent = await intentFor(call, 'setup_intent')
    return isAnswer(intent)
      ? intent
      : await confirm(call.tx, intent, call.body.payment_method, call.tell)
  },
  async 'POST /v1/payment_intents/{intent}/confirm'(call) {
    const intent = await intentFor<Payment>(call, 'payment_intent')
    return isAnswer(intent)
      ? intent
      : await confirm(call.tx, intent, call.body.payment_method, call.tell)
  },

  async 'POST /v1/refunds'({ tx, body, tell }) {
    const { payment_intent: id = '' } = body
    const payment = await load<Payment>(tx, 'payment_intent', id)
    if (!payment) return missing('payment_intent', id, 'payment_intent')
    const amount = body['amount'] as number | undefined
    return await refund(tx, { payment, amount, metadata: body.metadata ?? {} }, tell)
  },
  'GET /v1/refunds': async ({ tx, body }) =>
    list(
      '/v1/refunds',
      await find(
        tx,
        'refund',
        body.payment_intent === undefined
          ? null
          : { field: 'payment_intent', is: body.payment_intent },
        body.limit ?? 10,
      ),
    ),
  async 'GET /v1/refunds/{refund}'({ tx, id }) {
    const made = await load(tx, 'refund', id)
    return made ? ok(publicFields(made)) : missing('refund', id, 'id')
  },

  'GET /v1/disputes': async ({ tx, body }) =>
    list('/v1/disputes', await find(tx, 'dispute', null, body.limit ?? 10)),
  async 'GET /v1/disputes/{dispute}'({ tx, id }) {
    const dispute = await load(tx, 'dispute', id)
    return dispute ? ok(publicFields(dispute)) : missing('dispute', id, 'id')
  },
  'POST /v1/disputes/{dispute}': ({ tx, id, body, tell }) =>
    answerDispute(
      tx,
      id,
      {
        evidence: (body['evidence'] ?? {}) as Record<string, unknown>,
        submit: body['submit'] !== false,
      },
      tell,
    ),
  'POST /v1/disputes/{dispute}/close': ({ tx, id, tell }) => closeDispute(tx, id, false, tell),
  'GET /v1/payouts': async ({ tx, body }) =>
    list('/v1/payouts', await find(tx, 'payout', null, body.limit ?? 10)),
  async 'GET /v1/balance_transactions'({ tx, body }) {
    const found = await transactionsOf(
      tx,
      body['payout'] as string | undefined,
      body.expand ?? [],
      body.limit ?? 10,
    )
    return Array.isArray(found) ? list('/v1/balance_transactions', found) : found
  },
}
