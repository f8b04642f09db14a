/**
 * Unpaid orders: two reminders by mail, and on the last day the order lapses. No later payment
 * revives a lapsed order (contract.md section 8).
 */
import { sql } from 'kysely'
import type { Language } from '../../contract/errors.ts'
import { formatMoney, type Currency } from '../../contract/money.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import { zoneOfReader } from '../catalog/index.ts'
import { days, later } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import { fillIn } from '../platform/fill-in.ts'
import { Refusal } from '../platform/errors.ts'
import type { BillingContext } from './context.ts'
import { giveBackCoupons } from './coupons.ts'
import { invoiceEvent } from './events.ts'
import { lockInvoice, payAgainMs, payLocked, type SubscriptionRow } from './payment.ts'
import { dayIn } from './period.ts'
import { subjectOf } from './product.ts'
import type { InvoiceRow } from './store.ts'
import { end } from './subscriptions.ts'

/** Days after the order at which a reminder is sent: day one, and the day before it lapses. */
const reminderDays = (lapsesDays: number): number[] =>
  [...new Set([1, lapsesDays - 1])].filter((day) => day > 0 && day < lapsesDays)

type Step =
  | { readonly act: 'remind'; readonly day: number }
  | { readonly act: 'lapse' }
  | { readonly act: 'wait' }

/**
 * The due step of an order that lapses at `lapsesAt`, and the time of the next check. A missed
 * letter is not sent together with a later one.
 */
export function orderStep(
  of: { lapsesAt: Date; reminded: number | null },
  now: Date,
  lapsesDays: number,
): Step & { readonly nextAt: Date } {
  const { lapsesAt } = of
  if (lapsesAt <= now) return { act: 'lapse', nextAt: lapsesAt }
  const at = (day: number): Date => later(lapsesAt, days(day - lapsesDays))
  const letters = reminderDays(lapsesDays)
  const day = letters.findLast((each) => at(each) <= now)
  const next = letters.find((each) => at(each) > now)
  const nextAt = next === undefined ? lapsesAt : at(next)
  return day !== undefined && day > (of.reminded ?? 0)
    ? { act: 'remind', day, nextAt }
    : { act: 'wait', nextAt }
}

const letters = {
  remind: {
    en: {
      subject: 'Your order is awaiting payment',
      text:
        'You ordered {what} and have not paid yet: {amount} due. The order lapses on {day} ' +
        "at {time}. Top up your wallet before then and we'll start it, or pay here: {url}",
    },
    vi: {
      subject: 'Đơn hàng của bạn đang chờ thanh toán',
      text:
        'Bạn đã đặt {what} nhưng chưa thanh toán {amount}. Đơn hàng sẽ hết hiệu lực lúc ' +
        '{time} ngày {day}. Hãy nạp tiền vào ví trước thời điểm đó, chúng tôi sẽ xử lý đơn ' +
        'hàng ngay; hoặc thanh toán tại đây: {url}',
    },
  },
  /** The lapse letter if the wallet could pay but the product had no capacity. */
  unavailable: {
    en: {
      subject: 'We could not deliver your order',
      text:
        'We had no room for {what} until {time} on {day}, so the order has lapsed. Nothing was ' +
        'charged and nothing is due. Choose another data centre or a smaller plan, or order ' +
        'again later: {order}',
    },
    vi: {
      subject: 'Chúng tôi chưa thể cung cấp đơn hàng của bạn',
      text:
        'Đến {time} ngày {day} chúng tôi vẫn chưa còn chỗ cho {what} nên đơn hàng đã hết hiệu ' +
        'lực. Bạn không bị trừ tiền và không còn nợ khoản nào. Hãy chọn trung tâm dữ liệu khác ' +
        'hoặc gói nhỏ hơn, hoặc đặt lại sau: {order}',
    },
  },
  lapse: {
    en: {
      subject: 'Your order has lapsed',
      text:
        '{what} was not paid by {time} on {day}, so the order has lapsed. Nothing was ' +
        'charged and nothing is due. A later top-up does not pay for it. You can order ' +
        'again at any time: {order}',
    },
    vi: {
      subject: 'Đơn hàng của bạn đã hết hiệu lực',
      text:
        '{what} không được thanh toán trước {time} ngày {day} nên đơn hàng đã hết hiệu lực. Bạn ' +
        'không bị trừ tiền và không còn nợ khoản nào. Tiền nạp sau này sẽ không dùng để mua đơn ' +
        'hàng đó; bạn có thể đặt lại bất cứ lúc nào: {order}',
    },
  },
} as const

async function write(
  context: BillingContext,
  tx: Tx,
  letter: keyof typeof letters,
  { invoice, row }: { invoice: InvoiceRow; row: SubscriptionRow },
): Promise<void> {
  const customer = (await context.customers(tx, [row.customer_id])).get(row.customer_id)
  if (!customer || !invoice.lapses_at) return
  const { language } = customer
  const zone = zoneOfReader(context.catalog, customer)
  const words: Record<string, string> = {
    what: (row.description as Record<'en' | 'vi', string>)[language],
    amount: formatMoney(Number(invoice.total), invoice.currency as Currency, language),
    day: dayIn(zone, invoice.lapses_at),
    time: invoice.lapses_at.toLocaleTimeString('en-GB', {
      timeZone: zone,
      hour: '2-digit',
      minute: '2-digit',
    }),
    url: context.links.hosted(invoice.id),
    order: context.portalUrl + (context.products.get(row.product)?.screens.order ?? ''),
  }
  const { subject, text } = letters[letter][language]
  await context.mail(tx, customer.email, fillIn(subject, words), fillIn(text, words))
}

/** Whether the order waits for capacity although the wallet holds enough. */
async function lacksRoom(context: BillingContext, tx: Tx, invoice: InvoiceRow): Promise<boolean> {
  const { balance } = await context.ledger.balanceOf(tx, invoice.customer_id)
  const subject = subjectOf(invoice.subject)
  const product = context.products.get(invoice.product)
  if (balance < invoice.total - invoice.amount_paid || !subject || !product?.reserve) return false
  await sql`savepoint looking`.execute(tx)
  const hasRoom = await product.reserve(tx, subject)
  await sql`rollback to savepoint looking`.execute(tx)
  return !hasRoom
}

/** Runs the next step of each unpaid order; the caller has locked the rows. */
export async function runPendingOrders(
  context: BillingContext,
  tx: Tx,
  rows: readonly SubscriptionRow[],
): Promise<void> {
  for (const row of rows) {
    const locked = row.invoice_id === null ? undefined : await lockInvoice(tx, row.invoice_id)
    if (locked?.invoice.status !== 'open' || !locked.invoice.lapses_at)
      throw new Error(`the order of subscription ${row.id} has no open invoice`)
    const { invoice } = locked
    // The wallet may have been credited without a top-up, for example by the operator. A lapsed
    // order is no longer charged.
    const outcome = await payLocked(context, tx, locked, true)
    if (outcome === 'paid') continue
    const step = orderStep(
      { lapsesAt: locked.invoice.lapses_at, reminded: row.reminded },
      context.clock.now(),
      context.catalog.billing.order_lapses_days,
    )
    // No reminder if the customer could pay: the order waits for capacity.
    const reminds = step.act === 'remind' && outcome !== 'unavailable'
    if (reminds) await write(context, tx, 'remind', { invoice, row })
    if (step.act === 'lapse') {
      await write(context, tx, (await lacksRoom(context, tx, invoice)) ? 'unavailable' : 'lapse', {
        invoice,
        row,
      })
      // `lapses_at` stays: it shows why the invoice is void.
      await tx.updateTable('invoice').set({ status: 'void' }).where('id', '=', invoice.id).execute()
      await giveBackCoupons(tx, [invoice.id])
      await end(context, tx, row)
      await context.outbox.publishEvents(tx, [invoiceEvent(context, 'invoice.lapsed', invoice)])
      continue
    }
    const again = later(context.clock.now(), payAgainMs)
    const nextAt = outcome === 'unavailable' && again < step.nextAt ? again : step.nextAt
    await tx
      .updateTable('subscription')
      .set({ next_at: nextAt, ...(step.act === 'remind' && { reminded: step.day }) })
      .where('id', '=', row.id)
      .execute()
    if (reminds)
      await context.outbox.publishEvents(tx, [
        invoiceEvent(context, 'invoice.payment_failed', invoice),
      ])
  }
}

/** Limit of a customer's unpaid orders (contract.md section 8, Limits). */
const mostUnpaid = 5

/**
 * Refuses with rate_limited when a customer has too many unpaid orders; an order that the wallet
 * covers is about to be paid and does not count. A lock serialises the orders of one customer until
 * the commit, so that parallel orders cannot evade the limit.
 */
export async function refuseMoreUnpaid(
  context: BillingContext,
  tx: Tx,
  customerId: string,
  language: Language,
): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`orders of ${customerId}`},
    0))`.execute(tx)
  let { balance } = await context.ledger.balanceOf(tx, customerId)
  const open = await tx
    .selectFrom('invoice')
    .select(['total', 'lapses_at'])
    .where('customer_id', '=', customerId)
    .where('status', '=', 'open')
    .where('lapses_at', '>', context.clock.now())
    .orderBy('seq')
    .execute()
  const unpaid = open.filter(({ total }) => {
    const isCovered = total <= balance
    if (isCovered) balance -= total
    return !isCovered
  })
  const [first] = unpaid.map(({ lapses_at: at }) => at?.getTime() ?? 0).toSorted((a, b) => a - b)
  if (unpaid.length < mostUnpaid || first === undefined) return
  throw new Refusal('rate_limited', {
    retryAfterSeconds: (first - context.clock.now().getTime()) / 1000,
    fields: { order: ruleText('orders_unpaid', language) },
  })
}

/** The time until which an order placed now may be paid, and the time of its first check. */
export function lapseOf(context: BillingContext, now: Date): { lapsesAt: Date; nextAt: Date } {
  const lapsesDays = context.catalog.billing.order_lapses_days
  const lapsesAt = later(now, days(lapsesDays))
  return { lapsesAt, nextAt: orderStep({ lapsesAt, reminded: null }, now, lapsesDays).nextAt }
}
