/**
 * POST /vnpay/merchant_webapi/api/transaction: querydr and refund, signed both ways. Source:
 * https://sandbox.vnpayment.vn/apis/docs/truy-van-hoan-tien/querydr&refund.html Codes: 00 done, 02
 * unknown terminal, 03 format, 91 no such payment, 94 request repeated or refund under way, 95 the
 * payment has not succeeded, 97 signature, 99 other.
 */
import { randomUUID } from 'node:crypto'
import { inTransaction, type Database, type Transaction } from '../database.ts'
import { json, type Call, type Routes } from '../http.ts'
import { findPayment, type Payment } from './payments.ts'
import {
  hashMatches,
  momentOf,
  pipeHash,
  vnpayDate,
  type Fields,
  type VnpayTerminal,
} from './sign.ts'

const signedBy = {
  querydr: {
    request: 'RequestId Version Command TmnCode TxnRef TransactionDate CreateDate IpAddr OrderInfo',
    answer:
      'ResponseId Command ResponseCode Message TmnCode TxnRef Amount BankCode PayDate ' +
      'TransactionNo TransactionType TransactionStatus OrderInfo PromotionCode PromotionAmount',
  },
  refund: {
    request:
      'RequestId Version Command TmnCode TransactionType TxnRef Amount TransactionNo ' +
      'TransactionDate CreateBy CreateDate IpAddr OrderInfo',
    answer:
      'ResponseId Command ResponseCode Message TmnCode TxnRef Amount BankCode PayDate ' +
      'TransactionNo TransactionType TransactionStatus OrderInfo',
  },
} as const
type Command = keyof typeof signedBy

const messages: Readonly<Record<string, string>> = {
  '00': 'Success',
  '02': 'Invalid terminal',
  '03': 'Invalid data format',
  '91': 'Transaction not found',
  '94': 'Duplicate request',
  '95': 'Transaction was not successful',
  '97': 'Invalid checksum',
  '99': 'Unknown error',
}

function fieldsOf(body: Buffer): Fields | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, one]) =>
        typeof one === 'string' || typeof one === 'number' ? [[key, String(one)]] : [],
      ),
    )
  } catch {
    return undefined
  }
}

const wellFormed = (fields: Fields, command: Command): boolean =>
  /^[A-Za-z0-9]{1,32}$/.test(fields['vnp_RequestId'] ?? '') &&
  fields['vnp_Version'] === '2.1.0' &&
  /^[\x21-\x7e]{1,100}$/.test(fields['vnp_TxnRef'] ?? '') &&
  /^.{1,255}$/.test(fields['vnp_OrderInfo'] ?? '') &&
  /^[0-9A-Fa-f.:]{7,45}$/.test(fields['vnp_IpAddr'] ?? '') &&
  momentOf(fields['vnp_TransactionDate']) !== undefined &&
  momentOf(fields['vnp_CreateDate']) !== undefined &&
  (command === 'querydr' ||
    (/^0[23]$/.test(fields['vnp_TransactionType'] ?? '') &&
      /^[1-9]\d{0,11}$/.test(fields['vnp_Amount'] ?? '') &&
      /^\d{1,15}$/.test(fields['vnp_TransactionNo'] ?? '') &&
      /^.{1,245}$/.test(fields['vnp_CreateBy'] ?? '')))

/** Whether this request id is new today (VNPay remembers them for a day of Vietnam). */
async function isNewRequest(tx: Transaction, fields: Fields): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into sandbox.vnpay_requests (request_id, day) values ($1, $2) on conflict do nothing`,
    [fields['vnp_RequestId'], vnpayDate(new Date()).slice(0, 8)],
  )
  return rowCount === 1
}

/** The code of a refund; 00 when the money is returned. `payment` is locked. */
async function refund(tx: Transaction, payment: Payment, fields: Fields): Promise<string> {
  if (payment.transactionStatus !== '00') return '95'
  const { vnp_TransactionNo: no, vnp_TransactionType: type } = fields
  if (no !== '0' && no !== payment.transactionNo.toString()) return '91'
  const wanted = BigInt(fields['vnp_Amount'] ?? '0')
  if (payment.refunded === payment.amount) return '94'
  // A full refund must be of the whole payment; partial ones may not exceed what was paid.
  if (
    type === '02'
      ? wanted !== payment.amount || payment.refunded !== 0n
      : payment.refunded + wanted > payment.amount
  )
    return '99'
  await tx.query(
    `update sandbox.vnpay_payments set refunded = refunded + $3 where tmn_code = $1
      and txn_ref = $2`,
    [payment.tmnCode, payment.txnRef, wanted],
  )
  return '00'
}

function typeOf(payment: Payment): string {
  if (payment.refunded === 0n) return '01'
  return payment.refunded === payment.amount ? '02' : '03'
}

/**
 * The status as querydr returns it: an unpaid payment whose time is over has failed; a fully
 * refunded one says so.
 */
function statusOf(payment: Payment): string {
  if (payment.responseCode === null) return payment.expiresAt.getTime() <= Date.now() ? '02' : '01'
  return payment.refunded === payment.amount ? '06' : payment.transactionStatus
}

export function apiRoutes(db: Database, terminal: VnpayTerminal): Routes {
  async function handle(
    tx: Transaction,
    command: Command,
    fields: Fields,
  ): Promise<{ code: string; about: Fields }> {
    if (
      !hashMatches(
        pipeHash(terminal.secret, fields, signedBy[command].request),
        fields['vnp_SecureHash'],
      )
    )
      return { code: '97', about: {} }
    if (!wellFormed(fields, command)) return { code: '03', about: {} }
    if (!(await isNewRequest(tx, fields))) return { code: '94', about: {} }
    const payment = await findPayment(
      tx,
      terminal.tmnCode,
      fields['vnp_TxnRef'] ?? '',
      command === 'refund',
    )
    if (
      payment === undefined ||
      payment.request['vnp_CreateDate'] !== fields['vnp_TransactionDate']
    )
      return { code: '91', about: {} }
    const common = { vnp_BankCode: 'NCB', vnp_PayDate: payment.payDate }
    if (command === 'querydr') {
      return {
        code: '00',
        about: {
          ...common,
          vnp_Amount: payment.amount.toString(),
          vnp_TransactionNo: payment.transactionNo.toString(),
          vnp_TransactionType: typeOf(payment),
          vnp_TransactionStatus: statusOf(payment),
          vnp_PromotionCode: '',
          vnp_PromotionAmount: '',
        },
      }
    }
    const code = await refund(tx, payment, fields)
    if (code !== '00') return { code, about: {} }
    const { rows } = await tx.query<{ no: string }>(
      `select nextval('sandbox.vnpay_transaction_no') as no`,
    )
    return {
      code,
      about: {
        vnp_BankCode: 'NCB',
        vnp_PayDate: vnpayDate(new Date()),
        vnp_Amount: fields['vnp_Amount'] ?? '',
        vnp_TransactionNo: rows[0]?.no ?? '0',
        vnp_TransactionType: fields['vnp_TransactionType'] ?? '',
        vnp_TransactionStatus: '05',
      },
    }
  }

  return {
    'POST /vnpay/merchant_webapi/api/transaction': async (call: Call) => {
      const fields = fieldsOf(call.body)
      const command = fields?.['vnp_Command']
      // Without a terminal there is no key for signing an answer.
      if (fields === undefined || (command !== 'querydr' && command !== 'refund'))
        return json({ vnp_ResponseCode: '03', vnp_Message: messages['03'] })
      if (fields['vnp_TmnCode'] !== terminal.tmnCode)
        return json({ vnp_ResponseCode: '02', vnp_Message: messages['02'] })
      const { code, about } = await inTransaction(db, (tx) => handle(tx, command, fields))
      const answer: Fields = {
        vnp_ResponseId: randomUUID().replaceAll('-', ''),
        vnp_Command: command,
        vnp_ResponseCode: code,
        vnp_Message: messages[code] ?? '',
        vnp_TmnCode: terminal.tmnCode,
        vnp_TxnRef: fields['vnp_TxnRef'] ?? '',
        vnp_OrderInfo: fields['vnp_OrderInfo'] ?? '',
        ...about,
      }
      return json({
        ...answer,
        vnp_SecureHash: pipeHash(terminal.secret, answer, signedBy[command].answer),
      })
    },
  }
}
