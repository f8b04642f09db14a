/**
 * Pay-outs: amounts that gateways sent to our bank, and the fees that they kept, from API calls or
 * files. Each is posted once, after it has arrived. Each line of its report is compared with our
 * record of the movement; a difference stays open until somebody closes it.
 */
import { createHash, randomUUID } from 'node:crypto'
import { days, later, type Clock } from '../platform/clock.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Ledger } from '../wallet/index.ts'
import type { GatewayPayout, PaymentDriver, PayoutLine } from './driver.ts'

/** How far back the hourly look reads. */
const readMs = days(35)
const batch = 500
const hourlyJob = (driver: string): string => `read-payouts-${driver}`
/** Reads from a day on. It has its own queue, for the hourly one drops it while another waits. */
export const readPayoutsJob = (driver: string): string => `read-payouts-since-${driver}`

interface Deps {
  readonly clock: Clock
  readonly ledger: Ledger
}
/**
 * `already`: it was posted before. `waits`: it has not reached the bank yet, or its lines are
 * unknown.
 */
export type Recorded = 'posted' | 'already' | 'undone' | 'waits'

/** Our record of the movement that a line is about, minor units. Undefined: we have none. */
async function known(
  db: Queryable,
  driver: string,
  { kind, movement }: PayoutLine,
): Promise<{ amount: bigint; currency: string; code: string } | undefined> {
  if (movement === null || kind === 'fee' || kind === 'other') return undefined
  if (kind === 'payment')
    return await db
      .selectFrom('payment')
      .select(['received as amount', 'currency', 'code'])
      .where('driver', '=', driver)
      .where((eb) =>
        eb.or(
          (['provider_ref', 'provider_transaction_id', 'reference', 'code'] as const).map(
            (column) => eb(column, '=', movement),
          ),
        ),
      )
      .executeTakeFirst()
  const own =
    kind === 'refund'
      ? await db
          .selectFrom('payment_refund as r')
          .innerJoin('payment as p', 'p.id', 'r.payment_id')
          .select(['r.amount', 'p.currency', 'p.code'])
          .where('p.driver', '=', driver)
          .where('r.provider_refund_id', '=', movement)
          .where('r.status', '=', 'done')
          .executeTakeFirst()
      : undefined
  const found =
    own ??
    (await db
      .selectFrom('payment_reversal as r')
      .innerJoin('payment as p', 'p.id', 'r.payment_id')
      .select(['r.amount', 'p.currency', 'p.code'])
      .where('p.driver', '=', driver)
      .where('r.movement', '=', movement)
      .where('r.kind', '=', reversalKinds[kind])
      .executeTakeFirst())
  if (!found) return undefined
  return { ...found, amount: kind === 'dispute_won' ? found.amount : -found.amount }
}
const reversalKinds = {
  refund: 'refunded',
  dispute: 'reversed',
  dispute_won: 'restored',
} as const

/**
 * The gateway's fees, minor units: the fees of its lines, and the lines that are fees themselves.
 */
const feesOf = (lines: readonly PayoutLine[]): bigint =>
  lines.reduce((sum, { kind, amount, fee }) => sum + fee - (kind === 'fee' ? amount : 0n), 0n)
const netOf = (lines: readonly PayoutLine[]): bigint =>
  lines.reduce((sum, { amount, fee }) => sum + amount - fee, 0n)

/** A line that another pay-out has had already. */
export class PaidOutBefore extends Error {
  readonly lines: readonly string[]
  constructor(lines: readonly string[]) {
    super(`paid out before: ${lines.join(', ')}`)
    this.lines = lines
  }
}

/**
 * Posts a pay-out that has arrived, once. Throws PaidOutBefore and has then written nothing.
 * `file`: its source.
 */
export async function recordPayout(
  tx: Tx,
  { clock, ledger }: Deps,
  driver: Pick<PaymentDriver, 'name' | 'displayName'>,
  payout: GatewayPayout,
  file?: { readonly name: string; readonly text: string },
): Promise<{ id: string; outcome: Recorded; fees: bigint; lineSum: bigint }> {
  const now = clock.now()
  const told = { status: payout.status, arrives_at: payout.arrivesAt, seen_at: now }
  const { id, posted_at, undone_at } = await tx
    .insertInto('gateway_payout')
    .values({
      ...told,
      id: randomUUID(),
      driver: driver.name,
      reference: payout.id,
      currency: payout.currency,
      amount: payout.amount,
      file_name: file?.name ?? null,
      file_hash: file ? createHash('sha256').update(file.text).digest() : null,
    })
    .onConflict((conflict) => conflict.columns(['driver', 'reference']).doUpdateSet(told))
    .returning(['id', 'posted_at', 'undone_at'])
    .executeTakeFirstOrThrow()
  const lines = payout.lines ?? []
  const [fees, lineSum] = [feesOf(lines), netOf(lines)]
  const found = (outcome: Recorded) => ({ id, outcome, fees, lineSum })
  const key = `payout:${driver.name}:${payout.id}`
  const posting = {
    driver: driver.name,
    currency: payout.currency,
    amount: payout.amount,
    details: { provider: driver.displayName, code: payout.id },
  }
  if (payout.status === 'failed' && posted_at !== null && undone_at === null) {
    await ledger.undoPayout(tx, { ...posting, key: `${key}:undone` })
    await tx.updateTable('gateway_payout').set({ undone_at: now }).where('id', '=', id).execute()
    return found('undone')
  }
  if (posted_at !== null) return found('already')
  if (payout.status !== 'paid' || payout.lines === null) return found('waits')
  await writeLines(tx, driver.name, id, payout.currency, lines)
  await ledger.settlePayout(tx, { ...posting, key, fees })
  await tx
    .updateTable('gateway_payout')
    .set({ fees, line_sum: lineSum, posted_at: now, closed_at: null })
    .where('id', '=', id)
    .execute()
  return found('posted')
}

async function writeLines(
  tx: Tx,
  driver: string,
  payoutId: string,
  currency: string,
  lines: readonly PayoutLine[],
): Promise<void> {
  if (lines.length === 0) return
  const rows = []
  for (const line of lines) {
    const found = await known(tx, driver, line)
    const isCompared = line.kind !== 'fee'
    // What the gateway changed into another currency is compared in its own.
    const told = line.converted ?? { amount: line.amount, currency }
    let fault: 'unknown' | 'amount' | null = null
    if (isCompared && !found) fault = 'unknown'
    else if (found && (found.amount !== told.amount || found.currency !== told.currency))
      fault = 'amount'
    rows.push({
      payout_id: payoutId,
      driver,
      reference: line.id,
      kind: line.kind,
      amount: line.amount,
      fee: line.fee,
      movement: line.movement,
      code: found?.code ?? null,
      fault,
      expected: found?.amount ?? null,
    })
  }
  for (let at = 0; at < rows.length; at += batch) {
    const some = rows.slice(at, at + batch)
    const written = await tx
      .insertInto('gateway_payout_line')
      .values(some)
      .onConflict((conflict) => conflict.columns(['driver', 'reference']).doNothing())
      .returning('reference')
      .execute()
    if (written.length === some.length) continue
    const fresh = new Set(written.map(({ reference }) => reference))
    // A movement that appears twice in this report also counts as paid out before.
    const again = some.filter(({ reference }) => !fresh.delete(reference))
    throw new PaidOutBefore(again.map(({ reference }) => reference))
  }
}

/** Every hour, gateways whose API lists pay-outs are queried for them. */
export function definePayouts(
  deps: Deps & {
    readonly db: Database
    readonly jobs: Jobs
    readonly log: Log
    readonly drivers: ReadonlyMap<string, PaymentDriver>
  },
): void {
  const { db, jobs, log } = deps

  /** Posts one pay-out. One that cannot be posted appears on the page of differences. */
  async function post(driver: PaymentDriver, payout: GatewayPayout): Promise<void> {
    const about = { driver: driver.name, payout: payout.id }
    if (payout.lines === null) log.warn(about, 'a gateway gave no lines of a pay-out')
    try {
      await transaction(db, (tx) => recordPayout(tx, deps, driver, payout))
    } catch (error) {
      if (!(error instanceof PaidOutBefore)) throw error
      log.error({ ...about, err: error }, 'a pay-out is not posted')
      const noted = { ...payout, lines: null }
      await transaction(db, (tx) => recordPayout(tx, deps, driver, noted))
    }
  }

  async function read(driver: PaymentDriver, since: Date): Promise<void> {
    try {
      const payouts = (await driver.payouts?.(since)) ?? []
      const failures: unknown[] = []
      for (const payout of payouts)
        // It keeps no other one waiting; the next look has it again.
        await post(driver, payout).catch((error: unknown) => failures.push(error))
      if (failures.length > 0)
        throw new AggregateError(failures, `${driver.name}: pay-outs are not posted`)
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error
      log.warn({ err: error, driver: driver.name }, 'a gateway gave no list of its pay-outs')
    }
  }

  for (const driver of deps.drivers.values()) {
    if (!driver.payouts) continue
    jobs.define<{ since?: string }>({
      name: hourlyJob(driver.name),
      cron: '11 * * * *',
      // The next one reads the same and more.
      retries: 0,
      limitSeconds: 1800,
      // The gateway keeps to the wall's clock. An older release puts the other reads here, too.
      run: ({ since }) =>
        read(driver, since === undefined ? later(new Date(), -readMs) : new Date(since)),
    })
    jobs.define<{ since: string }>({
      name: readPayoutsJob(driver.name),
      // Whoever asked for it sees that it gave up, and starts it again.
      retries: 0,
      limitSeconds: 1800,
      run: ({ since }) => read(driver, new Date(since)),
    })
  }
}
