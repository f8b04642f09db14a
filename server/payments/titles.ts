/** Titles of notifications about money that reached the wallet or left it. */
import type { Language } from '../../contract/errors.ts'
import { formatMoney, type Currency } from '../../contract/money.ts'
import type { Titles } from '../realtime/index.ts'

interface Known {
  wallet?: {
    amount?: number
    currency?: string
    change?: string
    automatic?: boolean
    byTransfer?: boolean
  }
}

const amountOf = (payload: unknown, language: Language): string => {
  const { wallet } = payload as Known
  const currency = (wallet?.currency ?? 'VND') as Currency
  return formatMoney(Math.abs(wallet?.amount ?? 0), currency, language)
}
const isTaken = (payload: unknown): boolean => ((payload as Known).wallet?.amount ?? 0) < 0

const autoTopUp = ({ wallet }: Known, amount: string, language: Language): string => {
  const vi = language === 'vi'
  switch (wallet?.change) {
    case 'declined':
      return vi ? `Tự động nạp ${amount} không thành công` : `Automatic top-up of ${amount} failed`
    case 'needs_owner':
      return vi ? `Cần bạn xác nhận khoản nạp ${amount}` : `Please confirm a top-up of ${amount}`
    case 'limit':
      return vi
        ? 'Tự động nạp ví đã đạt hạn mức tháng này'
        : 'Automatic top-up has reached this month’s limit'
    default:
      return vi ? 'Tự động nạp ví đã bị tắt' : 'Automatic top-up is switched off'
  }
}

export const titles = {
  'wallet.auto_top_up': (payload, language) =>
    autoTopUp(payload as Known, amountOf(payload, language), language),
  'wallet.credited': (payload, language) => {
    const amount = amountOf(payload, language)
    if ((payload as Known).wallet?.automatic)
      return language === 'vi'
        ? `Đã tự động nạp ví: ${amount}`
        : `${amount} added to your wallet automatically`
    return language === 'vi' ? `Nạp ví thành công: ${amount}` : `${amount} added to your wallet`
  },
  'wallet.refunded': (payload, language) => {
    const amount = amountOf(payload, language)
    if ((payload as Known).wallet?.byTransfer)
      return language === 'vi'
        ? `Đang hoàn ${amount} bằng chuyển khoản`
        : `Refunding ${amount} by bank transfer`
    return language === 'vi'
      ? `Đang hoàn ${amount} về nguồn thanh toán ban đầu`
      : `Refunding ${amount} to the original payment method`
  },
  'wallet.refund_failed': (payload, language) =>
    language === 'vi'
      ? `Không hoàn được ${amountOf(payload, language)}; số tiền đã trở lại ví`
      : `Refund of ${amountOf(payload, language)} failed; the money is back in your wallet`,
  'wallet.chargeback': (payload, language) =>
    language === 'vi'
      ? `Khoản nạp ${amountOf(payload, language)} đã bị thu hồi`
      : `Top-up of ${amountOf(payload, language)} was reversed`,
  'wallet.chargeback_returned': (payload, language) =>
    language === 'vi'
      ? `Đã trả lại vào ví ${amountOf(payload, language)} từng bị thu hồi`
      : `Reversed top-up of ${amountOf(payload, language)} returned to your wallet`,
  'wallet.adjusted': (payload, language) => {
    const amount = amountOf(payload, language)
    if (isTaken(payload))
      return language === 'vi' ? `Đã trừ ${amount} khỏi ví` : `${amount} taken out of your wallet`
    return language === 'vi' ? `Đã cộng ${amount} vào ví` : `${amount} put into your wallet`
  },
} satisfies Partial<Titles>
