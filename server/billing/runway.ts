/**
 * The forecast of how long a wallet lasts, computed from what will really renew; and the warning
 * when that is short.
 */
import type { Currency, RegionCode } from '../../contract/money.ts'
import { formatMoney } from '../../contract/money.ts'
import type { Runway } from '../../contract/billing.ts'
import { timeZoneOf } from '../catalog/index.ts'
import { days } from '../platform/clock.ts'
import { transaction, type Queryable } from '../platform/db.ts'
import type { BillingContext } from './context.ts'
import type { Customer } from './issue.ts'
import type { SubscriptionRow } from './payment.ts'
import { emptyAt, forecast, type Renewing } from './forecast.ts'
import { dayIn, monthsAfter } from './period.ts'
import { shownFully } from './product.ts'
import { renewalPricesOf } from './prospects.ts'
import { runsOut } from './titles.ts'

/** Customers whose wallets are looked at in one go. */
const batchSize = 200
const liveStatuses = ['active', 'past_due', 'suspended']

/** What renews of each customer; a planned change is in it, a planned end is not. */
async function renewingOf(
  context: BillingContext,
  db: Queryable,
  customerIds: readonly string[],
): Promise<Map<string, Renewing[]>> {
  const rows = await db
    .selectFrom('subscription')
    .selectAll()
    .where('customer_id', 'in', customerIds)
    .where('status', 'in', liveStatuses)
    .where('cancel_at_period_end', '=', false)
    .execute()
  const prospects = await renewalPricesOf(context, db, rows)
  const renewing = (row: SubscriptionRow): Renewing => {
    const zone = timeZoneOf(context.catalog, row.region_code as RegionCode)
    const unpaid = row.status !== 'active'
    const prospect = prospects.get(row.id)
    return {
      id: row.id,
      at: row.period_end,
      // An unpaid renewal's price stands on its invoice already.
      amount: unpaid ? row.price : (prospect?.offer.price ?? row.price),
      rise: prospect?.rise
        ? { from: prospect.rise.actsAt, amount: prospect.rise.offer.price }
        : null,
      unpaid,
      after: (n) => monthsAfter(row.anchor_at, row.months + n, zone),
      shown: shownFully(context.products, row),
    }
  }
  return new Map(
    [...Map.groupBy(rows, ({ customer_id }) => customer_id)].map(([id, own]) => [
      id,
      own.map(renewing),
    ]),
  )
}

export async function runway(
  context: BillingContext,
  db: Queryable,
  customerId: string,
): Promise<Runway> {
  const { balance } = await context.ledger.balanceOf(db, customerId)
  const renewing = await renewingOf(context, db, [customerId])
  return forecast(balance, renewing.get(customerId) ?? [], context.clock.now())
}

/** The smallest of the warned numbers of days that this wallet lasts no longer than. */
export const warningLevel = (lasts: number | null, levels: readonly number[]): number | null =>
  lasts === null
    ? null
    : (levels.toSorted((one, other) => one - other).find((level) => lasts <= level) ?? null)

/**
 * Warns each customer once per level; after a top-up a customer may be warned again. An unpaid
 * renewal has its own letters (dunning).
 */
async function warn(
  context: BillingContext,
  customerId: string,
  renewing: readonly Renewing[],
): Promise<void> {
  await transaction(context.db, async (tx) => {
    const { balance, currency } = await context.ledger.balanceOf(tx, customerId)
    const now = context.clock.now()
    const warned = await tx
      .selectFrom('runway_warning')
      .select('days')
      .where('customer_id', '=', customerId)
      .forUpdate()
      .executeTakeFirst()
    const end = emptyAt(balance, renewing, now)
    const lasts = end && Math.max(0, Math.floor((end.getTime() - now.getTime()) / days(1)))
    const level = renewing.some(({ unpaid }) => unpaid)
      ? null
      : warningLevel(lasts, context.catalog.billing.lowRunwayDays)
    if (level === (warned?.days ?? null)) return
    if (level === null) {
      await tx.deleteFrom('runway_warning').where('customer_id', '=', customerId).execute()
      return
    }
    const noted = await tx
      .insertInto('runway_warning')
      .values({ customer_id: customerId, days: level })
      .onConflict((conflict) =>
        conflict
          .column('customer_id')
          .doUpdateSet({ days: level })
          .where('runway_warning.days', '<>', level),
      )
      .returning('days')
      .executeTakeFirst()
    // The wallet lasts longer than at the last warning, or another process has warned already.
    if (!noted || (warned && warned.days < level) || !end) return
    const customer = (await context.customers(tx, [customerId])).get(customerId)
    if (!customer) return
    await context.outbox.publishEvent(tx, customerId, 'wallet.low', {
      wallet: { balance: Number(balance), currency, days: lasts, emptyAt: end.toISOString() },
    })
    await context.mail(
      tx,
      customer.email,
      ...letter(context, customer, { balance, currency, end, lasts: lasts ?? 0 }),
    )
  })
}

function letter(
  context: BillingContext,
  { regionCode: region, language }: Customer,
  {
    balance,
    currency,
    end,
    lasts,
  }: { balance: bigint; currency: Currency; end: Date; lasts: number },
): [subject: string, text: string] {
  const vi = language === 'vi'
  const money = formatMoney(Number(balance), currency, language)
  const day = dayIn(timeZoneOf(context.catalog, region), end)
  const link = `${context.portalUrl}/payment`
  return vi
    ? [
        runsOut(lasts, language),
        `Số dư ví là ${money}, không đủ cho lần gia hạn ngày ${day}. Nạp tiền tại: ${link}`,
      ]
    : [
        runsOut(lasts, language),
        `Your balance is ${money}, too low for the renewal on ${day}. Top up here: ${link}`,
      ]
}

/** Looks at every wallet that something renews from. */
export async function watchRunways(context: BillingContext, signal?: AbortSignal): Promise<void> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    signal?.throwIfAborted()
    const customers = await context.db
      .selectFrom('subscription')
      .select('customer_id')
      .distinct()
      .where('status', 'in', liveStatuses)
      .where('customer_id', '>', after)
      .orderBy('customer_id')
      .limit(batchSize)
      .execute()
    const ids = customers.map(({ customer_id }) => customer_id)
    const last = ids.at(-1)
    if (last === undefined) return
    const renewing = await renewingOf(context, context.db, ids)
    for (const id of ids) await warn(context, id, renewing.get(id) ?? [])
    after = last
  }
}
