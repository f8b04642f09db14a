/** The life of a SetupIntent and of a PaymentIntent. */
import type { Transaction } from '../database.ts'
import { declined, invalid, ok, type Answer } from './answer.ts'
import { chargeFee, noteMovement } from './balance.ts'
import type { CardOutcome, Decline } from './cards.ts'
import { load, newId, save, publicFields, type Stored } from './store.ts'

export interface Method extends Stored {
  customer: string | null
  type: 'card'
  card: { brand: string; last4: string; exp_month: number; exp_year: number } & Record<
    string,
    unknown
  >
  _turns: { setup: CardOutcome; pay: CardOutcome }
}
export interface Intent extends Stored {
  object: 'setup_intent' | 'payment_intent'
  status: string
  client_secret: string
  customer: string | null
  payment_method: string | null
  next_action: object | null
  metadata: Record<string, string>
}
export interface Payment extends Intent {
  amount: number
  amount_received: number
  currency: string
  latest_charge: string | null
  last_payment_error: object | null
}
export interface Charge extends Stored {
  amount: number
  amount_refunded: number
  refunded: boolean
  disputed: boolean
  payment_intent: string
  currency: string
  metadata: Record<string, string>
}
/** The bank requires authentication, but the cardholder is absent. */
const authenticationRequired: Decline = {
  code: 'authentication_required',
  decline_code: 'authentication_required',
  message: 'Your card was declined. This transaction requires authentication.',
}
/** Queues an event about an object. */
export type Tell = (tx: Transaction, type: string, of: Stored) => Promise<void>

const now = (): number => Math.floor(Date.now() / 1000)
const isPayment = (intent: Intent): intent is Payment => intent.object === 'payment_intent'
const errorOf = (answer: Answer): object => (answer.body as { error: object }).error

async function succeed(tx: Transaction, intent: Intent, method: Method, tell: Tell): Promise<void> {
  Object.assign(intent, { status: 'succeeded', next_action: null, payment_method: method.id })
  if (isPayment(intent)) {
    const charge: Charge = {
      id: newId('ch'),
      object: 'charge',
      created: now(),
      amount: intent.amount,
      amount_captured: intent.amount,
      amount_refunded: 0,
      refunded: false,
      disputed: false,
      captured: true,
      paid: true,
      status: 'succeeded',
      currency: intent.currency,
      customer: intent.customer,
      payment_intent: intent.id,
      payment_method: method.id,
      metadata: intent.metadata,
      livemode: false,
    }
    await save(tx, charge)
    await noteMovement(tx, {
      of: charge,
      category: 'charge',
      amount: charge.amount,
      fee: chargeFee(charge.amount),
    })
    Object.assign(intent, {
      latest_charge: charge.id,
      amount_received: intent.amount,
      last_payment_error: null,
    })
  } else if (intent.customer !== null) {
    method.customer = intent.customer
    await save(tx, method)
  }
  await save(tx, intent)
  await tell(tx, `${intent.object}.succeeded`, intent)
}

/** A refused attempt leaves the intent open for another card. */
async function fail(
  tx: Transaction,
  intent: Intent,
  method: Method,
  answer: Answer,
  tell: Tell,
): Promise<Answer> {
  const error = { ...errorOf(answer), payment_method: publicFields(method) }
  Object.assign(intent, {
    status: 'requires_payment_method',
    next_action: null,
    payment_method: null,
  })
  Object.assign(
    intent,
    isPayment(intent) ? { last_payment_error: error } : { last_setup_error: error },
  )
  await save(tx, intent)
  await tell(
    tx,
    isPayment(intent) ? 'payment_intent.payment_failed' : 'setup_intent.setup_failed',
    intent,
  )
  return {
    status: answer.status,
    body: { error: { ...error, [intent.object]: publicFields(intent) } },
  }
}

/** `offSession`: the cardholder is absent, so the bank cannot ask them. */
export async function confirm(
  tx: Transaction,
  intent: Intent,
  methodId: string | undefined,
  tell: Tell,
  { offSession = false } = {},
): Promise<Answer> {
  const open = ['requires_payment_method', 'requires_confirmation', 'requires_action'].includes(
    intent.status,
  )
  const name = isPayment(intent) ? 'PaymentIntent' : 'SetupIntent'
  if (!open)
    return invalid(`You cannot confirm this ${name} because it has a status of ${intent.status}.`, {
      code: `${intent.object}_unexpected_state`,
    })
  const method = await load<Method>(tx, 'payment_method', methodId ?? intent.payment_method ?? '')
  if (method === undefined)
    return invalid(`You cannot confirm this ${name} because it's missing a payment method.`, {
      code: `${intent.object}_unexpected_state`,
    })
  if (method.customer !== null && method.customer !== intent.customer)
    return invalid('The PaymentMethod provided belongs to another customer.', {
      param: 'payment_method',
    })
  const turn = method._turns[isPayment(intent) ? 'pay' : 'setup']
  if (turn === 'ok') await succeed(tx, intent, method, tell)
  else if (turn === 'challenge' && offSession)
    return await fail(tx, intent, method, declined(authenticationRequired, {}), tell)
  else if (turn === 'challenge') {
    Object.assign(intent, {
      status: 'requires_action',
      payment_method: method.id,
      next_action: {
        type: 'use_stripe_sdk',
        use_stripe_sdk: { type: 'three_d_secure_redirect', source: newId('src') },
      },
    })
    await save(tx, intent)
    await tell(tx, `${intent.object}.requires_action`, intent)
  } else return await fail(tx, intent, method, declined(turn, {}), tell)
  return ok(publicFields(intent))
}

/** Applies the person's choice at the bank's challenge. */
export async function authenticate(
  tx: Transaction,
  intent: Intent,
  passed: boolean,
  tell: Tell,
): Promise<Answer> {
  const method = await load<Method>(tx, 'payment_method', intent.payment_method ?? '')
  if (intent.status !== 'requires_action' || method === undefined)
    return invalid('Nothing is to be authenticated.')
  if (passed) {
    await succeed(tx, intent, method, tell)
    return ok(publicFields(intent))
  }
  const code = `${intent.object}_authentication_failure`
  const message =
    'We are unable to authenticate your payment method. Please choose a different payment ' +
    'method and try again.'
  return await fail(tx, intent, method, invalid(message, { code }), tell)
}

export async function refund(
  tx: Transaction,
  input: { payment: Payment; amount: number | undefined; metadata: Record<string, string> },
  tell: Tell,
): Promise<Answer> {
  const { payment, metadata } = input
  const charge =
    payment.latest_charge === null
      ? undefined
      : await load<Charge>(tx, 'charge', payment.latest_charge)
  if (charge === undefined)
    return invalid(
      `This PaymentIntent (${payment.id}) does not have a successful charge to refund.`,
    )
  const left = charge.amount - charge.amount_refunded
  const amount = input.amount ?? left
  if (left === 0)
    return invalid(`Charge ${charge.id} has already been refunded.`, {
      code: 'charge_already_refunded',
    })
  if (amount <= 0 || amount > left)
    return invalid(
      `Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`,
      { param: 'amount' },
    )
  const made: Stored & { currency: string } = {
    id: newId('re'),
    object: 'refund',
    created: now(),
    amount,
    charge: charge.id,
    currency: charge.currency,
    metadata,
    payment_intent: payment.id,
    reason: null,
    status: 'succeeded',
  }
  charge.amount_refunded += amount
  charge.refunded = charge.amount_refunded === charge.amount
  await save(tx, made)
  await save(tx, charge)
  await noteMovement(tx, { of: made, category: 'refund', amount: -amount })
  await tell(tx, 'refund.created', made)
  await tell(tx, 'charge.refunded', charge)
  return ok(publicFields(made))
}
