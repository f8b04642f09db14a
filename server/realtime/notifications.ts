/** Stored notifications: what a customer missed, and the bell. */
import type { Language } from '../../contract/errors.ts'
import { formatMoney, type Currency } from '../../contract/money.ts'
import type { EventName, Notification } from '../../contract/realtime.ts'
import { days, later, type Clock } from '../platform/clock.ts'
import type { Database, Queryable } from '../platform/db.ts'

interface Known {
  payment?: { number?: string | null; amount_paid?: number; amount_due?: number; currency?: string }
  wp?: { name?: string } | null
  subscription?: { renewalPrice?: number; currency?: string; actsOn?: string }
  wallet?: { amount?: number; currency?: string; provider?: string; days?: number }
}

/** A module's own sentences, by the events that it publishes. */
export type Titles = Partial<Record<EventName, (payload: unknown, language: Language) => string>>

/** The bell's sentence for one event, in the reader's language. */
function titleOf(titles: Titles, event: EventName, payload: unknown, language: Language): string {
  const own = titles[event]
  if (own) return own(payload, language)
  const { payment, wp, wallet, subscription } = payload as Known
  const vi = language === 'vi'
  const number = payment?.number ?? null
  const money = (amount: number | undefined, currency: string | undefined) =>
    formatMoney(amount ?? 0, (currency ?? 'VND') as Currency, language)
  switch (event) {
    case 'invoice.create':
      if (number === null)
        return vi ? 'Đơn hàng đang chờ thanh toán' : 'Your order waits for its payment'
      return vi ? `Hoá đơn ${number} đã được tạo` : `Invoice ${number} was created`
    case 'invoice.paid':
      return vi
        ? `Hoá đơn ${number} đã thanh toán ${money(payment?.amount_paid, payment?.currency)}`
        : `Invoice ${number} is paid: ${money(payment?.amount_paid, payment?.currency)}`
    case 'invoice.lapsed':
      return vi
        ? 'Đơn hàng không được thanh toán đúng hạn và đã hết hiệu lực'
        : 'Your order was not paid in time and has lapsed'
    case 'invoice.payment_failed':
      if (number === null)
        return vi
          ? `Đơn hàng chưa thanh toán, còn thiếu ${money(payment?.amount_due, payment?.currency)}`
          : `Your order could not be paid: ${money(payment?.amount_due, payment?.currency)} due`
      return vi
        ? `Hoá đơn ${number} chưa thanh toán, còn thiếu ` +
            `${money(payment?.amount_due, payment?.currency)}`
        : `Invoice ${number} could not be paid: ${money(payment?.amount_due, payment?.currency)}` +
            ' due'
    case 'subscribe.create':
      return vi ? 'Gói dịch vụ đã được đặt' : 'Your subscription was ordered'
    case 'subscription.created':
      return vi ? 'Đã đăng ký gói dịch vụ' : 'Your subscription has begun'
    case 'subscription.updated':
      return vi ? 'Gói dịch vụ đã được cập nhật' : 'Your subscription was updated'
    case 'subscription.price_announced': {
      const price = money(subscription?.renewalPrice, subscription?.currency)
      const day = subscription?.actsOn ?? ''
      return vi
        ? `${wp?.name ?? 'Gói dịch vụ'} sẽ có giá ${price} mỗi tháng từ ngày ${day}`
        : `${wp?.name ?? 'Your subscription'} will cost ${price} a month from ${day}`
    }
    case 'wallet.credited':
      return vi
        ? `Đã nạp ${money(wallet?.amount, wallet?.currency)} vào ví`
        : `${money(wallet?.amount, wallet?.currency)} was added to your wallet`
    case 'wallet.refunded':
      return vi
        ? `${money(wallet?.amount, wallet?.currency)} đang được hoàn về nguồn`
        : `${money(wallet?.amount, wallet?.currency)} goes back to its source`
    case 'wallet.refund_failed':
      return vi
        ? `Không hoàn được ${money(wallet?.amount, wallet?.currency)}; số tiền đã trở lại ví`
        : `A refund of ${money(wallet?.amount, wallet?.currency)} was refused; it is in your wallet`
    case 'wallet.chargeback':
      return vi
        ? `Khoản nạp ${money(wallet?.amount, wallet?.currency)} đã bị thu hồi`
        : `A top-up of ${money(wallet?.amount, wallet?.currency)} was taken back`
    case 'wallet.chargeback_returned':
      return vi
        ? `${money(wallet?.amount, wallet?.currency)} bị thu hồi đã được trả lại ví`
        : `${money(wallet?.amount, wallet?.currency)} that was taken back is returned`
    case 'wallet.low':
      return vi
        ? `Ví của bạn còn đủ dùng ${wallet?.days ?? 0} ngày`
        : `Days that your wallet still lasts: ${wallet?.days ?? 0}`
    default:
      return event
  }
}

/**
 * Newest first. `before` pages downwards; `after` answers only what is newer than a known id.
 * Events get an id when the relay has sent them.
 */
export async function listNotifications(
  db: Queryable,
  of: {
    customerId: string
    limit: number
    before: bigint | null
    after: bigint | null
    language: Language
    complete: (payload: object) => object
    titles: Titles
  },
): Promise<{ data: Notification[]; unread: number; next: bigint | null }> {
  let query = db
    .selectFrom('notification')
    .select(['seq', 'event', 'payload', 'created_at', 'read_at'])
    .where('customer_id', '=', of.customerId)
    .where('seq', 'is not', null)
    .orderBy('seq', 'desc')
    .limit(of.limit + 1)
  if (of.before !== null) query = query.where('seq', '<', of.before)
  if (of.after !== null) query = query.where('seq', '>', of.after)
  const rows = await query.execute()
  const page = rows.slice(0, of.limit)
  return {
    data: page.map((row) => ({
      id: String(row.seq),
      event: row.event as EventName,
      title: titleOf(of.titles, row.event as EventName, row.payload, of.language),
      payload: of.complete(row.payload as object) as Record<string, unknown>,
      read: row.read_at !== null,
      createdAt: row.created_at.toISOString(),
    })),
    unread: await unreadCount(db, of.customerId),
    next: rows.length > of.limit ? (page.at(-1)?.seq ?? null) : null,
  }
}

export async function unreadCount(db: Queryable, customerId: string): Promise<number> {
  const row = await db
    .selectFrom('notification')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('customer_id', '=', customerId)
    .where('read_at', 'is', null)
    .where('seq', 'is not', null)
    .executeTakeFirstOrThrow()
  return Number(row.n)
}

/** Marks those named, or all. Ids of somebody else's notifications change nothing. */
export async function markRead(
  db: Queryable,
  clock: Clock,
  customerId: string,
  ids: readonly bigint[] | undefined,
): Promise<void> {
  let query = db
    .updateTable('notification')
    .set({ read_at: clock.now() })
    .where('customer_id', '=', customerId)
    .where('read_at', 'is', null)
  if (ids) query = query.where('seq', 'in', ids.length > 0 ? [...ids] : [-1n])
  await query.execute()
}

const keptMs = days(90)
const droppedAtOnce = 5000

/**
 * The bell is no archive: what happened stands in the lists of invoices, entries and servers. What
 * was not sent yet stays.
 */
export async function dropOldNotifications(db: Database, clock: Clock): Promise<void> {
  const before = later(clock.now(), -keptMs)
  let dropped: bigint
  // A first time after years finds millions: in pieces, each of which takes well under a second.
  do {
    const { numDeletedRows } = await db
      .deleteFrom('notification')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('notification')
          .select('id')
          .where('created_at', '<', before)
          .where('seq', 'is not', null)
          .orderBy('created_at')
          .limit(droppedAtOnce),
      )
      .executeTakeFirstOrThrow()
    dropped = numDeletedRows
  } while (dropped === BigInt(droppedAtOnce))
}
