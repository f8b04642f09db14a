/** Alepay's payments, their results, and their refunds. */
import { randomBytes, randomInt } from 'node:crypto'
import { inTransaction, type Database, type Transaction } from '../database.ts'
import type { Wording } from '../checkout-page.ts'

export const paymentTables = `
  create table if not exists sandbox.alepay_payments (
    transaction_code text primary key,
    order_code text not null unique,
    token text not null unique,
    request jsonb not null,
    signature text not null,
    amount bigint not null,
    expires_at timestamptz not null,
    status text not null default '107',
    decided_at timestamptz,
    cancelled boolean not null default false,
    created_at timestamptz not null default now()
  );
  create table if not exists sandbox.alepay_refunds (
    merchant_refund_code text primary key,
    transaction_code text not null references sandbox.alepay_payments,
    amount bigint not null,
    reason text not null,
    created_at timestamptz not null default now()
  );
  alter table sandbox.alepay_refunds add column if not exists status text not null default '000'`

/** The fields of request-payment, checked. */
export interface PaymentRequest {
  readonly orderCode: string
  readonly orderDescription: string
  readonly amount: number
  readonly language: 'en' | 'vi'
  readonly returnUrl: string
  readonly cancelUrl: string
  readonly buyerName: string
  readonly buyerEmail: string
  readonly buyerPhone: string
  readonly paymentHours: string
  readonly signature: string
}
export interface Payment {
  readonly transactionCode: string
  readonly orderCode: string
  readonly token: string
  readonly request: PaymentRequest
  readonly signature: string
  /** Đồng. */
  readonly amount: bigint
  readonly expiresAt: Date
  /** 107: the customer has not chosen yet; 150: under review; otherwise decided. */
  readonly status: string
  readonly decidedAt: Date | null
  readonly cancelled: boolean
  readonly createdAt: Date
}
interface Row {
  transaction_code: string
  order_code: string
  token: string
  request: PaymentRequest
  signature: string
  amount: string
  expires_at: Date
  status: string
  decided_at: Date | null
  cancelled: boolean
  created_at: Date
}
const paymentOf = (row: Row): Payment => ({
  transactionCode: row.transaction_code,
  orderCode: row.order_code,
  token: row.token,
  request: row.request,
  signature: row.signature,
  amount: BigInt(row.amount),
  expiresAt: row.expires_at,
  status: row.status,
  decidedAt: row.decided_at,
  cancelled: row.cancelled,
  createdAt: row.created_at,
})

type Name = 'transaction_code' | 'order_code' | 'token'
/** `lock` locks the row until the transaction ends. */
export async function findPayment(
  db: Database | Transaction,
  by: Name,
  value: string,
  lock = false,
): Promise<Payment | undefined> {
  const { rows } = await db.query<Row>(
    `select * from sandbox.alepay_payments where ${by} = $1${lock ? ' for update' : ''}`,
    [value],
  )
  return rows[0] === undefined ? undefined : paymentOf(rows[0])
}

const newCode = (): string =>
  `ALE${Array.from({ length: 7 }, () => randomInt(36).toString(36).toUpperCase()).join('')}`

/** The payment that a request begins. A repeated order code returns the existing payment. */
export async function openPayment(db: Database, request: PaymentRequest): Promise<Payment> {
  await db.query(
    `insert into sandbox.alepay_payments (transaction_code, order_code, token, request, signature,
     amount, expires_at)
     values ($1, $2, $3, $4, $5, $6, now() + $7 * interval '1 hour')
     on conflict (order_code) do nothing`,
    [
      newCode(),
      request.orderCode,
      randomBytes(24).toString('base64url'),
      request,
      request.signature,
      request.amount,
      Number(request.paymentHours),
    ],
  )
  const payment = await findPayment(db, 'order_code', request.orderCode)
  if (payment === undefined) throw new Error('a payment was lost')
  return payment
}

/** The effect of a choice on the page. `notice`: when the merchant receives the webhook. */
export interface Outcome extends Wording {
  readonly status: string
  readonly notice: 'now' | 'late' | 'lost'
  readonly cancels?: boolean
}
/** By the value of the form's field `outcome`. */
export const outcomes: Readonly<Record<string, Outcome>> = {
  paid: { status: '000', notice: 'now', en: 'Pay', vi: 'Thanh toán' },
  declined: {
    status: '135',
    notice: 'now',
    en: 'Fail: declined by the issuer (135)',
    vi: 'Thất bại: ngân hàng phát hành từ chối (135)',
  },
  cancelled: { status: '111', notice: 'now', cancels: true, en: 'Cancel', vi: 'Huỷ giao dịch' },
  late: {
    status: '000',
    notice: 'late',
    en: 'Pay, the merchant hears of it late',
    vi: 'Thanh toán, webhook đến muộn',
  },
  lost: {
    status: '000',
    notice: 'lost',
    en: 'Pay, the merchant never hears of it',
    vi: 'Thanh toán, webhook bị mất',
  },
  review: {
    status: '150',
    notice: 'now',
    en: 'Pay, the card is held for review (150)',
    vi: 'Thanh toán, thẻ bị giữ để duyệt (150)',
  },
  failed: { status: '111', notice: 'now', en: 'Fail (111)', vi: 'Thất bại (111)' },
  over_limit: {
    status: '154',
    notice: 'now',
    en: 'Over the limit of the card (154)',
    vi: 'Vượt hạn mức thẻ (154)',
  },
}
/** The bank's decisions after a review. */
export const reviewOutcomes: Readonly<Record<string, Outcome>> = {
  approved: { status: '000', notice: 'now', en: 'The bank approves', vi: 'Ngân hàng duyệt' },
  refused: {
    status: '135',
    notice: 'now',
    en: 'The bank refuses (135)',
    vi: 'Ngân hàng từ chối (135)',
  },
}
const expired: Outcome = { status: '111', notice: 'now', en: 'Expired', vi: 'Hết hạn' }

/**
 * The status as get-transaction-info returns it: an unpaid payment whose time is over has failed.
 */
export const statusNow = (payment: Payment): string =>
  payment.status === '107' && payment.expiresAt.getTime() <= Date.now() ? '111' : payment.status

/**
 * Stores a choice, once: a second click gets the first one's result, and only a review is decided
 * twice. After the payment's time every choice fails. The webhook is queued in the same
 * transaction; its id is returned when it is to be sent at once.
 */
export async function decide(
  db: Database,
  token: string,
  name: string,
  queue: (tx: Transaction, payment: Payment, notice: 'now' | 'late') => Promise<string>,
): Promise<{ payment: Payment; webhookId: string | null } | undefined> {
  return inTransaction(db, async (tx) => {
    const before = await findPayment(tx, 'token', token, true)
    if (before === undefined) return undefined
    const open = before.status === '107'
    const choices = open ? outcomes : reviewOutcomes
    const choice = Object.hasOwn(choices, name) ? choices[name] : undefined
    if (!open && before.status !== '150') return { payment: before, webhookId: null }
    // A click on the first page after the review has begun counts as a second click.
    if (choice === undefined)
      return open || !Object.hasOwn(outcomes, name)
        ? undefined
        : { payment: before, webhookId: null }
    const outcome = open && before.expiresAt.getTime() <= Date.now() ? expired : choice
    const { rows } = await tx.query<Row>(
      `update sandbox.alepay_payments set status = $2, decided_at = now(), cancelled = $3
        where token = $1 returning *`,
      [token, outcome.status, outcome.cancels ?? false],
    )
    if (rows[0] === undefined) return undefined
    const payment = paymentOf(rows[0])
    if (outcome.notice === 'lost') return { payment, webhookId: null }
    const id = await queue(tx, payment, outcome.notice)
    return { payment, webhookId: outcome.notice === 'now' ? id : null }
  })
}

export interface Refund {
  readonly merchantRefundCode: string
  readonly transactionCode: string
  /** Đồng. */
  readonly amount: bigint
  readonly reason: string
  readonly createdAt: Date
  /** 000: refunded; 107: being processed; 111: refused by the customer's bank. */
  readonly status: string
}
interface RefundRow {
  merchant_refund_code: string
  transaction_code: string
  amount: string
  reason: string
  created_at: Date
  status: string
}
const refundOf = (row: RefundRow): Refund => ({
  merchantRefundCode: row.merchant_refund_code,
  transactionCode: row.transaction_code,
  amount: BigInt(row.amount),
  reason: row.reason,
  createdAt: row.created_at,
  status: row.status,
})

export async function findRefund(
  db: Database | Transaction,
  merchantRefundCode: string,
): Promise<Refund | undefined> {
  const { rows } = await db.query<RefundRow>(
    'select * from sandbox.alepay_refunds where merchant_refund_code = $1',
    [merchantRefundCode],
  )
  return rows[0] === undefined ? undefined : refundOf(rows[0])
}

/**
 * Refunds a payment, or returns the code of the refusal: 136 no such payment, 111 nothing was paid
 * or the code was used before, 156 more than is left.
 */
export async function refundPayment(
  db: Database,
  input: { transactionCode: string; merchantRefundCode: string; amount: bigint; reason: string },
): Promise<{ payment: Payment; refund: Refund } | string> {
  return inTransaction(db, async (tx) => {
    const payment = await findPayment(tx, 'transaction_code', input.transactionCode, true)
    if (payment === undefined) return '136'
    if (payment.status !== '000' || (await findRefund(tx, input.merchantRefundCode)) !== undefined)
      return '111'
    const { rows: sums } = await tx.query<{ gone: string }>(
      `select coalesce(sum(amount), 0)::bigint as gone from sandbox.alepay_refunds
        where transaction_code = $1`,
      [input.transactionCode],
    )
    if (BigInt(sums[0]?.gone ?? '0') + input.amount > payment.amount) return '156'
    const { rows } = await tx.query<RefundRow>(
      `insert into sandbox.alepay_refunds (merchant_refund_code, transaction_code, amount, reason)
        values ($1, $2, $3, $4) returning *`,
      [input.merchantRefundCode, input.transactionCode, input.amount, input.reason],
    )
    if (rows[0] === undefined) throw new Error('a refund was lost')
    return { payment, refund: refundOf(rows[0]) }
  })
}
