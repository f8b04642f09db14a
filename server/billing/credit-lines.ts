/**
 * Credit lines (decision 127): renewals that a wallet is short for are lent. The customer is told
 * of the line, of each loan, before it is due and when it is overdue. The wallet module has the
 * rules of lending.
 */
import { formatMoney, type Currency, type RegionCode } from '../../contract/money.ts'
import { zoneOfReader } from '../catalog/index.ts'
import { transaction, type Queryable, type Tx } from '../platform/db.ts'
import { fillIn } from '../platform/fill-in.ts'
import { awaitingCreditLetters, takeCreditLetter, type CreditLine } from '../wallet/index.ts'
import { jobNames, type BillingContext } from './context.ts'
import type { Customer } from './issue.ts'
import { endOfDayAfter, lastDayBy } from './period.ts'

/** When a loan of now falls due: at the end of a day where the customer reads of it. */
export const lendUntil =
  (
    { catalog, clock }: Pick<BillingContext, 'catalog' | 'clock'>,
    customer: Parameters<typeof zoneOfReader>[1],
  ) =>
  (termDays: number): Date =>
    endOfDayAfter(zoneOfReader(catalog, customer), clock.now(), termDays)

/** The dependencies for telling a customer of a line; a command has no more than these. */
export interface LineDeps extends Pick<
  BillingContext,
  'clock' | 'ledger' | 'catalog' | 'outbox' | 'mail' | 'portalUrl' | 'jobs'
> {
  readonly customers: (
    db: Queryable,
    ids: readonly string[],
  ) => Promise<
    ReadonlyMap<string, Pick<Customer, 'email' | 'language' | 'regionCode' | 'timeZone'>>
  >
}

type Change = 'given' | 'changed' | 'ended' | 'due' | 'overdue'
const letters: Readonly<
  Record<Change, Record<'en' | 'vi', { readonly subject: string; readonly text: string }>>
> = {
  given: {
    en: {
      subject: 'You have a credit line of {limit}',
      text:
        'When your wallet does not hold enough for a renewal, your credit line lends what is ' +
        'missing, up to {limit} in total, so that your services go on. What is lent is due ' +
        'after {term} days. The next money that reaches your wallet pays it back first. There ' +
        'is no interest and no fee.{owed} Your wallet: {wallet}',
    },
    vi: {
      subject: 'Bạn có hạn mức công nợ {limit}',
      text:
        'Khi số dư ví không đủ cho một lần gia hạn, phần còn thiếu được ghi nợ, tổng cộng tối ' +
        'đa {limit}, để dịch vụ của bạn không bị gián đoạn. Mỗi khoản nợ đến hạn sau {term} ' +
        'ngày. Khoản tiền tiếp theo vào ví được dùng để trả nợ trước. Không tính lãi, không ' +
        'tính phí.{owed} Ví của bạn: {wallet}',
    },
  },
  changed: {
    en: {
      subject: 'Your credit line is now {limit}',
      text:
        'From now on your credit line lends up to {limit} in total for renewals that your ' +
        'wallet is short for. What is lent is due after {term} days.{owed} Your wallet: {wallet}',
    },
    vi: {
      subject: 'Hạn mức công nợ của bạn nay là {limit}',
      text:
        'Từ bây giờ, khi số dư ví không đủ cho một lần gia hạn, phần còn thiếu được ghi nợ, ' +
        'tổng cộng tối đa {limit}. Mỗi khoản nợ đến hạn sau {term} ngày.{owed} Ví của bạn: ' +
        '{wallet}',
    },
  },
  ended: {
    en: {
      subject: 'Your credit line has ended',
      text:
        'Nothing more is lent for renewals: your wallet has to hold enough for them.{owed} Your ' +
        'wallet: {wallet}',
    },
    vi: {
      subject: 'Hạn mức công nợ của bạn đã kết thúc',
      text:
        'Từ bây giờ các lần gia hạn không còn được ghi nợ: số dư ví phải đủ để thanh toán.{owed} ' +
        'Ví của bạn: {wallet}',
    },
  },
  due: {
    en: {
      subject: 'What your credit line lent is due by {day}',
      text:
        'Your credit line lent you money for renewals.{owed} After that day nothing more is ' +
        'lent, and renewals that your wallet is short for stay unpaid. Top up here: {payment}',
    },
    vi: {
      subject: 'Khoản nợ của bạn đến hạn ngày {day}',
      text:
        'Một số lần gia hạn của bạn đã được ghi nợ theo hạn mức công nợ.{owed} Sau ngày đó hệ ' +
        'thống không ghi nợ thêm, và lần gia hạn nào ví không đủ số dư sẽ không được thanh ' +
        'toán. Nạp tiền tại: {payment}',
    },
  },
  overdue: {
    en: {
      subject: 'What your credit line lent is overdue',
      text:
        'What your credit line lent was due by {day}. You owe {sum}. Until it is paid nothing ' +
        'more is lent: renewals that your wallet is short for stay unpaid, and their services ' +
        'are suspended later. Top up here: {payment}',
    },
    vi: {
      subject: 'Khoản nợ của bạn đã quá hạn',
      text:
        'Khoản nợ theo hạn mức công nợ đã đến hạn ngày {day}. Bạn đang nợ {sum}. Cho đến khi ' +
        'bạn trả nợ, hệ thống không ghi nợ thêm: lần gia hạn nào ví không đủ số dư sẽ không ' +
        'được thanh toán, và dịch vụ đó sẽ bị tạm ngưng. Nạp tiền tại: {payment}',
    },
  },
}
const owes = {
  en: ' You owe {sum} in total, and the first of it is due by {day}.',
  vi: ' Bạn đang nợ tổng cộng {sum}; khoản đầu tiên đến hạn ngày {day}.',
} as const

/** Sends a notification and a letter about a line, in the same transaction as the change. */
async function tell(
  context: LineDeps,
  tx: Tx,
  change: Change,
  { customerId, line }: { customerId: string; line: CreditLine },
): Promise<void> {
  const customer = (await context.customers(tx, [customerId])).get(customerId)
  if (!customer) return
  const { language } = customer
  const zone = zoneOfReader(context.catalog, customer)
  const dueOn = line.dueAt && lastDayBy(zone, line.dueAt)
  await context.outbox.publishEvent(tx, customerId, 'wallet.credit_line', {
    wallet: {
      change,
      currency: line.currency,
      limit: Number(line.limit),
      owed: Number(line.owed),
      dueOn,
    },
  })
  const known: Record<string, string> = {
    limit: formatMoney(Number(line.limit), line.currency, language),
    term: String(line.termDays ?? 0),
    sum: formatMoney(Number(line.owed), line.currency, language),
    day: dueOn ?? '',
    wallet: `${context.portalUrl}/transactions`,
    payment: `${context.portalUrl}/payment`,
  }
  const { subject, text } = letters[change][language]
  const owed = line.owed > 0n ? fillIn(owes[language], known) : ''
  await context.mail(tx, customer.email, fillIn(subject, known), fillIn(text, { ...known, owed }))
}

/** The loan for an invoice, as its receipt shows it. */
export interface Lent {
  readonly amount: bigint
  /** The whole debt now. */
  readonly owed: bigint
  /** The day on which the first debt is due. */
  readonly day: string
}

/**
 * Publishes the notification of a loan; answers the receipt's part about it. Null: nothing was
 * lent.
 */
export async function noteLent(
  context: BillingContext,
  tx: Tx,
  of: {
    readonly customerId: string
    readonly region: string
    readonly amount: bigint
    readonly currency: Currency
  },
): Promise<Lent | null> {
  const { customerId, amount, currency, region } = of
  if (amount === 0n) return null
  const line = await context.ledger.creditLineOf(tx, customerId)
  if (!line?.dueAt) throw new Error(`customer ${customerId} owes nothing of what was lent`)
  const customer = (await context.customers(tx, [customerId])).get(customerId)
  const reader = customer ?? { regionCode: region as RegionCode }
  const day = lastDayBy(zoneOfReader(context.catalog, reader), line.dueAt)
  await context.outbox.publishEvent(tx, customerId, 'wallet.credit_line', {
    wallet: {
      change: 'lent',
      currency,
      amount: Number(amount),
      limit: Number(line.limit),
      owed: Number(line.owed),
      dueOn: day,
    },
  })
  return { amount, owed: line.owed, day }
}

/**
 * Gives a customer a line, changes it, or ends it with a limit of 0. The customer is told, and
 * unpaid invoices are tried again. Answers the line before and after.
 */
export async function changeCreditLine(
  context: LineDeps,
  tx: Tx,
  of: Parameters<BillingContext['ledger']['setCreditLine']>[1],
): Promise<{ readonly before: CreditLine | undefined; readonly after: CreditLine | undefined }> {
  const { customerId } = of
  const before = await context.ledger.creditLineOf(tx, customerId)
  await context.ledger.setCreditLine(tx, of)
  const after = await context.ledger.creditLineOf(tx, customerId)
  const had = (before?.limit ?? 0n) > 0n
  const change = had ? 'changed' : 'given'
  const line = after ?? (before && { ...before, limit: 0n, owed: 0n, dueAt: null })
  if (line) await tell(context, tx, of.limit === 0n ? 'ended' : change, { customerId, line })
  if (of.limit > 0n) await context.jobs.add(tx, jobNames.payOpen, { customerId })
  return { before, after }
}

export type ChangeCreditLine = (
  tx: Tx,
  of: Parameters<typeof changeCreditLine>[2],
) => ReturnType<typeof changeCreditLine>

/** Customers per query. */
const batchSize = 100

/** Sends reminders of debts that are due soon, and letters about overdue ones. */
export async function writeCreditLetters(
  context: BillingContext,
  signal?: AbortSignal,
): Promise<void> {
  const { db, clock, ledger, log } = context
  const failed = new Set<string>()
  for (;;) {
    const found = await awaitingCreditLetters(db, clock.now(), batchSize + failed.size)
    const waiting = found.filter((id) => !failed.has(id))
    if (waiting.length === 0) return
    for (const customerId of waiting) {
      signal?.throwIfAborted()
      try {
        await transaction(db, async (tx) => {
          const change = await takeCreditLetter(tx, customerId, clock.now())
          const line = await ledger.creditLineOf(tx, customerId)
          if (change && line) await tell(context, tx, change, { customerId, line })
        })
      } catch (error) {
        // A customer whose letter failed is tried again in the next round and does not delay the
        // others.
        failed.add(customerId)
        log.error({ err: error, customer: customerId }, 'a letter about a credit line failed')
      }
    }
  }
}
