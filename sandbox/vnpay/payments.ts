/** VNPay's payments, and their results. */
import { randomBytes } from 'node:crypto'
import { inTransaction, type Database, type Transaction } from '../database.ts'
import { vnpayDate, type Fields } from './sign.ts'

export const paymentTables = `
  create sequence if not exists sandbox.vnpay_transaction_no start 14000001;
  create table if not exists sandbox.vnpay_payments (
    tmn_code text not null,
    txn_ref text not null,
    token text not null unique,
    request jsonb not null,
    request_hash text not null,
    amount bigint not null,
    expires_at timestamptz not null,
    response_code text,
    transaction_status text not null default '01',
    transaction_no bigint not null default 0,
    pay_date text not null default '',
    refunded bigint not null default 0,
    created_at timestamptz not null default now(),
    primary key (tmn_code, txn_ref)
  );
  create table if not exists sandbox.vnpay_requests (
    request_id text not null,
    day date not null,
    primary key (request_id, day)
  )`

export interface Payment {
  readonly tmnCode: string
  readonly txnRef: string
  readonly token: string
  readonly request: Fields
  readonly requestHash: string
  /** vnp_Amount: đồng × 100. */
  readonly amount: bigint
  readonly expiresAt: Date
  /** Null while the customer has not chosen. */
  readonly responseCode: string | null
  readonly transactionStatus: string
  /** 0: no money has moved. */
  readonly transactionNo: bigint
  readonly payDate: string
  /** đồng × 100. */
  readonly refunded: bigint
}

interface Row {
  tmn_code: string
  txn_ref: string
  token: string
  request: Fields
  request_hash: string
  amount: string
  expires_at: Date
  response_code: string | null
  transaction_status: string
  transaction_no: string
  pay_date: string
  refunded: string
}
export const paymentOf = (row: Row): Payment => ({
  tmnCode: row.tmn_code,
  txnRef: row.txn_ref,
  token: row.token,
  request: row.request,
  requestHash: row.request_hash,
  amount: BigInt(row.amount),
  expiresAt: row.expires_at,
  responseCode: row.response_code,
  transactionStatus: row.transaction_status,
  transactionNo: BigInt(row.transaction_no),
  payDate: row.pay_date,
  refunded: BigInt(row.refunded),
})

/** The payment of a terminal by its reference; `lock` locks the row until the transaction ends. */
export async function findPayment(
  db: Database | Transaction,
  tmnCode: string,
  txnRef: string,
  lock = false,
): Promise<Payment | undefined> {
  const { rows } = await db.query<Row>(
    `select * from sandbox.vnpay_payments where tmn_code = $1
      and txn_ref = $2${lock ? ' for update' : ''}`,
    [tmnCode, txnRef],
  )
  return rows[0] === undefined ? undefined : paymentOf(rows[0])
}

/** The payment that a verified link begins. A repeated reference returns the existing payment. */
export async function openPayment(
  db: Database,
  request: Fields,
  requestHash: string,
  expiresAt: Date,
): Promise<Payment> {
  await db.query(
    `insert into sandbox.vnpay_payments (tmn_code, txn_ref, token, request, request_hash, amount,
     expires_at) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (tmn_code, txn_ref) do nothing`,
    [
      request['vnp_TmnCode'],
      request['vnp_TxnRef'],
      randomBytes(24).toString('base64url'),
      request,
      requestHash,
      request['vnp_Amount'],
      expiresAt,
    ],
  )
  const payment = await findPayment(db, request['vnp_TmnCode'] ?? '', request['vnp_TxnRef'] ?? '')
  if (payment === undefined) throw new Error('a payment was lost')
  return payment
}

/** The effect of a choice on the page. `notice`: when the merchant receives the webhook. */
export interface Outcome {
  readonly responseCode: string
  readonly transactionStatus: string
  readonly notice: 'now' | 'late' | 'lost'
  readonly en: string
  readonly vi: string
}
const failed = (responseCode: string, en: string, vi: string): Outcome => ({
  responseCode,
  transactionStatus: '02',
  notice: 'now',
  en,
  vi,
})
const paid = { responseCode: '00', transactionStatus: '00' } as const

/** By the value of the form's field `outcome`. */
export const outcomes: Readonly<Record<string, Outcome>> = {
  paid: { ...paid, notice: 'now', en: 'Pay', vi: 'Thanh toán' },
  insufficient: failed(
    '51',
    'Not enough money on the account (51)',
    'Tài khoản không đủ số dư (51)',
  ),
  cancelled: failed('24', 'Cancel', 'Huỷ giao dịch'),
  late: {
    ...paid,
    notice: 'late',
    en: 'Pay, the merchant hears of it late',
    vi: 'Thanh toán, IPN đến muộn',
  },
  lost: {
    ...paid,
    notice: 'lost',
    en: 'Pay, the merchant never hears of it',
    vi: 'Thanh toán, IPN bị mất',
  },
  suspicious: {
    responseCode: '07',
    transactionStatus: '07',
    notice: 'now',
    en: 'Debited, under suspicion of fraud (07)',
    vi: 'Trừ tiền thành công, giao dịch nghi ngờ (07)',
  },
  wrong_otp: failed('13', 'Wrong one-time password (13)', 'Sai mật khẩu OTP (13)'),
  wrong_details: failed(
    '10',
    'Wrong card details, three times (10)',
    'Sai thông tin thẻ quá 3 lần (10)',
  ),
  not_registered: failed(
    '09',
    'Not registered for internet banking (09)',
    'Chưa đăng ký Internet Banking (09)',
  ),
  locked: failed('12', 'Card is locked (12)', 'Thẻ bị khoá (12)'),
  over_limit: failed('65', 'Over the daily limit (65)', 'Vượt hạn mức giao dịch trong ngày (65)'),
  maintenance: failed('75', 'Bank under maintenance (75)', 'Ngân hàng đang bảo trì (75)'),
  other: failed('99', 'Other error (99)', 'Lỗi khác (99)'),
}
const expired: Outcome = failed('11', 'Expired', 'Hết hạn')

/** The fields of a decided payment for the webhook and the return URL; unsigned. */
export function webhookFields(payment: Payment): Fields {
  const card = { INTCARD: ['VISA', 'VISA'], VNPAYQR: ['NCB', 'QRCODE'] }[
    payment.request['vnp_BankCode'] ?? ''
  ] ?? ['NCB', 'ATM']
  const moved = payment.transactionNo !== 0n
  return {
    vnp_Amount: payment.amount.toString(),
    vnp_BankCode: card[0] ?? '',
    vnp_BankTranNo: moved ? `VNP${payment.transactionNo}` : '',
    vnp_CardType: card[1] ?? '',
    vnp_OrderInfo: payment.request['vnp_OrderInfo'] ?? '',
    vnp_PayDate: payment.payDate,
    vnp_ResponseCode: payment.responseCode ?? '99',
    vnp_TmnCode: payment.tmnCode,
    vnp_TransactionNo: payment.transactionNo.toString(),
    vnp_TransactionStatus: payment.transactionStatus,
    vnp_TxnRef: payment.txnRef,
  }
}

/**
 * Stores the customer's choice, once: a second click gets the first one's result. After the
 * payment's time every choice becomes "not paid in time". The webhook is queued in the same
 * transaction; its id is returned when it is to be sent at once.
 */
export async function decide(
  db: Database,
  token: string,
  picked: Outcome,
  queue: (tx: Transaction, payment: Payment, notice: 'now' | 'late') => Promise<string>,
): Promise<{ payment: Payment; webhookId: string | null } | undefined> {
  return inTransaction(db, async (tx) => {
    const { rows } = await tx.query<Row>(
      'select * from sandbox.vnpay_payments where token = $1 for update',
      [token],
    )
    if (rows[0] === undefined) return undefined
    const before = paymentOf(rows[0])
    if (before.responseCode !== null) return { payment: before, webhookId: null }
    const outcome = before.expiresAt.getTime() <= Date.now() ? expired : picked
    const { rows: after } = await tx.query<Row>(
      `update sandbox.vnpay_payments set response_code = $2, transaction_status = $3, pay_date = $4,
         transaction_no = case when $3 in ('00', '07') then nextval('sandbox.vnpay_transaction_no')
         else 0 end
       where token = $1 returning *`,
      [token, outcome.responseCode, outcome.transactionStatus, vnpayDate(new Date())],
    )
    if (after[0] === undefined) return undefined
    const payment = paymentOf(after[0])
    if (outcome.notice === 'lost') return { payment, webhookId: null }
    const id = await queue(tx, payment, outcome.notice)
    return { payment, webhookId: outcome.notice === 'now' ? id : null }
  })
}
