/**
 * Stored comparisons: a difference stays open until both sides agree or somebody explains it. A job
 * compares each gateway every night and when an act asks for it. The page reads rows and calls no
 * gateway.
 */
import { days, later, type Clock } from '../platform/clock.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { PaymentDriver } from './driver.ts'
import { giveUpAfterMs } from './inquiry.ts'
import { settleMovements } from './movements.ts'
import type { Orders } from './orders.ts'
import { reconcileDriver } from './reconcile.ts'
import type { Settlement } from './settle.ts'

export const compareJob = (driver: string): string => `compare-gateway-${driver}`
export const settleDifferenceJob = (driver: string): string => `settle-difference-${driver}`
/** So far back a gateway is asked about every payment that brought something. */
const comparedMs = days(7)
/** So far back it is asked about what is still open, and the ledger is compared. */
const longestMs = days(60)

interface Deps {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Jobs
  readonly log: Log
  readonly drivers: ReadonlyMap<string, PaymentDriver>
  readonly orders: Orders
  readonly settlement: Settlement
}

export function defineComparisons(deps: Deps): void {
  const { db, clock, jobs, log } = deps

  /**
   * Compares a gateway, back to what is open, and writes down what differs and what agrees. Throws,
   * and writes nothing, once the signal is aborted.
   */
  async function compare(driver: PaymentDriver, signal: AbortSignal): Promise<void> {
    const to = clock.now()
    const open = await db
      .selectFrom('payment_difference')
      .select(['id', 'kind', 'about', 'at'])
      .where('driver', '=', driver.name)
      .where('agreed_at', 'is', null)
      .where('closed_at', 'is', null)
      .orderBy('at')
      .execute()
    const usual = later(to, -comparedMs)
    const [oldest] = open
    const wanted = oldest && oldest.at < usual ? oldest.at : usual
    const earliest = later(to, -longestMs)
    const span = { from: wanted < earliest ? earliest : wanted, to }
    const last = await db
      .selectFrom('payment_comparison')
      .select(['at', 'reached'])
      .where('driver', '=', driver.name)
      .executeTakeFirst()
    const asked = {
      from: usual,
      codes: new Set(open.map(({ about }) => about)),
      // The comparison before has asked about the older ones, after their own queries had ended.
      unpaidFrom: last?.reached && !driver.extras ? later(last.at, -giveUpAfterMs) : usual,
    }
    const found = await reconcileDriver(db, deps.orders, driver, span, asked, signal)
    // Of a payment that the gateway was not asked about, a movement agrees once it is posted.
    const stillMissing = open
      .filter(
        ({ kind, about, at }) =>
          kind === 'nothing_posted' && (at < usual || !driver.movements) && !found.isPosted(about),
      )
      .map(({ id }) => id)
    const isReached = found.reached.length > 0
    await transaction(db, async (tx) => {
      for (const { about, found: difference } of found.differences)
        if (difference) await keep(tx, driver.name, about, difference, to)
      // If a gateway was not reached, its earlier differences may still exist: do not close them.
      if (isReached)
        await tx
          .updateTable('payment_difference')
          .set({ agreed_at: to })
          .where('driver', '=', driver.name)
          .where('agreed_at', 'is', null)
          .where('at', '>=', span.from)
          .where('seen_at', '<', to)
          .$if(stillMissing.length > 0, (query) => query.where('id', 'not in', stillMissing))
          .execute()
      const run = {
        at: to,
        reached: isReached,
        payments: found.payments,
        postings: found.postings,
        queried: found.queried,
      }
      await tx
        .insertInto('payment_comparison')
        .values({ driver: driver.name, ...run })
        .onConflict((conflict) => conflict.column('driver').doUpdateSet(run))
        .execute()
    })
    log.info(
      { driver: driver.name, differences: found.differences.length },
      'a gateway was compared with payments and ledger',
    )
  }

  /** Asks about the payment, settles what the gateway says of it, and compares once more. */
  async function settle(driver: PaymentDriver, about: string, signal: AbortSignal): Promise<void> {
    const payment = await db
      .selectFrom('payment')
      .selectAll()
      .where('code', '=', about)
      .where('driver', '=', driver.name)
      .executeTakeFirst()
    try {
      if (payment) {
        const order = deps.orders.orderOf(payment, await deps.orders.buyerOf(payment.customer_id))
        const update = await driver.lookUp(order)
        if (update) await deps.settlement.settle(driver, update)
        for (const extra of (await driver.extras?.(order)) ?? [])
          await deps.settlement.settle(driver, extra)
      } else if (driver.movements)
        await transaction(db, (tx) => jobs.add(tx, settleMovements(driver.name), {}))
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error
      log.warn({ err: error, driver: driver.name, about }, 'a difference could not be asked about')
    }
    await compare(driver, signal)
  }

  for (const driver of deps.drivers.values()) {
    jobs.define({
      name: compareJob(driver.name),
      cron: '17 20 * * *',
      retries: 1,
      limitSeconds: 3600,
      run: (_payload, { signal }) => compare(driver, signal),
    })
    jobs.define<{ about: string }>({
      name: settleDifferenceJob(driver.name),
      retries: 3,
      limitSeconds: 3600,
      run: ({ about }, { signal }) => settle(driver, about, signal),
    })
  }
}

type Compared = NonNullable<
  Awaited<ReturnType<typeof reconcileDriver>>['differences'][number]['found']
>

/**
 * Stores a difference. A closed one stays closed while its figures are the same; new figures reopen
 * it.
 */
async function keep(
  tx: Tx,
  driver: string,
  about: string,
  { kind, here, there, currency, at }: Compared,
  now: Date,
): Promise<void> {
  await tx
    .insertInto('payment_difference')
    .values({ driver, kind, about, here, there, currency, at, found_at: now, seen_at: now })
    .onConflict((conflict) =>
      conflict.columns(['driver', 'kind', 'about']).doUpdateSet((eb) => ({
        here,
        there,
        at,
        seen_at: now,
        agreed_at: null,
        closed_at: eb
          .case()
          .when(
            eb.and([
              eb('payment_difference.here', 'is not distinct from', here),
              eb('payment_difference.there', 'is not distinct from', there),
            ]),
          )
          .then(eb.ref('payment_difference.closed_at'))
          .else(null)
          .end(),
      })),
    )
    .execute()
}
