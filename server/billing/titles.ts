/** Titles of notifications about invoices, subscriptions and low wallets. */
import type { Language } from '../../contract/errors.ts'
import { formatMoney, type Currency } from '../../contract/money.ts'
import type { Titles } from '../realtime/index.ts'

interface Known {
  payment?: { number?: string | null; amount_paid?: number; amount_due?: number; currency?: string }
  subscription?: {
    renewalPrice?: number
    currency?: string
    actsOn?: string
    subject?: { name: string } | null
  }
  wallet?: {
    days?: number
    change?: string
    currency?: string
    amount?: number
    limit?: number
    owed?: number
    dueOn?: string | null
  }
  wp?: { name?: string }
}

const money = (amount: number | undefined, currency: string | undefined, language: Language) =>
  formatMoney(amount ?? 0, (currency ?? 'VND') as Currency, language)

/** `days`: whole days; 0 is less than one. The letter uses this text too. */
export function runsOut(days: number, language: Language): string {
  if (days === 0)
    return language === 'vi'
      ? 'Số dư ví sẽ hết trong vòng 24 giờ'
      : 'Your balance runs out within a day'
  return language === 'vi'
    ? `Số dư ví sẽ hết sau ${days} ngày`
    : `Your balance runs out in ${days} ${days === 1 ? 'day' : 'days'}`
}

/** The event of a credit line; the payload names which. */
function creditLine(wallet: Known['wallet'], language: Language): string {
  const { change, currency, amount, limit, owed, dueOn } = wallet ?? {}
  const shown = (sum: number | undefined): string => money(sum, currency, language)
  const vi = language === 'vi'
  switch (change) {
    case 'lent':
      return vi
        ? `Đã ghi nợ ${shown(amount)} theo hạn mức công nợ`
        : `Your credit line lent ${shown(amount)}`
    case 'due':
      return vi
        ? `Khoản nợ ${shown(owed)} đến hạn ngày ${dueOn ?? ''}`
        : `${shown(owed)} is owed, the first of it by ${dueOn ?? ''}`
    case 'overdue':
      return vi ? `Khoản nợ ${shown(owed)} đã quá hạn` : `${shown(owed)} is owed and overdue`
    case 'ended':
      return vi ? 'Hạn mức công nợ đã kết thúc' : 'Your credit line has ended'
    default:
      return vi ? `Hạn mức công nợ của bạn: ${shown(limit)}` : `Your credit line is ${shown(limit)}`
  }
}

export const titles = {
  'invoice.create'(payload, language) {
    const { payment } = payload as Known
    const number = payment?.number ?? null
    if (number === null)
      return language === 'vi' ? 'Đơn hàng đang chờ thanh toán' : 'Order awaiting payment'
    return language === 'vi' ? `Đã phát hành hoá đơn ${number}` : `Invoice ${number} issued`
  },
  'invoice.paid'(payload, language) {
    const { payment } = payload as Known
    const number = payment?.number ?? ''
    const paid = money(payment?.amount_paid, payment?.currency, language)
    return language === 'vi'
      ? `Đã thanh toán hoá đơn ${number}: ${paid}`
      : `Invoice ${number} paid: ${paid}`
  },
  'invoice.lapsed': (_payload, language) =>
    language === 'vi'
      ? 'Đơn hàng đã hết hiệu lực vì không được thanh toán đúng hạn'
      : 'Order lapsed: it was not paid in time',
  'invoice.payment_failed'(payload, language) {
    const { payment } = payload as Known
    const number = payment?.number ?? null
    const due = money(payment?.amount_due, payment?.currency, language)
    if (language === 'vi')
      return number === null
        ? `Đơn hàng chưa được thanh toán, còn thiếu ${due}`
        : `Hoá đơn ${number} chưa được thanh toán, còn thiếu ${due}`
    return number === null ? `Order not paid: ${due} due` : `Invoice ${number} not paid: ${due} due`
  },
  'subscribe.create': (_payload, language) =>
    language === 'vi' ? 'Đã đặt gói dịch vụ' : 'Subscription ordered',
  'subscription.created': (_payload, language) =>
    language === 'vi' ? 'Gói dịch vụ đã bắt đầu' : 'Subscription started',
  'subscription.updated': (_payload, language) =>
    language === 'vi' ? 'Đã cập nhật gói dịch vụ' : 'Subscription updated',
  'subscription.price_announced'(payload, language) {
    const { subscription, wp } = payload as Known
    const price = money(subscription?.renewalPrice, subscription?.currency, language)
    const day = subscription?.actsOn ?? ''
    // Older rows have the server's name in `wp` only.
    const name = subscription?.subject?.name ?? wp?.name
    return language === 'vi'
      ? `${name ?? 'Gói dịch vụ'} sẽ có giá ${price} mỗi tháng từ ngày ${day}`
      : `${name ?? 'Your subscription'} will cost ${price} a month from ${day}`
  },
  'wallet.credit_line': (payload, language) => creditLine((payload as Known).wallet, language),
  'wallet.low': (payload, language) => runsOut((payload as Known).wallet?.days ?? 0, language),
} satisfies Partial<Titles>
