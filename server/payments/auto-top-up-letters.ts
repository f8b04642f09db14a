/**
 * Letters to a customer about automatic top-up: a charge failed, the monthly limit is reached, or
 * it was switched off. A successful charge has the same receipt as every top-up.
 */
import { declinesAllowed, type OffReason } from '../../contract/auto-top-up.ts'
import type { Language } from '../../contract/errors.ts'
import { formatMoney, toMajor, type Currency } from '../../contract/money.ts'
import type { DeclineReason } from '../../contract/payments.ts'
import type { Tx } from '../platform/db.ts'
import { fillIn } from '../platform/fill-in.ts'
import { readerOf, type LetterDeps } from './letter-reader.ts'

/** Amounts are minor units. */
interface About {
  readonly customerId: string
  readonly currency: Currency
  /** Minor units that were charged, or that the charge would have been. */
  readonly amount: bigint
  /** Visa •••• 4242 */
  readonly card: string
}
export type AutoTopUpNews = About &
  (
    | {
        readonly change: 'declined' | 'needs_owner'
        readonly reason: DeclineReason | null
        readonly nextTryAt: Date
      }
    | {
        readonly change: 'off'
        readonly why: OffReason
        /** The reason for the last decline. */
        readonly reason: DeclineReason | null
      }
    | {
        readonly change: 'limit'
        readonly limit: bigint
        readonly spent: bigint
        /** The first day of the next month: 2026-12-01. */
        readonly until: string
      }
  )

type Words = Readonly<Record<Language, string>>
const letters: Readonly<
  Record<
    AutoTopUpNews['change'],
    Record<Language, { readonly subject: string; readonly text: string }>
  >
> = {
  declined: {
    en: {
      subject: 'Automatic top-up of {amount} failed',
      text:
        'We could not charge {amount} to your card {card}. {reason} Nothing was charged. We try ' +
        'again after {next}, if your wallet still needs it. Top up now, or use another card: ' +
        '{payment}',
    },
    vi: {
      subject: 'Tự động nạp {amount} không thành công',
      text:
        'Không trừ được {amount} từ thẻ {card}. {reason} Thẻ của bạn chưa bị trừ tiền. Nếu ví ' +
        'vẫn cần tiền, hệ thống sẽ thử lại sau {next}. Nạp ngay hoặc đổi thẻ khác tại: {payment}',
    },
  },
  needs_owner: {
    en: {
      subject: 'Please confirm a top-up of {amount}',
      text:
        'Your bank wants you to confirm the top-up of {amount} with your card {card}, so we ' +
        'could not charge it without you. Nothing was charged. Top up and confirm it here: ' +
        '{payment} Otherwise we try again after {next}, if your wallet still needs it.',
    },
    vi: {
      subject: 'Cần bạn xác nhận khoản nạp {amount}',
      text:
        'Ngân hàng yêu cầu bạn tự xác nhận khoản nạp {amount} bằng thẻ {card} nên hệ thống ' +
        'không thể tự động trừ tiền. Thẻ của bạn chưa bị trừ tiền. Hãy nạp và xác nhận tại: ' +
        '{payment} Nếu không, hệ thống sẽ thử lại sau {next} khi ví vẫn cần tiền.',
    },
  },
  off: {
    en: {
      subject: 'Automatic top-up is switched off',
      text:
        '{why} We charge no card automatically any more: renewals are paid from what your ' +
        'wallet holds. Top up, or switch it on again, here: {wallet}',
    },
    vi: {
      subject: 'Tự động nạp ví đã bị tắt',
      text:
        '{why} Hệ thống không tự động trừ tiền từ thẻ nữa: các lần gia hạn chỉ được trả bằng số ' +
        'dư có sẵn trong ví. Nạp tiền hoặc bật lại tại: {wallet}',
    },
  },
  limit: {
    en: {
      subject: 'Automatic top-up has reached this month’s limit',
      text:
        '{spent} were charged automatically this month. Another {amount} would be more than your ' +
        'limit of {limit} a month, so no card is charged automatically before {until}. Top up ' +
        'yourself, or raise the limit, here: {wallet}',
    },
    vi: {
      subject: 'Tự động nạp ví đã đạt hạn mức tháng này',
      text:
        'Tháng này hệ thống đã tự động nạp {spent}. Nạp thêm {amount} sẽ vượt hạn mức {limit} ' +
        'mỗi tháng, nên thẻ sẽ không bị tự động trừ tiền trước ngày {until}. Tự nạp tiền hoặc ' +
        'nâng hạn mức tại: {wallet}',
    },
  },
}

const whyOff: Readonly<Record<OffReason, Words>> = {
  declined: {
    en: `Your card {card} was declined ${declinesAllowed} times in a row. {reason}`,
    vi: `Thẻ {card} bị từ chối ${declinesAllowed} lần liên tiếp. {reason}`,
  },
  card_gone: {
    en: 'Your card {card} is not linked any more.',
    vi: 'Thẻ {card} không còn được liên kết với tài khoản.',
  },
  disputed: {
    en: 'Your bank took back a payment that was made by card.',
    vi: 'Ngân hàng đã thu hồi một khoản thanh toán bằng thẻ của bạn.',
  },
  region: {
    en: 'Payments with linked cards are not offered for your account any more.',
    vi: 'Tài khoản của bạn không còn hỗ trợ thanh toán bằng thẻ liên kết.',
  },
}

const plain: Words = { en: 'Your bank declined it.', vi: 'Ngân hàng từ chối giao dịch.' }
/** Only reasons that can occur for a card charged while its owner is away. */
const reasons: Readonly<Partial<Record<DeclineReason, Words>>> = {
  insufficient_funds: {
    en: 'There is not enough money on it.',
    vi: 'Thẻ không đủ số dư.',
  },
  limit: {
    en: 'The card has reached a limit of your bank.',
    vi: 'Thẻ đã vượt hạn mức của ngân hàng.',
  },
  wrong_details: {
    en: 'The card has expired, or its details are no longer right.',
    vi: 'Thẻ đã hết hạn hoặc thông tin thẻ không còn đúng.',
  },
  needs_confirmation: {
    en: 'Your bank wants you to confirm each payment.',
    vi: 'Ngân hàng yêu cầu bạn tự xác nhận từng giao dịch.',
  },
  blocked: { en: 'Your bank has blocked the card.', vi: 'Ngân hàng đã khoá thẻ này.' },
  bank_unavailable: {
    en: 'Your bank could not be reached.',
    vi: 'Không kết nối được với ngân hàng của bạn.',
  },
}

/** Sends a notification and a letter, in the transaction of the change that they tell of. */
export async function tellOfAutoTopUp(
  deps: LetterDeps,
  tx: Tx,
  news: AutoTopUpNews,
): Promise<void> {
  const { customerId, currency, amount, card, change } = news
  const { email, language, timeZone } = await readerOf(deps, tx, customerId)
  const money = (minor: bigint): string => formatMoney(Number(minor), currency, language)
  const reason = 'reason' in news ? news.reason : null
  const nextTryAt = 'nextTryAt' in news ? news.nextTryAt : null
  await deps.outbox.publishEvent(tx, customerId, 'wallet.auto_top_up', {
    wallet: {
      change,
      amount: Number(amount),
      currency,
      ...(reason !== null && { reason }),
      ...(nextTryAt && { nextTryAt: nextTryAt.toISOString() }),
      ...(news.change === 'off' && { why: news.why }),
    },
  })
  const known: Record<string, string> = {
    amount: money(amount),
    card,
    reason: ((reason && reasons[reason]) ?? plain)[language],
    next: nextTryAt?.toLocaleString('sv-SE', { timeZone }).slice(0, 16) ?? '',
    payment: `${deps.portalUrl}/payment?type=card&amount=${toMajor(Number(amount), currency)}`,
    wallet: `${deps.portalUrl}/payment`,
    ...(news.change === 'limit' && {
      limit: money(news.limit),
      spent: money(news.spent),
      until: news.until,
    }),
  }
  const why = news.change === 'off' ? fillIn(whyOff[news.why][language], known) : ''
  const { subject, text } = letters[change][language]
  await deps.mail(tx, email, fillIn(subject, known), fillIn(text, { ...known, why }))
}
