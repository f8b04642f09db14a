/**
 * Queries a gateway about payments that stay pending, or that may receive more than was ordered,
 * and expires those that were never paid.
 */
import { later, minutes, seconds, type Clock } from '../platform/clock.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { PaymentDriver } from './driver.ts'
import { settleMovements } from './movements.ts'
import type { Orders } from './orders.ts'
import type { Settlement } from './settle.ts'

/** One queue per gateway: a gateway that hangs delays only its own customers. */
const jobOf = (driver: string): string => `ask-gateway-${driver}`
/**
 * The one queue of releases from before each gateway had its own. Its remaining jobs move to the
 * gateways' queues.
 */
const formerJob = 'ask-gateway'
/**
 * Seconds before each query of a gateway that sent no webhook; after the last one, once an hour
 * until the payment expires.
 */
const defaultGaps = [15, 30, 60, 120, 300, 600, 3600]
/** A payment that brought nothing is not asked about any more so long after it was begun. */
export const giveUpAfterMs = minutes(24 * 60)

/** At least this long between two queries of one payment that a person asks for, ms. */
const askAgainMs = 10_000

export interface Inquiry {
  /**
   * Queries the gateway now, at most once in ten seconds; the times in `schedule` do not change.
   */
  askNow(customerId: string, code: string): Promise<void>
  /** Schedules the queries, in the transaction that makes the payment. */
  schedule(tx: Tx, payment: { readonly id: string; readonly driver: string }): Promise<void>
}

export function createInquiry(deps: {
  db: Database
  clock: Clock
  jobs: Jobs
  drivers: ReadonlyMap<string, PaymentDriver>
  settlement: Settlement
  orders: Orders
  log: Log
  gapsSeconds?: readonly number[] | undefined
}): Inquiry {
  const { db, clock, jobs, drivers, settlement, orders, log } = deps
  const gaps = deps.gapsSeconds ?? defaultGaps
  const gapAfter = (asked: number): number => gaps[Math.min(asked, gaps.length - 1)] ?? 3600
  const schedule = (
    tx: Tx,
    { id: paymentId, driver }: { id: string; driver: string },
    asked: number,
  ): Promise<void> => {
    const startAfter = later(new Date(), seconds(gapAfter(asked)))
    return jobs.add(tx, jobOf(driver), { paymentId }, { startAfter })
  }

  /** Queries the gateway about a payment. `isExtra`: the query is not one of the scheduled ones. */
  async function ask(paymentId: string, isExtra: boolean): Promise<void> {
    const payment = await db
      .selectFrom('payment')
      .selectAll()
      .where('id', '=', paymentId)
      .executeTakeFirst()
    const driver = payment && drivers.get(payment.driver)
    if (!payment || !driver || (payment.status === 'succeeded' && !driver.extras)) return
    let found = false
    try {
      const order = orders.orderOf(payment, await orders.buyerOf(payment.customer_id))
      const update = payment.status === 'succeeded' ? null : await driver.lookUp(order)
      if (update) await settlement.settle(driver, update)
      found = update !== null
      for (const extra of (await driver.extras?.(order)) ?? [])
        await settlement.settle(driver, extra)
    } catch (error) {
      // A gateway that does not respond does not keep a payment pending for ever: the payment still
      // expires, and the gateway is queried again later.
      if (!(error instanceof DriverFailure)) throw error
      log.warn({ err: error, driver: payment.driver }, 'a payment could not be asked about')
    }
    if (isExtra && !found) return
    await transaction(db, async (tx) => {
      const now = clock.now()
      // If one webhook was missed, others may be too: read the list of movements at once.
      if (found && driver.movements) await jobs.add(tx, settleMovements(driver.name), {})
      const current = await tx
        .selectFrom('payment')
        .selectAll()
        .where('id', '=', paymentId)
        .forUpdate()
        .executeTakeFirstOrThrow()
      // Where several transfers may pay one payment, more may arrive after it is decided.
      if (current.status !== 'pending' && current.status !== 'expired' && !driver.extras) return
      // The gateway's own time limit has passed and it knows of no money: expired. We query for
      // another day, for money that arrives late.
      if (current.status === 'pending' && now > later(current.expires_at, seconds(30))) {
        await tx
          .updateTable('payment')
          .set({ status: 'expired', settled_at: now })
          .where('id', '=', paymentId)
          .execute()
      }
      if (isExtra || now.getTime() - current.created_at.getTime() > giveUpAfterMs) return
      await tx
        .updateTable('payment')
        .set({ asked: current.asked + 1 })
        .where('id', '=', paymentId)
        .execute()
      await schedule(tx, current, current.asked + 1)
    })
  }
  for (const driver of drivers.keys())
    jobs.define<{ paymentId: string; isExtra?: boolean }>({
      name: jobOf(driver),
      concurrency: 2,
      retries: 1000,
      retryDelaySeconds: 5,
      limitSeconds: 60,
      run: ({ paymentId, isExtra = false }) => ask(paymentId, isExtra),
    })
  jobs.define<{ paymentId: string }>({
    name: formerJob,
    retries: 1000,
    run: async ({ paymentId }) => {
      const payment = await db
        .selectFrom('payment')
        .select('driver')
        .where('id', '=', paymentId)
        .executeTakeFirst()
      if (payment && drivers.has(payment.driver))
        await transaction(db, (tx) => jobs.add(tx, jobOf(payment.driver), { paymentId }))
    },
  })
  /** When a person last asked for a query of a payment, in this process. */
  const askedAt = new Map<string, number>()
  return {
    schedule: (tx, payment) => schedule(tx, payment, 0),
    async askNow(customerId, code) {
      const payment = await orders.own(db, customerId, code)
      const at = performance.now()
      for (const [id, before] of askedAt) if (before < at - askAgainMs) askedAt.delete(id)
      if (payment.status !== 'pending' || !drivers.has(payment.driver) || askedAt.has(payment.id))
        return
      askedAt.set(payment.id, at)
      const job = { paymentId: payment.id, isExtra: true }
      await transaction(db, (tx) => jobs.add(tx, jobOf(payment.driver), job))
    },
  }
}
