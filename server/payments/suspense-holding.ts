/**
 * Money of a gateway that is kept in suspense instead of being credited: each movement once, and of
 * an amount that grows only the rest.
 */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { OperatorOutbox } from '../realtime/index.ts'
import type { Ledger } from '../wallet/index.ts'
import type { PaymentUpdate, Source } from './driver.ts'
import { heldOf, keepSuspense, resolveSuspense, type SuspenseRow } from './suspense-rows.ts'

/** The ledger's key of a gateway's movement: it is posted once, as whatever kind. */
export const movementKey = (driver: Source, movement: string): string =>
  `${driver.name}:${movement}`

/** How a credit is explained on a statement. */
export type CreditDetails = Parameters<Ledger['credit']>[1]['details']

export function createSuspense(deps: {
  readonly clock: Clock
  readonly ledger: Ledger
  readonly outbox: OperatorOutbox
  readonly log: Log
}) {
  const { clock, ledger, outbox, log } = deps

  /**
   * Locks the movement until the transaction ends, so that no other transaction posts it. Returns
   * its row in suspense, open or resolved, if there is one.
   */
  async function lock(tx: Tx, driver: Source, movement: string): Promise<SuspenseRow | undefined> {
    const name = `movement ${movementKey(driver, movement)}`
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx)
    return await tx
      .selectFrom('payment_suspense')
      .selectAll()
      .where('driver', '=', driver.name)
      .where('provider_transaction_id', '=', movement)
      .forUpdate()
      .executeTakeFirst()
  }

  /**
   * Puts money that matches no payment into suspense, once per movement of the gateway. `code`: the
   * payment that the money names.
   */
  async function hold(
    tx: Tx,
    driver: Source,
    update: PaymentUpdate,
    reason: string,
    code?: string,
  ): Promise<void> {
    if (update.status !== 'succeeded' || update.amount <= 0n) return
    const movement = update.providerTransactionId ?? update.eventId
    const parked = await lock(tx, driver, movement)
    const credited = await ledger.posted(tx, movementKey(driver, movement))
    const before = parked ?? credited
    if (before === undefined) return await write(tx, driver, update, movement, reason)
    // The customer types the reference, and each transfer has a number of its own: another amount
    // is another transfer.
    if (driver.credits === 'received' && before.amount !== update.amount)
      return await holdReused(tx, driver, update)
    if (driver.credits !== 'exact') return
    // The amount under one number may grow: the rest waits in suspense too. If the movement was
    // credited to another payment, nothing is held here.
    const decided = credited ?? (parked?.resolved_at === null ? undefined : parked)
    if (decided) {
      if (credited && credited.code !== code) return
      await holdRest(tx, driver, update, movement, { reason, decided: decided.amount })
    } else if (before.amount < update.amount)
      await write(tx, driver, update, movement, reason, before.amount)
  }

  /** A part of the movement is already credited or decided: puts the rest into a row of its own. */
  async function holdRest(
    tx: Tx,
    driver: Source,
    update: PaymentUpdate,
    movement: string,
    { reason, decided }: { readonly reason: string; readonly decided: bigint },
  ): Promise<void> {
    const rest = update.amount - (await heldOf(tx, driver.name, movement, decided))
    if (rest > 0n)
      await write(tx, driver, { ...update, amount: rest }, `${movement}:${update.amount}`, reason)
  }

  /** The number belongs to another movement already: this one waits under its event's id. */
  async function holdReused(tx: Tx, driver: Source, update: PaymentUpdate): Promise<void> {
    if (!(await lock(tx, driver, update.eventId)))
      await write(tx, driver, update, update.eventId, 'reference_reused')
  }

  /** `before`: minor units of this movement that are in suspense already. */
  async function write(
    tx: Tx,
    driver: Source,
    update: PaymentUpdate,
    movement: string,
    reason: string,
    before = 0n,
  ): Promise<void> {
    const { amount, currency, reference: code } = update
    const row = { driver: driver.name, movement, code, amount, currency, reason }
    await keepSuspense(tx, { clock, outbox }, row)
    await ledger.holdInSuspense(tx, {
      key: `${movementKey(driver, movement)}:suspense${before === 0n ? '' : `:${amount}`}`,
      driver: driver.name,
      amount: amount - before,
      currency,
      details: { provider: driver.displayName, reason, ...(code !== null && { code }) },
    })
    log.warn({ driver: driver.name, movement, reason }, 'money held in suspense')
  }

  /** Takes an unresolved row out of suspense, before its movement is credited to the customer. */
  async function release(
    tx: Tx,
    driver: Source,
    parked: SuspenseRow,
    customerId: string,
    details: CreditDetails,
  ): Promise<void> {
    await ledger.releaseFromSuspense(tx, {
      key: `${movementKey(driver, parked.provider_transaction_id)}:unparked`,
      customerId,
      driver: driver.name,
      amount: parked.amount,
      currency: parked.currency as Currency,
      details,
    })
    await resolveSuspense(tx, clock, parked.id)
  }

  return { lock, hold, holdRest, holdReused, release }
}
