/**
 * Notifies a customer of money that reached or left the wallet: a notification and a letter, in the
 * transaction of the posting.
 */
import type { Language } from '../../contract/errors.ts'
import { formatMoney, type Currency } from '../../contract/money.ts'
import type { EventName } from '../../contract/realtime.ts'
import type { Tx } from '../platform/db.ts'
import { fillIn } from '../platform/fill-in.ts'
import { tellOfAutoTopUp, type AutoTopUpNews } from './auto-top-up-letters.ts'
import { readerOf, type LetterDeps } from './letter-reader.ts'

/** Amounts are minor units. */
export interface MovedMoney {
  readonly customerId: string
  readonly amount: bigint
  readonly currency: Currency
  /** The gateway's name as customers read it. */
  readonly provider: string
  readonly transactionCode: string
}

export interface Letters {
  /**
   * `setOff`: the part, minor units, that paid a debt. `automatic`: a card was charged without
   * asking (decision 136).
   */
  toppedUp(
    tx: Tx,
    of: MovedMoney & { readonly setOff: bigint; readonly automatic?: boolean },
  ): Promise<void>
  /** Automatic top-up: a charge failed, the monthly limit is reached, or it is switched off. */
  autoTopUp(tx: Tx, news: AutoTopUpNews): Promise<void>
  /** The money is on its way back to its source. */
  refunded(tx: Tx, of: MovedMoney): Promise<void>
  /** We give it back by a bank transfer. `owed`: the part that the wallet no longer held. */
  transferred(tx: Tx, of: MovedMoney & { readonly owed: bigint }): Promise<void>
  /** The gateway refused the refund: the money is back in the wallet. */
  refundFailed(tx: Tx, of: MovedMoney): Promise<void>
  /** A chargeback. `owed`: the part that the wallet did not cover. */
  takenBack(tx: Tx, of: MovedMoney & { readonly owed: bigint }): Promise<void>
  /** The money had been taken back before and is now given again. */
  returned(tx: Tx, of: MovedMoney): Promise<void>
  /**
   * An adjustment by the operator. `amount` is signed minor units; `told`: the reason for the
   * customer.
   */
  adjusted(
    tx: Tx,
    of: Pick<MovedMoney, 'customerId' | 'amount' | 'currency'> & { readonly told: string },
  ): Promise<void>
}

const words = {
  'wallet.credited': {
    en: {
      subject: '{amount} added to your wallet',
      text:
        'Receipt: we received {amount} through {provider} at {at}, transaction ' +
        '{code}.{rest} Your balance is {balance}. All transactions: {portal}/transactions',
    },
    vi: {
      subject: 'Đã nạp {amount} vào ví của bạn',
      text:
        'Biên nhận: đã nhận {amount} qua {provider} lúc {at}, mã giao dịch {code}.{rest} Số dư ' +
        'ví là {balance}. Xem mọi giao dịch tại: {portal}/transactions',
    },
  },
  'wallet.refunded': {
    en: {
      subject: '{amount} is being refunded',
      text:
        'We are refunding {amount} of the top-up {code} through {provider}. The bank may ' +
        'need a few days. Your balance is {balance}. All transactions: {portal}/transactions',
    },
    vi: {
      subject: 'Đang hoàn {amount} cho bạn',
      text:
        'Chúng tôi đang hoàn {amount} của lần nạp {code} qua {provider}. Ngân hàng có thể ' +
        'cần vài ngày để xử lý. Số dư ví là {balance}. Xem mọi giao dịch tại: ' +
        '{portal}/transactions',
    },
  },
  'wallet.refund_failed': {
    en: {
      subject: 'A refund of {amount} was refused',
      text:
        '{provider} refused to refund {amount} of the top-up {code}. We returned the money ' +
        'to your wallet. Your balance is {balance}. All transactions: {portal}/transactions',
    },
    vi: {
      subject: 'Không hoàn được {amount}',
      text:
        '{provider} từ chối hoàn {amount} của lần nạp {code}. Số tiền đã trở lại ví của bạn; số ' +
        'dư ví là {balance}. Xem mọi giao dịch tại: {portal}/transactions',
    },
  },
  'wallet.chargeback': {
    en: {
      subject: 'A top-up of {amount} was taken back',
      text:
        '{provider} took back {amount} of the top-up {code}, as a bank does when a payment ' +
        'is disputed.{rest} Your balance is {balance}. If you did not ask for this, please ' +
        'contact us. All transactions: {portal}/transactions',
    },
    vi: {
      subject: 'Khoản nạp {amount} đã bị thu hồi',
      text:
        '{provider} đã thu hồi {amount} của lần nạp {code}, như ngân hàng vẫn làm khi giao dịch ' +
        'bị khiếu nại.{rest} Số dư ví là {balance}. Nếu bạn không yêu cầu việc này, vui lòng ' +
        'liên hệ với chúng tôi. Xem mọi giao dịch tại: {portal}/transactions',
    },
  },
  'wallet.chargeback_returned': {
    en: {
      subject: '{amount} returned to your wallet',
      text:
        '{provider} returned {amount} of the top-up {code} that it had taken back. Your ' +
        'balance is {balance}. All transactions: {portal}/transactions',
    },
    vi: {
      subject: 'Đã trả lại {amount} vào ví',
      text:
        '{provider} đã trả lại {amount} của lần nạp {code} từng bị thu hồi. Số dư ví là ' +
        '{balance}. Xem mọi giao dịch tại: {portal}/transactions',
    },
  },
  'wallet.adjusted': {
    en: {
      subject: '{moved}',
      text:
        '{did} at {at}: {told}. Your balance is {balance}. All transactions: ' +
        '{portal}/transactions',
    },
    vi: {
      subject: '{moved}',
      text:
        '{did} lúc {at}. Lý do: {told}. Số dư ví là {balance}. Xem mọi giao dịch tại: ' +
        '{portal}/transactions',
    },
  },
} as const satisfies Partial<Record<EventName, Record<Language, { subject: string; text: string }>>>
type Kind = keyof typeof words
/** Of a refund that no gateway makes: a transfer of ours. */
const transferWords = {
  en: {
    subject: '{amount} is being refunded',
    text:
      'We are giving {amount} of the top-up {code} back to you by bank transfer. The bank may ' +
      'need a few days.{rest} Your balance is {balance}. All transactions: {portal}/transactions',
  },
  vi: {
    subject: 'Đang hoàn {amount} cho bạn',
    text:
      'Chúng tôi hoàn {amount} của lần nạp {code} cho bạn bằng chuyển khoản. Ngân hàng có thể ' +
      'cần vài ngày để xử lý.{rest} Số dư ví là {balance}. Xem mọi giao dịch tại: ' +
      '{portal}/transactions',
  },
} as const

/** An adjustment by its direction, of this amount as it is printed. */
const adjustments = {
  in: {
    en: (amount: string) => ({
      moved: `${amount} put into your wallet`,
      did: `We put ${amount} into your wallet`,
    }),
    vi: (amount: string) => ({
      moved: `Đã cộng ${amount} vào ví`,
      did: `Chúng tôi đã cộng ${amount} vào ví của bạn`,
    }),
  },
  out: {
    en: (amount: string) => ({
      moved: `${amount} taken out of your wallet`,
      did: `We took ${amount} out of your wallet`,
    }),
    vi: (amount: string) => ({
      moved: `Đã trừ ${amount} khỏi ví`,
      did: `Chúng tôi đã trừ ${amount} khỏi ví của bạn`,
    }),
  },
} as const

const rests = {
  setOff: {
    en: ' {part} of it paid what you owed.',
    vi: ' Trong đó {part} được dùng để trả khoản bạn còn nợ.',
  },
  owed: {
    en: ' Your balance was too low: you owe {part}, which we deduct from your next top-up.',
    vi: ' Ví không đủ số dư: bạn còn nợ {part}, khoản này sẽ được bù trừ từ lần nạp tiếp theo.',
  },
  spent: {
    en:
      ' {part} of it had been spent and was no longer in your wallet: you owe {part}, which we ' +
      'deduct from your next top-up.',
    vi:
      ' Trong đó {part} đã được chi tiêu, ví không còn đủ: bạn còn nợ {part}, khoản này sẽ ' +
      'được bù trừ từ lần nạp tiếp theo.',
  },
} as const

const automatically = {
  en: ' It was charged to your linked card automatically, as you have set it.',
  vi: ' Khoản này được tự động trừ từ thẻ đã liên kết, theo thiết lập của bạn.',
} as const

export function createLetters(deps: LetterDeps): Letters {
  async function tell(
    tx: Tx,
    kind: Kind,
    of: MovedMoney,
    part: {
      readonly name: 'setOff' | 'owed'
      readonly amount: bigint
      readonly said?: keyof typeof rests
    } | null = null,
    { told = '', automatic = false, byTransfer = false } = {},
  ): Promise<void> {
    const { amount, currency, provider, transactionCode } = of
    const wallet = {
      amount: Number(amount),
      currency,
      provider,
      transactionCode,
      ...(part && part.amount > 0n && { [part.name]: Number(part.amount) }),
      ...(automatic && { automatic }),
      ...(byTransfer && { byTransfer }),
    }
    await deps.outbox.publishEvent(tx, of.customerId, kind, { wallet })
    const customer = await readerOf(deps, tx, of.customerId)
    const { language, timeZone } = customer
    const money = (minor: bigint): string => formatMoney(Number(minor), currency, language)
    const { balance } = await deps.ledger.balanceOf(tx, of.customerId)
    const shown = money(amount < 0n ? -amount : amount)
    const known = {
      amount: shown,
      ...adjustments[amount < 0n ? 'out' : 'in'][language](shown),
      told,
      provider,
      code: transactionCode,
      balance: money(balance),
      at: deps.clock.now().toLocaleString('sv-SE', { timeZone }),
      portal: deps.portalUrl,
      rest:
        (automatic ? automatically[language] : '') +
        (part && part.amount > 0n
          ? fillIn(rests[part.said ?? part.name][language], { part: money(part.amount) })
          : ''),
    }
    const { subject, text } = (byTransfer ? transferWords : words[kind])[language]
    const letter = { subject: fillIn(subject, known), text: fillIn(text, known) }
    const owes = byTransfer && part !== null && part.amount > 0n
    if (kind === 'wallet.chargeback' || owes)
      await deps.answerable(tx, { to: customer.email, language, ...letter })
    else await deps.mail(tx, customer.email, letter.subject, letter.text)
  }

  return {
    toppedUp: (tx, { automatic = false, setOff, ...of }) =>
      tell(tx, 'wallet.credited', of, { name: 'setOff', amount: setOff }, { automatic }),
    autoTopUp: (tx, news) => tellOfAutoTopUp(deps, tx, news),
    refunded: (tx, of) => tell(tx, 'wallet.refunded', of),
    transferred: (tx, { owed: amount, ...of }) =>
      tell(
        tx,
        'wallet.refunded',
        of,
        { name: 'owed', said: 'spent', amount },
        { byTransfer: true },
      ),
    refundFailed: (tx, of) => tell(tx, 'wallet.refund_failed', of),
    takenBack: (tx, of) => tell(tx, 'wallet.chargeback', of, { name: 'owed', amount: of.owed }),
    returned: (tx, of) => tell(tx, 'wallet.chargeback_returned', of),
    adjusted: (tx, { told, ...of }) =>
      tell(tx, 'wallet.adjusted', { ...of, provider: '', transactionCode: '' }, null, { told }),
  }
}
