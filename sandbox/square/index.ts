/**
 * Square's Payments API as a seller in Australia meets it: payments, refunds, disputes, signed
 * events (of the kinds that the portal's README tells an operator to subscribe to: payment.updated,
 * refund.updated, dispute.created, dispute.state.updated). Sources:
 * https://developer.squareup.com/reference/square/payments-api,
 * https://developer.squareup.com/docs/webhooks/step3validate,
 * https://developer.squareup.com/docs/devtools/sandbox/payments
 *
 * For a program in place of a person:
 *   POST /square/v2/payments source_id = cnon:card-nonce-ok | cnon:card-nonce-declined |
 *   cnon:card-nonce-rejected-cvv | any other: not found POST /square/dashboard action = refund
 *   (payment) | dispute (payment) | inquire (payment) | win | lose (dispute) | pay_out |
 *   events (manner = now | late | lost)
 *   answers 303. Events are sent again after 1, 2, 4 … 60 s, ten times, until they are answered
 *   with 2xx.
 */
import { createHmac } from 'node:crypto'
import { sameText } from '../constant-time.ts'
import { inTransaction, type Database, type Transaction } from '../database.ts'
import type { Gateway, GatewayOptions, Keys } from '../gateway.ts'
import { formOf, json, redirect, type Call, type Reply } from '../http.ts'
import { startWebhooks } from '../webhooks.ts'
import { escape, page } from '../page.ts'
import { dueAt, ledgerRoutes, moveDispute, noteEntry, payOut, type Tell } from './ledger.ts'
import { faultIn } from './schema.ts'
import { find, list, load, newId, save, type Dispute, type Payment, type Refund } from './store.ts'

export { squareTables } from './store.ts'

interface CreatePayment {
  readonly source_id: string
  readonly idempotency_key: string
  readonly amount_money?: { readonly amount: number; readonly currency: string }
  readonly location_id?: string
  readonly reference_id?: string
}
interface CreateRefund {
  readonly idempotency_key: string
  readonly payment_id?: string
  readonly amount_money: { readonly amount: number; readonly currency: string }
  readonly reason?: string
}

const fail = (
  status: number,
  code: string,
  category = 'INVALID_REQUEST_ERROR',
  detail = code,
): Reply => json({ errors: [{ category, code, detail }] }, status)
const declines: Readonly<Record<string, string>> = {
  'cnon:card-nonce-declined': 'GENERIC_DECLINE',
  'cnon:card-nonce-rejected-cvv': 'CVV_FAILURE',
}
const now = (): string => new Date().toISOString()

/** Opens Square for one seller: keys `accessToken`, `locationId`, `webhookKey`. */
export function openSquare(db: Database, keys: Keys, options: GatewayOptions): Gateway {
  const { accessToken = '', locationId = '', webhookKey = '' } = keys
  let manner = 'now'
  const webhooks = startWebhooks(
    db,
    {
      gateway: 'square',
      target: options.webhookUrl,
      call(body) {
        const mac = createHmac('sha256', webhookKey)
          .update(options.webhookUrl())
          .update(body)
          .digest('base64')
        return {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-square-hmacsha256-signature': mac },
          body,
        }
      },
      accepts: ({ status }) => status >= 200 && status < 300,
    },
    options,
  )
  async function telling<T>(work: (tx: Transaction, tell: Tell) => Promise<T>): Promise<T> {
    const queued: string[] = []
    const result = await inTransaction(db, (tx) =>
      work(tx, async (type, kind, of) => {
        if (manner === 'lost') return
        const event = {
          merchant_id: 'MSANDBOX',
          type,
          event_id: newId('evt'),
          created_at: now(),
          data: { type: kind, id: of.id, object: { [kind]: of } },
        }
        const id = await webhooks.add(tx, JSON.stringify(event), manner === 'late' ? 'late' : 'now')
        if (manner !== 'late') queued.push(id)
      }),
    )
    for (const id of queued) void webhooks.sendNow(id)
    webhooks.wake()
    return result
  }

  const entitled = ({ headers }: Call): boolean =>
    sameText(`Bearer ${accessToken}`, headers.authorization)
  const guarded =
    (work: (call: Call) => Promise<Reply>) =>
    async (call: Call): Promise<Reply> =>
      entitled(call) ? await work(call) : fail(401, 'UNAUTHORIZED', 'AUTHENTICATION_ERROR')

  async function create(call: Call): Promise<Reply> {
    const body = faultIn<CreatePayment>('CreatePaymentRequest', call.body)
    if ('fault' in body) return fail(400, 'BAD_REQUEST', undefined, body.fault)
    const input = body.read
    const money = input.amount_money
    if (!money || money.amount < 1 || money.currency !== 'AUD')
      return fail(400, 'INVALID_VALUE', undefined, 'amount_money')
    if (input.location_id !== locationId) return fail(400, 'NOT_FOUND', undefined, 'location_id')
    const fingerprint = call.body.toString('utf8')
    return await telling(async (tx, tell) => {
      const before = await find<Payment>(tx, 'payment', input.idempotency_key)
      if (before && before.fingerprint !== fingerprint) return fail(400, 'IDEMPOTENCY_KEY_REUSED')
      const decline = declines[input.source_id]
      if (!before && decline === undefined && input.source_id !== 'cnon:card-nonce-ok')
        return fail(400, 'CARD_TOKEN_USED', 'PAYMENT_METHOD_ERROR')
      const payment: Payment = before?.data ?? {
        id: newId('pay'),
        status: decline === undefined ? 'COMPLETED' : 'FAILED',
        created_at: now(),
        updated_at: now(),
        amount_money: { ...money },
        total_money: { ...money },
        source_type: 'CARD',
        location_id: locationId,
        ...(input.reference_id !== undefined && { reference_id: input.reference_id }),
        card_details: {
          status: decline === undefined ? 'CAPTURED' : 'FAILED',
          errors:
            decline === undefined ? [] : [{ category: 'PAYMENT_METHOD_ERROR', code: decline }],
        },
      }
      if (!before) {
        await save(tx, 'payment', payment, { key: input.idempotency_key, fingerprint })
        if (payment.status === 'COMPLETED')
          await noteEntry(tx, 'CHARGE', money.amount, { payment_id: payment.id })
        await tell('payment.updated', 'payment', payment)
      }
      return payment.status === 'FAILED'
        ? json(
            {
              errors: [
                {
                  category: 'PAYMENT_METHOD_ERROR',
                  code: decline ?? 'GENERIC_DECLINE',
                  detail: 'Authorization error',
                },
              ],
              payment,
            },
            402,
          )
        : json({ payment })
    })
  }

  /** Refunds a payment; `key` is null for a refund that is made by hand. */
  async function refundPayment(
    tx: Transaction,
    tell: Tell,
    payment: Payment,
    input: { amount: number; reason: string; key: string | null; fingerprint: string },
  ): Promise<Reply> {
    const gone = payment.refunded_money?.amount ?? 0
    if (payment.status !== 'COMPLETED')
      return fail(400, 'BAD_REQUEST', undefined, 'The payment is not completed.')
    if (input.amount < 1 || gone + input.amount > payment.amount_money.amount)
      return fail(400, 'REFUND_AMOUNT_INVALID', 'REFUND_ERROR')
    const refund: Refund = {
      id: newId('rfd'),
      status: 'PENDING',
      payment_id: payment.id,
      amount_money: { amount: input.amount, currency: 'AUD' },
      reason: input.reason,
      created_at: now(),
      location_id: locationId,
    }
    payment.refunded_money = { amount: gone + input.amount, currency: 'AUD' }
    payment.refund_ids = [...(payment.refund_ids ?? []), refund.id]
    await save(tx, 'payment', payment)
    await save(
      tx,
      'refund',
      refund,
      input.key === null ? undefined : { key: input.key, fingerprint: input.fingerprint },
    )
    await noteEntry(tx, 'REFUND', -input.amount, { payment_id: payment.id, refund_id: refund.id })
    await tell('refund.updated', 'refund', { ...refund, status: 'COMPLETED' })
    return json({ refund })
  }

  async function refund(call: Call): Promise<Reply> {
    const body = faultIn<CreateRefund>('RefundPaymentRequest', call.body)
    if ('fault' in body) return fail(400, 'BAD_REQUEST', undefined, body.fault)
    const input = body.read
    const fingerprint = call.body.toString('utf8')
    return await telling(async (tx, tell) => {
      const before = await find<Refund>(tx, 'refund', input.idempotency_key)
      if (before)
        return before.fingerprint === fingerprint
          ? json({ refund: before.data })
          : fail(400, 'IDEMPOTENCY_KEY_REUSED')
      const payment = await load<Payment>(tx, 'payment', input.payment_id ?? '')
      if (!payment) return fail(404, 'NOT_FOUND')
      return await refundPayment(tx, tell, payment, {
        amount: input.amount_money.amount,
        reason: input.reason ?? '',
        key: input.idempotency_key,
        fingerprint,
      })
    })
  }

  async function read({ path }: Call): Promise<Reply> {
    const payment = await inTransaction(db, (tx) =>
      load<Payment>(tx, 'payment', decodeURIComponent(path.split('/').at(-1) ?? '')),
    )
    return payment ? json({ payment }) : fail(404, 'NOT_FOUND')
  }

  async function readRefund({ path }: Call): Promise<Reply> {
    const refund = await inTransaction(db, (tx) =>
      load<Refund>(tx, 'refund', decodeURIComponent(path.split('/').at(-1) ?? '')),
    )
    return refund ? json({ refund }) : fail(404, 'NOT_FOUND')
  }

  async function search({ query }: Call): Promise<Reply> {
    const from = query.get('begin_time') ?? '1970-01-01T00:00:00Z'
    const to = query.get('end_time') ?? '9999-01-01T00:00:00Z'
    const limit = Math.min(100, Number(query.get('limit') ?? 100))
    const found = await inTransaction(db, (tx) =>
      list<Payment>(tx, 'payment', { from, to, after: Number(query.get('cursor') ?? 0), limit }),
    )
    const last = found.at(-1)
    return json({
      payments: found.map(({ data }) => data),
      ...(found.length === limit && last && { cursor: String(last.number) }),
    })
  }

  async function act(call: Call): Promise<Reply> {
    const form = formOf(call)
    const action = form.get('action')
    if (action === 'events') manner = form.get('manner') ?? 'now'
    else
      await telling(async (tx, tell) => {
        const dispute = await load<Dispute>(tx, 'dispute', form.get('dispute') ?? '')
        if (dispute) {
          return await moveDispute(tx, tell, dispute, action === 'win' ? 'WON' : 'LOST')
        }
        if (action === 'pay_out') return await payOut(tx, locationId)
        const payment = await load<Payment>(tx, 'payment', form.get('payment') ?? '')
        if (!payment) return
        const left = payment.amount_money.amount - (payment.refunded_money?.amount ?? 0)
        if (action === 'refund')
          return void (await refundPayment(tx, tell, payment, {
            amount: left,
            reason: 'by hand',
            key: null,
            fingerprint: '',
          }))
        const opened: Dispute = {
          id: newId('dsp'),
          state: action === 'inquire' ? 'INQUIRY_EVIDENCE_REQUIRED' : 'EVIDENCE_REQUIRED',
          reason: 'NO_KNOWLEDGE',
          amount_money: { amount: left, currency: 'AUD' },
          disputed_payment: { payment_id: payment.id },
          created_at: now(),
          due_at: dueAt(),
        }
        await save(tx, 'dispute', opened)
        if (action !== 'inquire')
          await noteEntry(tx, 'DISPUTE', -left, { payment_id: payment.id, dispute_id: opened.id })
        await tell('dispute.created', 'dispute', opened)
      })
    return redirect('/square/dashboard')
  }

  async function dashboard(): Promise<Reply> {
    const wide = { from: '1970-01-01T00:00:00Z', to: '9999-01-01T00:00:00Z', after: 0, limit: 100 }
    const [payments, disputes] = await inTransaction(db, async (tx) => [
      await list<Payment>(tx, 'payment', wide),
      await list<Dispute>(tx, 'dispute', wide),
    ])
    const button = (label: string, action: string, name: string, id: string): string =>
      '<form method="post" action="/square/dashboard"><input type="hidden" name="action" ' +
      `value="${action}"><input type="hidden" name="${name}" value="${escape(id)}"><button>` +
      `${label}</button></form>`
    const row = (title: string, rest: string): string =>
      `<section class="card"><h2>${escape(title)}</h2>${rest}</section>`
    const shownPayments = payments.map(({ data: one }) =>
      row(
        `${one.amount_money.amount} ${one.amount_money.currency} · ${one.status}`,
        one.status === 'COMPLETED'
          ? button('Refund', 'refund', 'payment', one.id) +
              button('Dispute', 'dispute', 'payment', one.id) +
              button('Inquire', 'inquire', 'payment', one.id)
          : '',
      ),
    )
    const shownDisputes = disputes.map(({ data: one }) =>
      row(
        `Dispute ${one.amount_money.amount} · ${one.state}`,
        /EVIDENCE_REQUIRED|PROCESSING/.test(one.state)
          ? button('Win', 'win', 'dispute', one.id) + button('Lose', 'lose', 'dispute', one.id)
          : '',
      ),
    )
    return page({
      title: 'Square — sandbox',
      language: 'en',
      main:
        '<div class="flag">SANDBOX · a trial card provider, no real money moves</div><main>' +
        '<h1>Square</h1><p class="soft">Amounts in the smallest unit.</p>' +
        button('Pay out', 'pay_out', 'all', '') +
        `${shownDisputes.join('')}${shownPayments.reverse().join('')}</main>`,
    })
  }

  return {
    routes: {
      'POST /square/v2/payments': guarded(create),
      'GET /square/v2/payments': guarded(search),
      'POST /square/v2/refunds': guarded(refund),
      '/square/v2/payments/*': guarded(read),
      '/square/v2/refunds/*': guarded(readRefund),
      ...ledgerRoutes(db, telling, guarded),
      'GET /square/dashboard': dashboard,
      'POST /square/dashboard': act,
    },
    close: () => webhooks.close(),
  }
}
