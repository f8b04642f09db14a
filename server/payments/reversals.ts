/**
 * Money that a gateway moved back after it had been credited: contra entries, once per movement.
 * The wallet never gives more than what came, and what a chargeback takes beyond that is owed to
 * us.
 */
import type { Currency } from '../../contract/money.ts'
import { jobNames } from '../billing/index.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import type { Clock } from '../platform/clock.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Ledger } from '../wallet/index.ts'
import type { Notice, NoticeOutcome, Source } from './driver.ts'
import type { Letters } from './letters.ts'
import type { PaymentRow } from './orders.ts'

type Kind = 'refunded' | 'reversed' | 'restored'

/**
 * Minor units that are gone from this payment: our own refunds and what the gateway took by itself.
 */
export async function goneFrom(tx: Queryable, paymentId: string): Promise<bigint> {
  const own = await tx
    .selectFrom('payment_refund')
    .select('amount')
    .where('payment_id', '=', paymentId)
    .where('status', '!=', 'refused')
    .execute()
  const others = await tx
    .selectFrom('payment_reversal')
    .select(['kind', 'amount'])
    .where('payment_id', '=', paymentId)
    .execute()
  return (
    own.reduce((sum, { amount }) => sum + amount, 0n) +
    others.reduce((sum, { kind, amount }) => sum + (kind === 'restored' ? -amount : amount), 0n)
  )
}

/** Whether this refund is one that we asked for ourselves; its own row settles it. */
async function ours(tx: Tx, payment: PaymentRow, notice: Notice): Promise<boolean> {
  if (notice.status !== 'refunded') return false
  const rows = await tx
    .selectFrom('payment_refund')
    .select(['id', 'provider_refund_id', 'status'])
    .where('payment_id', '=', payment.id)
    .execute()
  const id = notice.refundId?.toLowerCase()
  return rows.some(
    (row) =>
      (id !== undefined && row.id.replaceAll('-', '') === id) ||
      (notice.providerTransactionId !== null &&
        row.provider_refund_id === notice.providerTransactionId),
  )
}

/**
 * The ledger's key of what this very movement took before: what comes back must have gone. Null:
 * nothing yet; undefined: a refund of ours that never went.
 */
async function went(
  tx: Tx,
  driver: Source,
  payment: PaymentRow,
  notice: Notice,
  movement: string,
): Promise<string | null | undefined> {
  const own = await tx
    .selectFrom('payment_refund')
    .select(['id', 'status', 'provider_refund_id'])
    .where('payment_id', '=', payment.id)
    .execute()
  const id = notice.refundId?.toLowerCase()
  const refund = own.find(
    (row) =>
      row.provider_refund_id === movement ||
      (id !== undefined && row.id.replaceAll('-', '') === id),
  )
  if (refund?.status === 'refused') return undefined
  if (refund) return refund.status === 'done' ? `refund:${refund.id}` : null
  const taken = await tx
    .selectFrom('payment_reversal')
    .select('kind')
    .where('payment_id', '=', payment.id)
    .where('movement', '=', movement)
    .where('kind', '!=', 'restored')
    .executeTakeFirst()
  return taken ? keyOf(driver, movement, taken.kind) : null
}

/** One movement is posted once as each kind. */
const keyOf = (driver: Source, movement: string, kind: string): string =>
  `${driver.name}:${movement}:${kind}`

/** The payment's row is locked by the caller. */
export async function applyReversal(
  deps: { clock: Clock; ledger: Ledger; letters: Letters; jobs: Jobs; log: Log },
  tx: Tx,
  driver: Source,
  payment: PaymentRow,
  notice: Notice,
): Promise<NoticeOutcome> {
  if (
    payment.status !== 'succeeded' ||
    notice.currency !== payment.currency ||
    notice.amount <= 0n
  ) {
    deps.log.error(
      { driver: driver.name, code: payment.code, detail: notice.detail },
      'money was taken back that had never come',
    )
    return 'wrong_amount'
  }
  if (await ours(tx, payment, notice)) return 'already'
  const kind = notice.status as Kind
  const movement = notice.providerTransactionId ?? notice.eventId
  const told = await tx
    .selectFrom('payment_reversal')
    .select('id')
    .where('payment_id', '=', payment.id)
    .where('movement', '=', movement)
    .where('kind', '=', kind)
    .executeTakeFirst()
  if (told) return 'already'
  const undoes = kind === 'restored' ? await went(tx, driver, payment, notice, movement) : ''
  if (undoes === undefined) return 'already'
  // Perhaps told in the wrong order: a driver whose gateway mixes its words up has it say them
  // again.
  if (undoes === null) return 'wrong_amount'
  const before = await goneFrom(tx, payment.id)
  const left = payment.received > before ? payment.received - before : 0n
  if (kind === 'restored' ? before < notice.amount : left < notice.amount) {
    deps.log.error(
      { driver: driver.name, code: payment.code, detail: notice.detail },
      'more was moved back than had come',
    )
    // A bank asks nobody before it takes: that money is gone, whatever was given back before.
    if (kind !== 'reversed') return 'wrong_amount'
  }
  await tx
    .insertInto('payment_reversal')
    .values({
      payment_id: payment.id,
      movement,
      kind,
      amount: notice.amount,
      created_at: deps.clock.now(),
    })
    .execute()
  const posting = {
    key: keyOf(driver, movement, kind),
    customerId: payment.customer_id,
    driver: driver.name,
    amount: notice.amount,
    currency: payment.currency as Currency,
    details: { provider: driver.displayName, code: payment.code },
  }
  const moved = {
    customerId: payment.customer_id,
    amount: notice.amount,
    currency: payment.currency as Currency,
    provider: driver.displayName,
    transactionCode: payment.code,
  }
  if (kind === 'restored') {
    await deps.ledger.giveAgain(tx, { ...posting, undoes })
    await deps.letters.returned(tx, moved)
    await deps.jobs.add(tx, jobNames.payOpen, { customerId: payment.customer_id })
  } else {
    const { owed } = await deps.ledger.takeBack(tx, { ...posting, atMost: left })
    // What the gateway gave back by itself is a refund; what a bank took is a chargeback.
    if (kind === 'refunded' && owed === 0n) await deps.letters.refunded(tx, moved)
    else await deps.letters.takenBack(tx, { ...moved, owed })
  }
  deps.log.warn(
    { driver: driver.name, code: payment.code, kind, amount: String(notice.amount) },
    'the gateway moved money by itself',
  )
  return 'recorded'
}

/** A word about money that went back and fits nothing is kept for a person, until it fits. */
export async function keepUnmatched(
  tx: Tx,
  clock: Clock,
  driver: Source,
  notice: Notice,
  outcome: NoticeOutcome,
): Promise<void> {
  const { status: kind, reference, amount, currency } = notice
  if (kind !== 'refunded' && kind !== 'reversed' && kind !== 'restored') return
  const movement = notice.providerTransactionId ?? notice.eventId
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
