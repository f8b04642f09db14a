/**
 * Stripe as a merchant and a browser meet it: the API with the secret key, Stripe.js with the
 * publishable key, signed events. Sources: https://docs.stripe.com/api,
 * https://docs.stripe.com/webhooks, https://docs.stripe.com/testing
 *
 * For a program in place of a person:
 *   POST /v1/payment_methods, /v1/setup_intents/{id}/confirm, /v1/payment_intents/{id}/confirm with
 *   the publishable key and the
 *        client secret, as Stripe.js does (application/x-www-form-urlencoded)
 *   POST /stripe/3ds intent, client_secret, outcome = confirm | refuse the bank's challenge POST
 *   /stripe/dashboard action = refund (payment, amount?) | fail_refund (refund) | dispute (payment)
 *   | inquire (payment) | win | lose (dispute) | fail_payout (payout) | fee (amount) |
 *        pay_out (currency, manner? = manual | unreadable)
 *        events (manner = now | late | lost | twice)     how events go from then on
 *   answers 303. Events are sent again after 1, 2, 4 … 60 s, ten times, until they are answered
 *   with 2xx.
 */
import { createHmac } from 'node:crypto'
import { inTransaction, type Database, type Transaction } from '../database.ts'
import type { Gateway, GatewayOptions, Keys } from '../gateway.ts'
import { formOf, redirect, type Call, type Reply } from '../http.ts'
import { startWebhooks } from '../webhooks.ts'
import { invalid, type Answer } from './answer.ts'
import { createApi } from './api.ts'
import { failPayout, payOut, takeFee } from './balance.ts'
import { closeDispute, failRefund, openDispute } from './dashboard.ts'
import { authenticate, refund, type Intent, type Payment, type Tell } from './intents.ts'
import { browserRoutes, challengePage, dashboardPage } from './page.ts'
import { find, load, newId, publicFields, type Stored } from './store.ts'

export { stripeTables } from './store.ts'

const manners = ['now', 'late', 'lost', 'twice'] as const
type Manner = (typeof manners)[number]
/** The events that the portal's README tells an operator to subscribe to. */
const subscribed = new Set([
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'payment_intent.processing',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.refunded',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
])
const apiVersion = '2026-10-28.endive'

/** Opens Stripe for one account: keys `secretKey`, `publishableKey`, `webhookSecret`. */
export function openStripe(db: Database, keys: Keys, options: GatewayOptions): Gateway {
  const { secretKey = '', publishableKey = '', webhookSecret = '' } = keys
  let manner: Manner = 'now'
  const webhooks = startWebhooks(
    db,
    {
      gateway: 'stripe',
      target: options.webhookUrl,
      // Signed when it is sent, because the signature contains the time.
      call(body) {
        const at = Math.floor(Date.now() / 1000)
        const mac = createHmac('sha256', webhookSecret).update(`${at}.${body}`).digest('hex')
        return {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'stripe-signature': `t=${at},v1=${mac}` },
          body,
        }
      },
      accepts: ({ status }) => status >= 200 && status < 300,
    },
    options,
  )

  /** Runs one transaction. Its events are sent after it, without delaying the caller's response. */
  async function telling(work: (tx: Transaction, tell: Tell) => Promise<Answer>): Promise<Answer> {
    const queued: string[] = []
    const tell: Tell = async (tx, type, of: Stored) => {
      if (!subscribed.has(type)) return
      const event = {
        id: newId('evt'),
        object: 'event',
        api_version: apiVersion,
        created: Math.floor(Date.now() / 1000),
        data: { object: publicFields(of) },
        livemode: false,
        pending_webhooks: 1,
        request: { id: null, idempotency_key: null },
        type,
      }
      const times = { now: 1, late: 1, lost: 0, twice: 2 }[manner]
      for (let time = 0; time < times; time++) {
        const id = await webhooks.add(tx, JSON.stringify(event), manner === 'late' ? 'late' : 'now')
        if (manner !== 'late') queued.push(id)
      }
    }
    const answer = await inTransaction(db, (tx) => work(tx, tell))
    for (const id of queued) void webhooks.sendNow(id)
    webhooks.wake()
    return answer
  }

  async function challenge(call: Call): Promise<Reply> {
    const form = formOf(call)
    const id = form.get('intent') ?? ''
    const answer = await telling(async (tx, tell) => {
      const intent = await load<Intent>(
        tx,
        id.startsWith('pi_') ? 'payment_intent' : 'setup_intent',
        id,
      )
      if (intent?.client_secret !== form.get('client_secret'))
        return invalid('No such intent.', {}, 404)
      return await authenticate(tx, intent, form.get('outcome') === 'confirm', tell)
    })
    return {
      status: answer.status,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(answer.body),
    }
  }

  async function act(call: Call): Promise<Reply> {
    const form = formOf(call)
    const wanted = (name: string): string => form.get(name) ?? ''
    const action = wanted('action')
    if (action === 'events') manner = manners.find((known) => known === wanted('manner')) ?? 'now'
    else
      await telling(async (tx, tell) => {
        if (action === 'fail_refund') return await failRefund(tx, wanted('refund'), tell)
        if (action === 'pay_out')
          return await payOut(tx, wanted('currency') || 'aud', wanted('manner'))
        if (action === 'fail_payout') return await failPayout(tx, wanted('payout'))
        if (action === 'fee') return await takeFee(tx, 'aud', Number(wanted('amount')))
        if (action === 'win' || action === 'lose')
          return await closeDispute(tx, wanted('dispute'), action === 'win', tell)
        const payment = await load<Payment>(tx, 'payment_intent', wanted('payment'))
        if (!payment) return invalid('No such payment.', {}, 404)
        if (action === 'dispute' || action === 'inquire')
          return await openDispute(tx, payment, tell, action === 'inquire')
        const amount = wanted('amount')
        return await refund(
          tx,
          { payment, amount: /^\d+$/.test(amount) ? Number(amount) : undefined, metadata: {} },
          tell,
        )
      })
    return redirect('/stripe/dashboard')
  }

  const show = (): Promise<Reply> =>
    inTransaction(db, async (tx) =>
      dashboardPage({
        manner,
        manners,
        payments: await find<Payment>(tx, 'payment_intent', null, 20),
        refunds: await find(tx, 'refund', null, 20),
        disputes: await find(tx, 'dispute', null, 20),
        payouts: await find(tx, 'payout', null, 5),
      }),
    )

  return {
    routes: {
      '/v1/*': createApi({ db, keys: { secretKey, publishableKey }, telling }),
      ...browserRoutes(() => new URL(options.webhookUrl()).origin),
      'GET /stripe/3ds': ({ query }) =>
        challengePage({
          intent: query.get('intent') ?? '',
          secret: query.get('client_secret') ?? '',
          portal: new URL(options.webhookUrl()).origin,
        }),
      'POST /stripe/3ds': challenge,
      'GET /stripe/dashboard': show,
      'POST /stripe/dashboard': act,
    },
    close: () => webhooks.close(),
  }
}
