/**
 * Refunds and chargebacks that a gateway made after the credit: contra entries, once per movement.
 * The wallet never returns more than was received; what a chargeback takes beyond that becomes the
 * customer's debt.
 */
import type { Currency } from '../../contract/money.ts'
import { jobNames } from '../billing/index.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import type { Clock } from '../platform/clock.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { OperatorOutbox } from '../realtime/index.ts'
import type { Ledger } from '../wallet/index.ts'
import type { PaymentUpdate, UpdateOutcome, Source } from './driver.ts'
import type { Letters } from './letters.ts'
import { isClosed, type PaymentRow } from './orders.ts'
import { closeRefund } from './refund-close.ts'
import { keepSuspense, resolveSuspense, waitingOfClosed } from './suspense-rows.ts'

type Kind = 'refunded' | 'reversed' | 'restored'

/** Minor units refunded from this payment: by our own refunds and by the gateway. */
export const refundedTotal = async (db: Queryable, paymentId: string): Promise<bigint> =>
  (await refundedTotals(db, [paymentId])).get(paymentId) ?? 0n

/** The same for several payments; a payment without refunds is missing from the map. */
export async function refundedTotals(
  db: Queryable,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  if (paymentIds.length === 0) return new Map()
  const own = await db
    .selectFrom('payment_refund')
    .select(['payment_id', 'amount'])
    .where('payment_id', 'in', paymentIds)
    .where('status', '!=', 'refused')
    .execute()
  const others = await db
    .selectFrom('payment_reversal')
    .select(['payment_id', 'kind', 'amount'])
    .where('payment_id', 'in', paymentIds)
    .execute()
  const totals = new Map<string, bigint>()
  const add = (id: string, amount: bigint) => totals.set(id, (totals.get(id) ?? 0n) + amount)
  for (const { payment_id: id, amount } of own) add(id, amount)
  for (const { payment_id: id, kind, amount } of others)
    add(id, kind === 'restored' ? -amount : amount)
  return totals
}

/** Those of these payments of which a refund of ours was refused. */
export async function refusedAmong(
  db: Queryable,
  paymentIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (paymentIds.length === 0) return new Set()
  const rows = await db
    .selectFrom('payment_refund')
    .select('payment_id')
    .where('payment_id', 'in', paymentIds)
    .where('status', '=', 'refused')
    .execute()
  return new Set(rows.map(({ payment_id: id }) => id))
}

/** The refund of ours that the update is about. */
async function ownRefund(tx: Tx, payment: PaymentRow, update: PaymentUpdate) {
  const rows = await tx
    .selectFrom('payment_refund')
    .select(['id', 'provider_refund_id', 'status', 'amount', 'created_at'])
    .where('payment_id', '=', payment.id)
    .execute()
  const id = update.refundId?.toLowerCase()
  return rows.find(
    (row) =>
      (id !== undefined && row.id.replaceAll('-', '') === id) ||
      (update.providerTransactionId !== null &&
        row.provider_refund_id === update.providerTransactionId),
  )
}
type OwnRefund = NonNullable<Awaited<ReturnType<typeof ownRefund>>>

/**
 * Finds the debit that a restored movement undoes, as the ledger's key. Null: no debit yet.
 * Undefined: the movement is a refund of ours that was refused and that the gateway never reported
 * as made.
 */
async function findOriginalDebit(
  tx: Tx,
  driver: Source,
  payment: PaymentRow,
  own: OwnRefund | undefined,
  movement: string,
): Promise<string | null | undefined> {
  if (own && own.status !== 'refused') return own.status === 'done' ? `refund:${own.id}` : null
  const taken = await tx
    .selectFrom('payment_reversal')
    .select('kind')
    .where('payment_id', '=', payment.id)
    .where('movement', '=', movement)
    .where('kind', '!=', 'restored')
    .executeTakeFirst()
  if (taken) return keyOf(driver, movement, taken.kind)
  return own ? undefined : null
}

/** The ledger's key: a movement is posted at most once per kind. */
export const keyOfReversal = (driver: string, movement: string, kind: string): string =>
  `${driver}:${movement}:${kind}`
const keyOf = (driver: Source, movement: string, kind: string): string =>
  keyOfReversal(driver.name, movement, kind)

export interface ReversalDeps {
  readonly clock: Clock
  readonly ledger: Ledger
  readonly letters: Letters
  readonly outbox: OperatorOutbox
  readonly jobs: Pick<Jobs, 'add'>
  readonly log: Log
}

/** The payment's row is locked by the caller. */
export async function applyReversal(
  deps: ReversalDeps,
  tx: Tx,
  driver: Source,
  payment: PaymentRow,
  update: PaymentUpdate,
): Promise<UpdateOutcome> {
  if (
    payment.status !== 'succeeded' ||
    update.currency !== payment.currency ||
    update.amount <= 0n
  ) {
    deps.log.error(
      { driver: driver.name, code: payment.code, detail: update.detail },
      'the gateway reversed a payment that never succeeded',
    )
    return 'wrong_amount'
  }
  const kind = update.status as Kind
  const movement = update.providerTransactionId ?? update.eventId
  const own = kind === 'reversed' ? undefined : await ownRefund(tx, payment, update)
  if (kind === 'refunded' && own && own.status !== 'refused') {
    // The gateway's word decides what its answer, which was lost, did not.
    if (own.status !== 'done' && own.amount === update.amount)
      await closeRefund(deps, tx, own.id, driver.displayName, {
        wanted: 'done',
        detail: update.detail,
        providerRefundId: update.providerTransactionId,
      })
    return 'already'
  }
  const recorded = await tx
    .selectFrom('payment_reversal')
    .select('id')
    .where('payment_id', '=', payment.id)
    .where('movement', '=', movement)
    .where('kind', '=', kind)
    .executeTakeFirst()
  if (recorded) return 'already'
  const undoes =
    kind === 'restored' ? await findOriginalDebit(tx, driver, payment, own, movement) : ''
  if (undoes === undefined) {
    // The report that the refund was made may come after the one that it failed; neither moves
    // money then.
    for (const each of ['refunded', 'restored'] as const)
      await keepReversal(tx, deps.clock, payment, { movement, kind: each, amount: update.amount })
    return 'already'
  }
  // Perhaps delivered in the wrong order: a driver whose gateway reorders webhooks makes it retry
  // them.
  if (undoes === null) return 'wrong_amount'
  const before = await refundedTotal(tx, payment.id)
  const left = payment.received > before ? payment.received - before : 0n
  if (kind === 'restored' ? before < update.amount : left < update.amount) {
    deps.log.error(
      { driver: driver.name, code: payment.code, detail: update.detail },
      'the gateway reversed more than the payment received',
    )
    // A chargeback takes the money in any case, whatever was refunded before.
    if (kind !== 'reversed') return 'wrong_amount'
  }
  await keepReversal(tx, deps.clock, payment, { movement, kind, amount: update.amount })
  const posting = {
    key: keyOf(driver, movement, kind),
    customerId: payment.customer_id,
    driver: driver.name,
    amount: update.amount,
    currency: payment.currency as Currency,
    details: { provider: driver.displayName, code: payment.code },
  }
  const moved = {
    customerId: payment.customer_id,
    amount: update.amount,
    currency: payment.currency as Currency,
    provider: driver.displayName,
    transactionCode: payment.code,
  }
  if (kind === 'restored') {
    const closed = await isClosed(tx, payment.customer_id)
    const { parked } = await deps.ledger.reverseChargeback(tx, {
      ...posting,
      undoes,
      isClosed: closed,
      withheldAt: own?.created_at,
    })
    if (parked > 0n)
      await keepSuspense(tx, deps, {
        driver: driver.name,
        movement: `${movement}:restored`,
        code: payment.reference,
        amount: parked,
        currency: posting.currency,
        reason: 'account_closed',
      })
    if (!closed) {
      await deps.letters.returned(tx, moved)
      await deps.jobs.add(tx, jobNames.payOpen, { customerId: payment.customer_id })
    }
  } else {
    const { owed } = await deps.ledger.chargeback(tx, { ...posting, atMost: left })
    // A return by the gateway itself is a refund; a return that a bank forced is a chargeback.
    if (kind === 'refunded' && owed === 0n) await deps.letters.refunded(tx, moved)
    else await deps.letters.takenBack(tx, { ...moved, owed })
  }
  deps.log.warn(
    { driver: driver.name, code: payment.code, kind, amount: String(update.amount) },
    'the gateway refunded or reversed a payment',
  )
  return 'recorded'
}

/**
 * The gateway returned money that it had received for a customer who has closed the account. The
 * amount that waits in suspense is booked out. If the return is reported before the money, it is
 * stored, and the money will not wait in suspense.
 */
export async function returnToClosed(
  deps: Pick<ReversalDeps, 'clock' | 'ledger' | 'log'>,
  tx: Tx,
  driver: Source,
  payment: PaymentRow,
  update: PaymentUpdate,
): Promise<UpdateOutcome> {
  const movement = update.providerTransactionId ?? update.eventId
  const waiting = await waitingOfClosed(tx, driver.name, payment.reference)
  // A person has decided what waited, and booked out what went back.
  if (waiting && waiting.resolved_at !== null) return 'already'
  // Only a part of it was returned: a person sends the rest and books out the whole.
  if (update.amount !== (waiting?.amount ?? payment.amount)) return 'wrong_amount'
  const isNew = await keepReversal(tx, deps.clock, payment, {
    movement,
    kind: 'refunded',
    amount: update.amount,
  })
  if (!isNew) return 'already'
  if (!waiting) return 'recorded'
  await deps.ledger.returnFromSuspense(tx, {
    key: keyOf(driver, movement, 'returned'),
    driver: driver.name,
    amount: update.amount,
    currency: payment.currency as Currency,
    details: { provider: driver.displayName, code: payment.code },
  })
  await resolveSuspense(tx, deps.clock, waiting.id)
  deps.log.warn(
    { driver: driver.name, code: payment.code, amount: String(update.amount) },
    'the gateway gave back what waited for a customer who has closed the account',
  )
  return 'recorded'
}

/** False: it was stored before. */
async function keepReversal(
  tx: Tx,
  clock: Clock,
  payment: PaymentRow,
  of: { readonly movement: string; readonly kind: Kind; readonly amount: bigint },
): Promise<boolean> {
  const kept = await tx
    .insertInto('payment_reversal')
    .values({ payment_id: payment.id, ...of, created_at: clock.now() })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return kept !== undefined
}

/** Stores a reversal that matches no payment for an operator, until it matches. */
export async function keepUnmatched(
  tx: Tx,
  clock: Clock,
  driver: Source,
  update: PaymentUpdate,
  outcome: UpdateOutcome,
): Promise<void> {
  const { status: kind, reference, amount, currency } = update
  if (kind !== 'refunded' && kind !== 'reversed' && kind !== 'restored') return
  const movement = update.providerTransactionId ?? update.eventId
  if (outcome === 'wrong_amount' || outcome === 'unknown_order')
    await tx
      .insertInto('payment_reversal_unmatched')
      .values({
        driver: driver.name,
        movement,
        kind,
        reference,
        amount,
        currency,
        outcome,
        created_at: clock.now(),
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  else
    await tx
      .deleteFrom('payment_reversal_unmatched')
      .where('driver', '=', driver.name)
      .where('movement', '=', movement)
      .where('kind', '=', kind)
      .execute()
}
