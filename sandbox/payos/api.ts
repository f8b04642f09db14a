/**
 * POST /v2/payment-requests, GET /v2/payment-requests/{order code or id}, POST …/cancel. Refusals
 * come with status 200, as payOS sends them. Codes: 00 done, 20 fields, 101 no such link, 201
 * signature, 214 wrong client id or API key, 231 order code used before.
 */
import type { Database } from '../database.ts'
import { json, type Call, type Reply, type Routes } from '../http.ts'
import {
  cancelLink,
  findLink,
  isOpen,
  makeLink,
  paidOf,
  statusOf,
  type Link,
  type LinkRequest,
  type Transfer,
} from './links.ts'
import { vietQr } from './qr.ts'
import { dataSignature, requestSignature, same, type Channel } from './sign.ts'

/** The account for the transfers, which payOS opened for the merchant. */
export const account = {
  bin: '970422',
  bank: 'MB Bank',
  number: 'VQRQ00SANDBOX',
  name: 'CONG TY SANDBOX',
} as const

const messages = {
  '20': 'Thông tin truyền lên không đúng',
  '101': 'Mã thanh toán không tồn tại',
  '201': 'Mã kiểm tra(signature) không hợp lệ',
  '214': 'Cổng thanh toán không tồn tại hoặc đã tạm dừng',
  '231': 'Đơn thanh toán đã tồn tại',
} as const
const refuse = (code: keyof typeof messages): Reply =>
  json({ code, desc: messages[code], data: null, signature: null })

type Fields = Readonly<Record<string, unknown>>
function bodyOf(call: Call): Fields | undefined {
  try {
    const value: unknown = JSON.parse(call.body.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Fields)
      : undefined
  } catch {
    return undefined
  }
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0
const isUrl = (value: unknown): boolean =>
  typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
const shapes: Readonly<Record<string, (value: unknown) => boolean>> = {
  orderCode: isCount,
  amount: isCount,
  description: (value) => typeof value === 'string' && /^[A-Za-z0-9 ]{1,25}$/.test(value),
  returnUrl: isUrl,
  cancelUrl: isUrl,
  signature: (value) => typeof value === 'string',
}
const optional: typeof shapes = {
  expiredAt: (value) => isCount(value) && Number(value) * 1000 > Date.now(),
}

const inOrder = (body: Fields): boolean =>
  Object.keys(body).every((name) => name in shapes || name in optional) &&
  Object.entries(shapes).every(([name, is]) => is(body[name])) &&
  Object.entries(optional).every(([name, is]) => !(name in body) || is(body[name]))

/** 2026-11-21T10:31:00+07:00 */
export const vietnamIso = (date: Date): string =>
  `${new Date(date.getTime() + 25_200_000).toISOString().slice(0, 19)}+07:00`

/** The transfer's fields that both the link's answer and the webhook contain. */
export const transferData = (link: Link, transfer: Transfer) => ({
  reference: transfer.reference,
  amount: Number(transfer.amount),
  accountNumber: account.number,
  description: link.request.description,
  virtualAccountName: '',
  virtualAccountNumber: '',
  counterAccountBankId: '',
  counterAccountBankName: '',
  counterAccountName: null,
  counterAccountNumber: null,
})

const linkData = (link: Link) => ({
  id: link.id,
  orderCode: Number(link.orderCode),
  amount: Number(link.amount),
  amountPaid: Number(paidOf(link)),
  amountRemaining: Math.max(0, Number(link.amount - paidOf(link))),
  status: statusOf(link),
  createdAt: vietnamIso(link.createdAt),
  transactions: link.transfers.map((transfer) => ({
    ...transferData(link, transfer),
    transactionDateTime: vietnamIso(transfer.at),
  })),
  canceledAt: link.cancelledAt === null ? null : vietnamIso(link.cancelledAt),
  cancellationReason: link.cancellationReason,
})

export const qrOf = (link: Link): string =>
  vietQr({
    bin: account.bin,
    account: account.number,
    amount: link.amount,
    content: link.request.description,
  })

export function apiRoutes(db: Database, channel: Channel, url: () => string): Routes {
  const answer = (data: Fields): Reply =>
    json({ code: '00', desc: 'success', data, signature: dataSignature(data, channel.checksumKey) })
  const known = ({ headers }: Call): boolean =>
    same(channel.clientId.toLowerCase(), headers['x-client-id']) &&
    same(channel.apiKey.toLowerCase(), headers['x-api-key'])
  const find = ({ params }: Call): Promise<Link | undefined> => {
    const name = params['id'] ?? ''
    return /^\d{1,16}$/.test(name) ? findLink(db, 'order_code', name) : findLink(db, 'id', name)
  }

  async function create(call: Call): Promise<Reply> {
    if (!known(call)) return refuse('214')
    const body = bodyOf(call)
    if (body === undefined || !inOrder(body)) return refuse('20')
    if (!same(requestSignature(body, channel.checksumKey), body['signature'])) return refuse('201')
    const link = await makeLink(db, body as unknown as LinkRequest)
    if (link === undefined) return refuse('231')
    return answer({
      bin: account.bin,
      accountNumber: account.number,
      accountName: account.name,
      amount: Number(link.amount),
      description: link.request.description,
      orderCode: Number(link.orderCode),
      currency: 'VND',
      paymentLinkId: link.id,
      status: statusOf(link),
      expiredAt: Math.floor(link.expiresAt.getTime() / 1000),
      checkoutUrl: `${url()}/payos/web/${link.id}`,
      qrCode: qrOf(link),
    })
  }

  return {
    'POST /v2/payment-requests': create,
    'GET /v2/payment-requests/:id': async (call) => {
      if (!known(call)) return refuse('214')
      const link = await find(call)
      return link === undefined ? refuse('101') : answer(linkData(link))
    },
    'POST /v2/payment-requests/:id/cancel': async (call) => {
      if (!known(call)) return refuse('214')
      const link = await find(call)
      if (link === undefined) return refuse('101')
      const reason = bodyOf(call)?.['cancellationReason']
      if (!isOpen(link)) return refuse('20')
      await cancelLink(db, link.orderCode, typeof reason === 'string' ? reason : null)
      const after = await findLink(db, 'id', link.id)
      return answer(linkData(after ?? link))
    },
  }
}
