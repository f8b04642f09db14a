/**
 * Settles the movements that a gateway lists, because a webhook may be missed: each listed movement
 * is settled as its webhook would have been, with its order or in suspense. Settlement happens once
 * per movement, so webhooks, lists and several processes may all report the same one.
 */
import { days, hours, later, minutes, type Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { PaymentUpdate, UpdateOutcome, PaymentDriver } from './driver.ts'
import type { Settled, Settlement } from './settle.ts'

/** A queue for each gateway. */
export const settleMovements = (driver: string): string => `settle-movements-${driver}`
/**
 * The short list is read every minute. The long list finds movements that the bank or the feed
 * reported late, or that arrived while the portal was down.
 */
const lists = [
  { nameOf: settleMovements, cron: '* * * * *', spanMs: hours(2) },
  {
    nameOf: (driver: string) => `settle-movements-of-days-${driver}`,
    cron: '29 * * * *',
    spanMs: days(7),
  },
] as const

/** A movement that was settled with one of these outcomes is not settled again. */
const settledOutcomes: readonly UpdateOutcome[] = [
  'recorded',
  'already',
  'unknown_order',
  'wrong_amount',
]
const batch = 500

export function defineSettlingMovements(deps: {
  db: Database
  clock: Clock
  jobs: Jobs
  drivers: ReadonlyMap<string, PaymentDriver>
  settlement: Settlement
  log: Log
}): void {
  const { db, clock, jobs, drivers, settlement, log } = deps
  const firstPayments = new Map<string, Date>()

  /** When the gateway's first payment was begun; undefined when there was none yet. */
  async function firstPayment({ name }: PaymentDriver): Promise<Date | undefined> {
    const known = firstPayments.get(name)
    if (known) return known
    const { at } = await db
      .selectFrom('payment')
      .select((eb) => eb.fn.min('created_at').as('at'))
      .where('driver', '=', name)
      .executeTakeFirstOrThrow()
    if (at) firstPayments.set(name, at)
    return at ?? undefined
  }

  /** The updates for which no webhook is settled yet: most movements had their own webhook. */
  async function withoutWebhook(
    driver: PaymentDriver,
    updates: readonly PaymentUpdate[],
  ): Promise<PaymentUpdate[]> {
    const rows = await db
      .selectFrom('payment_notice')
      .select('event_id')
      .where('driver', '=', driver.name)
      .where(
        'event_id',
        'in',
        updates.map(({ eventId }) => eventId),
      )
      .where('outcome', 'in', settledOutcomes)
      .execute()
    const settled = new Set(rows.map(({ event_id: id }) => id))
    return updates.filter(({ eventId }) => !settled.has(eventId))
  }

  /**
   * Stores the update beside the webhooks, as the record of what credited the payment and of what
   * is settled already.
   */
  async function keep(
    driver: PaymentDriver,
    update: PaymentUpdate,
    { outcome, paymentId }: Settled,
  ): Promise<void> {
    const raw = JSON.stringify({
      method: 'LIST',
      movement: { ...update, amount: update.amount.toString() },
    })
    await db
      .insertInto('payment_notice')
      .values({
        driver: driver.name,
        event_id: update.eventId,
        raw,
        outcome,
        payment_id: paymentId,
        received_at: clock.now(),
      })
      .execute()
  }

  /** The feeds keep to the wall's clock, and so does this. */
  async function settleListed(
    driver: PaymentDriver,
    spanMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const first = driver.movements && (await firstPayment(driver))
    if (!driver.movements || !first) return
    const now = new Date()
    // Money that arrived before the first payment belongs to no customer; one day earlier, for a
    // bank that reports days only. With a clock that was moved, the first payment's time is not
    // used.
    const [from, begun] = [later(now, -spanMs), later(first, -days(1))]
    const updates = await driver.movements({
      from: begun > from && begun < now ? begun : from,
      to: later(now, minutes(1)),
    })
    for (let at = 0; at < updates.length; at += batch) {
      for (const update of await withoutWebhook(driver, updates.slice(at, at + batch))) {
        if (signal.aborted) return
        try {
          await keep(driver, update, await settlement.settle(driver, update))
        } catch (error) {
          // One failure does not hold up the others; the next list contains this movement again.
          log.error(
            { err: error, driver: driver.name, event: update.eventId },
            'a listed movement was not settled',
          )
        }
      }
    }
  }

  for (const driver of drivers.values()) {
    if (!driver.movements) continue
    for (const { nameOf, cron, spanMs } of lists)
      jobs.define({
        name: nameOf(driver.name),
        cron,
        // The next one asks for the same and more.
        retries: 0,
        limitSeconds: 600,
        run: async (_payload, { signal }) => {
          try {
            await settleListed(driver, spanMs, signal)
          } catch (error) {
            if (!(error instanceof DriverFailure)) throw error
            log.warn({ err: error, driver: driver.name }, 'a gateway gave no list of its movements')
          }
        },
      })
  }
}
