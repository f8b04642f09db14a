/** Announces price rises of renewals 30 days before they take effect, by mail and notification. */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { formatMoney, type Currency, type RegionCode } from '../../contract/money.ts'
import { timeZoneOf, zoneOfReader } from '../catalog/index.ts'
import { later } from '../platform/clock.ts'
import { transaction, type Tx } from '../platform/db.ts'
import type { BillingContext } from './context.ts'
import { priceEvent } from './events.ts'
import { lockSubscription, type SubscriptionRow } from './payment.ts'
import { dayIn, monthsAfter } from './period.ts'
import {
  noticeMs,
  renewalPricesOf,
  riseOf,
  riseToJson,
  type RenewalPrice,
  type PriceRise,
} from './prospects.ts'

/** Subscriptions per query. */
const batchSize = 200

/** The first renewal at or after a moment. */
export function firstRenewalFrom(
  { catalog }: Pick<BillingContext, 'catalog'>,
  row: SubscriptionRow,
  from: Date,
): Date {
  const zone = timeZoneOf(catalog, row.region_code as RegionCode)
  for (let n = 0; ; n++) {
    const at = monthsAfter(row.anchor_at, row.months + n, zone)
    if (at >= from) return at
  }
}

/** The letter that announces a rise to the owner of the subscription. */
export function riseLetter(
  context: Pick<BillingContext, 'portalUrl' | 'products'>,
  row: SubscriptionRow,
  of: { prospect: RenewalPrice; rise: PriceRise; day: string; language: 'en' | 'vi' },
): [subject: string, text: string] {
  const { day, language } = of
  const what = (row.description as Record<'en' | 'vi', string>)[language]
  const money = (amount: bigint): string =>
    formatMoney(Number(amount), row.currency as Currency, language)
  const [from, to] = [money(of.prospect.offer.price), money(of.rise.offer.price)]
  const link = context.portalUrl + (context.products.get(row.product)?.screens.all ?? '')
  return language === 'vi'
    ? [
        `Giá gia hạn ${what} sẽ thay đổi từ ngày ${day}`,
        `Từ lần gia hạn ngày ${day}, ${what} có giá ${to} mỗi tháng thay vì ${from}. Trước ` +
          'ngày đó, dịch vụ vẫn được gia hạn với giá cũ. Bạn có thể đổi gói hoặc huỷ dịch vụ ' +
          `bất cứ lúc nào tại: ${link}`,
      ]
    : [
        `The price of ${what} changes on ${day}`,
        `From the renewal on ${day}, ${what} costs ${to} per month instead of ${from}. ` +
          `Until then it renews at the old price. You can change or cancel it at any time: ${link}`,
      ]
}

/** The columns that the letter depends on. */
const told = [
  'customer_id',
  'status',
  'cancel_at_period_end',
  'price',
  'terms',
  'description',
  'planned',
  'rise',
  'period_end',
] as const satisfies readonly (keyof SubscriptionRow)[]

/** Stores and sends the announcement once, even if several processes run at the same time. */
async function announce(
  context: BillingContext,
  tx: Tx,
  row: SubscriptionRow,
  prospect: RenewalPrice & { rise: NonNullable<RenewalPrice['rise']> },
): Promise<void> {
  // The row was read before this transaction: owner and renewal price may have changed. Then the
  // next look at all prices announces the rise.
  const held = await lockSubscription(tx, row.id)
  const isAsRead = told.every((column) => isDeepStrictEqual(held?.[column], row[column]))
  if (!isAsRead) return
  const rise = { offer: prospect.rise.offer, actsAt: later(context.clock.now(), noticeMs) }
  await tx
    .updateTable('subscription')
    .set({ rise: riseToJson(rise) })
    .where('id', '=', row.id)
    .execute()
  const customer = (await context.customers(tx, [row.customer_id])).get(row.customer_id)
  if (!customer) return
  const acts = firstRenewalFrom(context, row, rise.actsAt)
  const day = dayIn(zoneOfReader(context.catalog, customer), acts)
  await context.outbox.publishEvents(tx, [
    priceEvent(context, row, {
      price: rise.offer.price,
      from: prospect.offer.price,
      acts,
      actsOn: day,
    }),
  ])
  const { language } = customer
  await context.mail(
    tx,
    customer.email,
    ...riseLetter(context, row, { prospect, rise, day, language }),
  )
}

/** The letter to a customer whose announced rise is withdrawn before it acts. */
function withdrawalLetter(
  context: Pick<BillingContext, 'portalUrl' | 'products'>,
  row: SubscriptionRow,
  of: { announced: bigint; price: bigint; language: 'en' | 'vi' },
): [subject: string, text: string] {
  const { language } = of
  const what = (row.description as Record<'en' | 'vi', string>)[language]
  const money = (amount: bigint): string =>
    formatMoney(Number(amount), row.currency as Currency, language)
  const link = context.portalUrl + (context.products.get(row.product)?.screens.all ?? '')
  const [announced, price] = [money(of.announced), money(of.price)]
  return language === 'vi'
    ? [
        `Giá gia hạn ${what} không tăng nữa`,
        `Chúng tôi đã báo rằng ${what} sẽ có giá ${announced} mỗi tháng. Thay đổi này đã được ` +
          `huỷ: dịch vụ được gia hạn với giá ${price} mỗi tháng. Xem tại: ${link}`,
      ]
    : [
        `The price of ${what} does not rise`,
        `We wrote to you that ${what} would cost ${announced} per month. That change is ` +
          `withdrawn: it renews for ${price} per month. See: ${link}`,
      ]
}

/**
 * Removes an announcement. A customer who was told of a rise that no renewal took gets a withdrawal
 * letter.
 */
async function withdraw(
  context: BillingContext,
  tx: Tx,
  row: SubscriptionRow,
  { offer: { price }, isWithdrawn }: RenewalPrice,
): Promise<void> {
  const noted = await tx
    .updateTable('subscription')
    .set({ rise: null })
    .where('id', '=', row.id)
    .where(sql<boolean>`rise = ${JSON.stringify(row.rise)}::jsonb`)
    .returning('id')
    .executeTakeFirst()
  const rise = riseOf(row.rise)
  const zone = timeZoneOf(context.catalog, row.region_code as RegionCode)
  const hasActed = rise !== null && monthsAfter(row.anchor_at, row.months - 1, zone) >= rise.actsAt
  if (!noted || !rise || !isWithdrawn || hasActed || price >= rise.offer.price) return
  const customer = (await context.customers(tx, [row.customer_id])).get(row.customer_id)
  if (!customer) return
  const of = { announced: rise.offer.price, price, language: customer.language }
  await context.mail(tx, customer.email, ...withdrawalLetter(context, row, of))
}

/**
 * Checks every running subscription: announces a renewal that would cost more, and withdraws an
 * announcement that no longer applies.
 */
export async function announcePrices(context: BillingContext, signal?: AbortSignal): Promise<void> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    signal?.throwIfAborted()
    const rows = await context.db
      .selectFrom('subscription')
      .selectAll()
      .where('status', '=', 'active')
      .where('cancel_at_period_end', '=', false)
      .where('id', '>', after)
      .orderBy('id')
      .limit(batchSize)
      .execute()
    const last = rows.at(-1)
    if (!last) return
    await transaction(context.db, async (tx) => await context.holdCatalog?.(tx))
    const prospects = await renewalPricesOf(context, context.db, rows)
    for (const row of rows) {
      const prospect = prospects.get(row.id)
      const rise = prospect?.rise
      if (prospect && rise && !rise.announced)
        await transaction(context.db, (tx) => announce(context, tx, row, { ...prospect, rise }))
      // A planned change may be withdrawn, and then the announced price applies after all: keep the
      // announcement.
      if (prospect && !rise && row.rise !== null && row.planned === null)
        await transaction(context.db, (tx) => withdraw(context, tx, row, prospect))
    }
    after = last.id
  }
}
