/**
 * Automatic top-up at work: the job of one customer, which charges the card where the wallet needs
 * it, and the sweep that finds whose wallet may (decision 136). One payment is under way at a time;
 * one whose answer is lost counts as under way, and as spent, until the gateway says what became of
 * it.
 */
import { randomUUID } from 'node:crypto'
import { daysAhead } from '../../contract/auto-top-up.ts'
import type { Currency } from '../../contract/money.ts'
import type { Billing } from '../billing/index.ts'
import type { Catalog } from '../catalog/index.ts'
import { days, later, minutes, type Clock } from '../platform/clock.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Ledger } from '../wallet/index.ts'
import { createAutomaticCharges, type Task } from './auto-top-up-charge.ts'
import { dayAfterMonth, monthIn, spentIn } from './auto-top-up-month.ts'
import { cardName, lockRule, switchOff, type AutoTopUpRule } from './auto-top-up-outcome.ts'
import { automaticChannel, type PaymentDriver } from './driver.ts'
import { readerOf } from './letter-reader.ts'
import type { Letters } from './letters.ts'
import type { Orders } from './orders.ts'
import { cardsOf, takesRegion } from './routing.ts'
import type { Settlement } from './settle.ts'

export const autoTopUpJob = 'auto-top-up'
export const sweepJob = 'auto-top-up-sweep'

/** Pause between two successful charges, so that a bug of ours cannot empty a card. */
const pauseMs = minutes(10)
/**
 * Lease of the worker that began a charge: no other worker touches the charge until it ends. A call
 * takes seconds.
 */
const leaseMs = minutes(2)
/** Customers whose wallets the sweep looks at in one query. */
const batchSize = 200

export interface AutoTopUpDeps {
  readonly db: Database
  readonly clock: Clock
  readonly catalog: Catalog
  readonly drivers: ReadonlyMap<string, PaymentDriver>
  readonly jobs: Jobs
  readonly ledger: Ledger
  readonly letters: Letters
  readonly orders: Orders
  readonly settlement: Settlement
  readonly fundsOf: Billing['fundsOf']
  readonly log: Log
}

/**
 * Called in the transaction that charges wallets: schedules a check of each wallet whose customer
 * has automatic top-up on.
 */
export const createOnCharged =
  (jobs: Pick<Jobs, 'add'>) =>
  async (tx: Tx, customerIds: readonly string[]): Promise<void> => {
    if (customerIds.length === 0) return
    const wishing = await tx
      .selectFrom('auto_top_up')
      .select('customer_id')
      .where('customer_id', 'in', customerIds)
      .where('off_at', 'is', null)
      .execute()
    for (const { customer_id: customerId } of wishing)
      await jobs.add(tx, autoTopUpJob, { customerId })
  }

/** Minor units: a balance, what it does not cover, and the wish. Undefined: nothing is needed. */
const neededAmount = (
  rule: Pick<AutoTopUpRule, 'below' | 'amount'>,
  { balance, due, owed }: { balance: bigint; due: bigint; owed: bigint },
): bigint | undefined => {
  if (balance >= rule.below && balance >= due) return undefined
  const missing = due + owed - balance
  return missing > rule.amount ? missing : rule.amount
}
const least = (one: bigint, other: bigint): bigint => (one < other ? one : other)

export function defineAutoTopUp(deps: AutoTopUpDeps): void {
  const { db, clock, catalog, drivers, jobs, ledger, letters, orders } = deps
  const charge = createAutomaticCharges(deps)

  const comeBack = (tx: Tx, customerId: string, inMs: number): Promise<void> =>
    jobs.add(tx, autoTopUpJob, { customerId }, { startAfter: later(new Date(), inMs) })

  /**
   * What is to be done about the charge that is under way; undefined: there is none. One that the
   * gateway may never have heard of is made only while it is still wished as it was: `isWished`.
   */
  async function taskUnderWay(
    tx: Tx,
    customerId: string,
    isWished: (charge: { card_id: string; began_at: Date }) => Promise<boolean>,
  ): Promise<Task | null | undefined> {
    const now = clock.now()
    const charge = await tx
      .selectFrom('auto_top_up_charge')
      .selectAll()
      .where('customer_id', '=', customerId)
      .where('state', '=', 'under_way')
      .forUpdate()
      .executeTakeFirst()
    if (!charge) return undefined
    // Somebody is at it, or its answer was lost a moment ago.
    if (charge.lease_until > now) return null
    await tx
      .updateTable('auto_top_up_charge')
      .set({ lease_until: later(now, leaseMs) })
      .where('payment_id', '=', charge.payment_id)
      .execute()
    const payment = await tx
      .selectFrom('payment')
      .selectAll()
      .where('id', '=', charge.payment_id)
      .executeTakeFirstOrThrow()
    const isOpen = payment.status === 'pending' && payment.expires_at > now
    const act = isOpen && (await isWished(charge)) ? 'charge_again' : 'ask'
    if (act === 'charge_again') await comeBack(tx, customerId, leaseMs)
    return { act, payment, cardId: charge.card_id }
  }

  /**
   * Whether the last charge succeeded within the pause; then the wallet is checked after the pause.
   */
  async function isPausing(tx: Tx, customerId: string): Promise<boolean> {
    const last = await tx
      .selectFrom('auto_top_up_charge')
      .select((eb) => eb.fn.max('decided_at').as('at'))
      .where('customer_id', '=', customerId)
      .where('state', '=', 'succeeded')
      .executeTakeFirst()
    const leftMs = last?.at ? last.at.getTime() + pauseMs - clock.now().getTime() : 0
    if (leftMs > 0) await comeBack(tx, customerId, leftMs)
    return leftMs > 0
  }

  /** Minor units that the wallet needs by the rule; undefined: nothing. */
  async function needOf(tx: Tx, rule: AutoTopUpRule): Promise<bigint | undefined> {
    const { customer_id: customerId } = rule
    const until = later(clock.now(), days(daysAhead))
    const funds = (await deps.fundsOf(tx, [customerId], until)).get(customerId)
    if (!funds) return undefined
    return neededAmount(rule, {
      balance: funds.balance,
      due: funds.overdue + funds.ahead,
      owed: (await ledger.creditLineOf(tx, customerId))?.owed ?? 0n,
    })
  }

  /** Decides in one transaction what is to be done, and writes it down before the gateway acts. */
  async function decide(tx: Tx, customerId: string): Promise<Task | null> {
    const rule = await lockRule(tx, customerId)
    const customer = await tx
      .selectFrom('customer')
      .select(['closed_at', 'blocked_at'])
      .where('id', '=', customerId)
      .executeTakeFirst()
    const isBarred = !customer || customer.closed_at !== null || customer.blocked_at !== null
    // Another card, amount or consent since, or money that came: what was decided holds no more.
    const underWay = await taskUnderWay(
      tx,
      customerId,
      async (charge) =>
        rule?.off_at === null &&
        !isBarred &&
        rule.card_id === charge.card_id &&
        rule.consented_at <= charge.began_at &&
        (await needOf(tx, rule)) !== undefined,
    )
    if (underWay !== undefined) return underWay
    if (rule?.off_at !== null) return null
    const now = clock.now()
    if (rule.next_try_at && rule.next_try_at > now) return null
    if (isBarred || (await isPausing(tx, customerId))) return null
    const buyer = await orders.buyerOf(customerId, tx)
    const driver = cardsOf(catalog, drivers)
    // Missing keys mean that the operator is changing the configuration: keep the customer's rule.
    if (!driver) return null
    const region = buyer.regionCode
    if (
      rule.driver !== driver.name ||
      rule.currency !== catalog.regions[region].currency ||
      !takesRegion(catalog, driver, catalog.payments.cards.regions, region)
    ) {
      await switchOff(deps, tx, rule, 'region')
      return null
    }
    const needed = await needOf(tx, rule)
    if (needed === undefined) return null
    const month = monthIn(catalog, region, now)
    const spent = await spentIn(tx, customerId, month)
    const left = rule.month_limit - spent
    if (left < rule.amount) {
      await tellOfLimit(tx, rule, month, spent)
      return null
    }
    const { min, max } = catalog.payments.currencies[catalog.regions[region].currency]
    const amount = least(needed, least(left, BigInt(max)))
    if (amount < BigInt(min)) return null
    const { language } = await readerOf(deps, tx, customerId)
    const payment = await orders.openIn(
      tx,
      { buyer, amount: Number(amount), ip: '', language, actionId: randomUUID() },
      driver,
      automaticChannel,
    )
    await tx
      .insertInto('auto_top_up_charge')
      .values({
        payment_id: payment.id,
        customer_id: customerId,
        amount,
        card_id: rule.card_id,
        month,
        state: 'under_way',
        began_at: now,
        lease_until: later(now, leaseMs),
      })
      .execute()
    // Should this process end before the gateway is called.
    await comeBack(tx, customerId, leaseMs)
    return { act: 'charge', payment, cardId: rule.card_id }
  }

  /** Tells the customer once a month that the limit is reached. */
  async function tellOfLimit(
    tx: Tx,
    rule: AutoTopUpRule,
    month: string,
    spent: bigint,
  ): Promise<void> {
    if (rule.limit_told === month) return
    await tx
      .updateTable('auto_top_up')
      .set({ limit_told: month })
      .where('customer_id', '=', rule.customer_id)
      .execute()
    await letters.autoTopUp(tx, {
      change: 'limit',
      customerId: rule.customer_id,
      currency: rule.currency as Currency,
      amount: rule.amount,
      card: cardName(rule),
      limit: rule.month_limit,
      spent,
      until: dayAfterMonth(month),
    })
  }

  async function run(customerId: string): Promise<void> {
    const task = await transaction(db, (tx) => decide(tx, customerId))
    if (!task) return
    const driver = drivers.get(task.payment.driver)
    if (driver?.kind === 'card') await charge(driver, task)
  }

  const inNeed = async (ids: readonly string[], rules: readonly AutoTopUpRule[]) => {
    const found = await deps.fundsOf(db, ids, later(clock.now(), days(daysAhead)))
    return rules.filter((rule) => {
      const funds = found.get(rule.customer_id)
      return (
        funds &&
        neededAmount(rule, {
          balance: funds.balance,
          due: funds.overdue + funds.ahead,
          owed: 0n,
        }) !== undefined
      )
    })
  }
  const look = (ids: readonly string[]): Promise<void> =>
    transaction(db, async (tx) => {
      for (const customerId of ids) await jobs.add(tx, autoTopUpJob, { customerId })
    })

  /**
   * Queues a check of every wallet that may need a top-up, and of every charge whose result is
   * unknown.
   */
  async function sweep(signal: AbortSignal): Promise<void> {
    const now = clock.now()
    const lost = await db
      .selectFrom('auto_top_up_charge')
      .select('customer_id')
      .where('state', '=', 'under_way')
      .where('lease_until', '<', now)
      .execute()
    await look(lost.map(({ customer_id }) => customer_id))
    for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
      signal.throwIfAborted()
      const rules = await db
        .selectFrom('auto_top_up')
        .selectAll()
        .where('off_at', 'is', null)
        .where((eb) => eb.or([eb('next_try_at', 'is', null), eb('next_try_at', '<=', now)]))
        .where('customer_id', '>', after)
        .orderBy('customer_id')
        .limit(batchSize)
        .execute()
      const last = rules.at(-1)
      if (!last) return
      const ids = rules.map(({ customer_id }) => customer_id)
      await look((await inNeed(ids, rules)).map(({ customer_id }) => customer_id))
      after = last.customer_id
    }
  }

  jobs.define<{ customerId: string }>({
    name: autoTopUpJob,
    concurrency: 2,
    retries: 8,
    limitSeconds: 120,
    run: ({ customerId }) => run(customerId),
  })
  jobs.define({
    name: sweepJob,
    cron: '31 * * * *',
    retries: 3,
    limitSeconds: 3600,
    run: (_payload, { signal }) => sweep(signal),
  })
}
