/**
 * The forecast of how long a wallet lasts, computed from the actual renewals; and the warning when
 * that is short.
 */
import { sql } from 'kysely'
import type { Currency, RegionCode } from '../../contract/money.ts'
import { formatMoney } from '../../contract/money.ts'
import type { Runway } from '../../contract/billing.ts'
import { timeZoneOf, zoneOfReader } from '../catalog/index.ts'
import { days, hours, later, minutes, seconds } from '../platform/clock.ts'
import { databaseIsAway, transaction, type Queryable, type Tx } from '../platform/db.ts'
import { shownLine, type Balance } from '../wallet/index.ts'
import type { BillingContext } from './context.ts'
import type { Customer } from './issue.ts'
import type { SubscriptionRow } from './payment.ts'
import { emptyAt, forecast, type Renewing } from './forecast.ts'
import { dayIn, monthsAfter } from './period.ts'
import { shownFully } from './product.ts'
import { renewalPricesOf } from './prospects.ts'
import { runsOut } from './titles.ts'

/** Subscriptions per transaction. */
const batchSize = 200
/**
 * The most by which an unforeseen spending (an upgrade, a chargeback) is noticed late. Of 1,000,000
 * customers 1,000,000 / 6 = 167,000 are due in an hour's round.
 */
const healthyGapMs = hours(6)
/** After a warning the customer may top up and fall short again, so look again sooner. */
const warnedGapMs = hours(1)
/** Lease of a batch, which takes seconds; the batch of a killed worker is due again after it. */
const leaseMs = minutes(10)
const liveStatuses = ['active', 'past_due', 'suspended']

/** Each customer's renewals; a planned change is included, a planned end is not. */
export async function renewingOf(
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
      // An unpaid renewal's price is already on its invoice.
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
  const line = await context.ledger.creditLineOf(db, customerId)
  return {
    ...forecast(balance, renewing.get(customerId) ?? [], context.clock.now()),
    ...(line && { creditLine: shownLine(line) }),
  }
}

/** The smallest warning level (days) that is at least `lasts`; null: none. */
export const warningLevel = (lasts: number | null, levels: readonly number[]): number | null =>
  lasts === null
    ? null
    : (levels.toSorted((one, other) => one - other).find((level) => lasts <= level) ?? null)

/** The result of the sweep for one customer. */
interface Look {
  readonly customerId: string
  readonly wallet: Balance
  /** When the wallet is first short; null: beyond the forecast's horizon. */
  readonly end: Date | null
  /** Whole days until then. */
  readonly lasts: number | null
  /** The warning level; null: none, also while a renewal is unpaid (see dunning). */
  readonly level: number | null
}

/** When a customer's wallet must be checked next. */
export function nextLook({ end, level }: Look, levels: readonly number[], now: Date): Date {
  if (level !== null) return later(now, warnedGapMs)
  const latest = later(now, healthyGapMs)
  // The first second in which `lasts` is at most the largest level; `lasts` is rounded down.
  const crossing = end && later(end, seconds(1) - days(Math.max(0, ...levels) + 1))
  return crossing && crossing > now && crossing < latest ? crossing : latest
}

/**
 * Warns a customer once per level; a top-up allows another warning. An unpaid renewal has its own
 * letters (dunning).
 */
async function warn(context: BillingContext, tx: Tx, look: Look): Promise<void> {
  const { customerId, wallet, end, lasts, level } = look
  const warned = await tx
    .selectFrom('runway_warning')
    .select('days')
    .where('customer_id', '=', customerId)
    .forUpdate()
    .executeTakeFirst()
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
    wallet: {
      balance: Number(wallet.balance),
      currency: wallet.currency,
      days: lasts,
      emptyAt: end.toISOString(),
    },
  })
  await context.mail(
    tx,
    customer.email,
    ...letter(context, customer, { ...wallet, end, lasts: lasts ?? 0 }),
  )
}

function letter(
  context: BillingContext,
  customer: Customer,
  {
    balance,
    currency,
    end,
    lasts,
  }: { balance: bigint; currency: Currency; end: Date; lasts: number },
): [subject: string, text: string] {
  const { language } = customer
  const vi = language === 'vi'
  const money = formatMoney(Number(balance), currency, language)
  const day = dayIn(zoneOfReader(context.catalog, customer), end)
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

/**
 * Claims due subscriptions: no other worker takes them until the lease ends. Answers their
 * customers in a stable order, because two workers may write warnings of the same customers. It is
 * a separate statement: the sweep of renewals skips locked rows, and a row that was locked during
 * the whole look would renew a minute late.
 */
async function claim(db: Queryable, until: Date, now: Date): Promise<string[]> {
  const { rows } = await sql<{ customer_id: string }>`
    update subscription set watch_at = ${later(now, leaseMs)}
    where id = any (array(
      select id from subscription where status in ('active', 'past_due', 'suspended')
        and watch_at <= ${until} order by watch_at limit ${batchSize} for update skip locked))
    returning customer_id`.execute(db)
  return [...new Set(rows.map(({ customer_id }) => customer_id))].toSorted()
}

/** Checks these customers' wallets, warns, and stores the time of the next check. */
async function lookAt(context: BillingContext, tx: Tx, ids: readonly string[]): Promise<void> {
  const now = context.clock.now()
  const { lowRunwayDays: levels } = context.catalog.billing
  const renewing = await renewingOf(context, tx, ids)
  const wallets = await context.ledger.balancesOf(tx, ids)
  const warnings = await tx
    .selectFrom('runway_warning')
    .select(['customer_id', 'days'])
    .where('customer_id', 'in', ids)
    .execute()
  const warned = new Map(warnings.map((row) => [row.customer_id, row.days]))
  const looks = ids.map((customerId): Look => {
    const wallet = wallets.get(customerId)
    if (!wallet) throw new Error(`customer ${customerId} has no wallet`)
    const own = renewing.get(customerId) ?? []
    const end = emptyAt(wallet.balance, own, now)
    const lasts = end && Math.max(0, Math.floor((end.getTime() - now.getTime()) / days(1)))
    const level = own.some(({ unpaid }) => unpaid) ? null : warningLevel(lasts, levels)
    return { customerId, wallet, end, lasts, level }
  })
  for (const look of looks)
    if (look.level !== (warned.get(look.customerId) ?? null)) await warn(context, tx, look)
  // The customer's subscriptions that another transaction has locked fall due separately later.
  await sql`
    update subscription s set watch_at = m.at
    from unnest(${ids}::uuid[], ${looks.map((look) => nextLook(look, levels, now))}::timestamptz[])
      as m (customer_id, at)
    where s.customer_id = m.customer_id and s.id = any (array(
      select id from subscription where customer_id = any (${ids}::uuid[])
        and status in ('active', 'past_due', 'suspended') for update skip locked))`.execute(tx)
}

/**
 * Checks every due wallet that pays for renewals, in batches; no two workers share a batch. The
 * batch of a killed worker is due again when its lease ends. If a batch fails, its customers are
 * checked singly, and one that fails again is due an hour later. Throws if the database is away.
 */
export async function watchRunways(context: BillingContext, signal?: AbortSignal): Promise<void> {
  const { db, clock, log } = context
  const until = clock.now()
  const look = (ids: readonly string[]): Promise<void> =>
    transaction(db, (tx) => lookAt(context, tx, ids))
  for (;;) {
    signal?.throwIfAborted()
    const customers = await claim(db, until, clock.now())
    if (customers.length === 0) return
    try {
      await look(customers)
    } catch (error) {
      if (databaseIsAway(error)) throw error
      log.error({ err: error, customers: customers.length }, 'runways failed')
      for (const customerId of customers) {
        signal?.throwIfAborted()
        try {
          await look([customerId])
        } catch (failure) {
          if (databaseIsAway(failure)) throw failure
          log.error({ err: failure, customer: customerId }, 'a runway failed')
          await db
            .updateTable('subscription')
            .set({ watch_at: later(clock.now(), warnedGapMs) })
            .where('customer_id', '=', customerId)
            .where('status', 'in', liveStatuses)
            .execute()
        }
      }
    }
  }
}
