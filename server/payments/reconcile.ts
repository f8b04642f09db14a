/**
 * Reconciliation: compares what the gateway lists, what our payments record and what the ledger
 * holds. It reports differences and changes nothing: unexplained money waits for an operator.
 */
import { later } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import { gatewayPostings } from '../wallet/index.ts'
import type { PaymentUpdate, PaymentDriver } from './driver.ts'
import type { Orders, PaymentRow } from './orders.ts'
import type { Compared, DifferenceKind } from './compared.ts'
import { refundLimitMs } from './refunds.ts'
import { refusedRefunds } from './refused-since.ts'
import { refundedTotal } from './reversals.ts'

export interface Difference {
  readonly driver: string
  /** Our transaction code, or the gateway's own number. */
  readonly about: string
  readonly what: string
  /** The difference; absent where a gateway was not reached, or where money waits. */
  readonly found?: Compared
}
export interface Reconciliation {
  /** Gateways that answered all that they were asked. */
  readonly reached: readonly string[]
  readonly payments: number
  readonly postings: number
  /** Payments that the gateway was asked about. */
  readonly queried: number
  readonly differences: readonly Difference[]
}
interface DriverReconciliation extends Reconciliation {
  /** Whether a movement of this number, which is the gateway's, stands in the ledger. */
  readonly isPosted: (number: string) => boolean
}

/** Minor units with their currency, as the operator's accounts have them. */
const units = (amount: bigint, currency: string): string => `${amount} ${currency} (minor units)`

/**
 * The difference between our payment and the gateway's answer. `gone`: minor units of the payment
 * that were returned by our records.
 */
function disagreement(
  payment: PaymentRow,
  update: PaymentUpdate | null,
  gone: bigint,
): { readonly what: string; readonly found: Compared } | undefined {
  const came = payment.status === 'succeeded'
  const differs = (kind: DifferenceKind, what: string, here = payment.received) => ({
    what,
    found: {
      kind,
      here,
      there: update?.amount ?? null,
      currency: payment.currency,
      at: payment.created_at,
    },
  })
  if (!update)
    return came
      ? differs('unknown_at_gateway', 'was credited, and the gateway knows nothing of it')
      : undefined
  if (update.status === 'succeeded' && !came)
    return differs('paid_there', `was paid at the gateway, and is ${payment.status} here`)
  if (came && (update.status === 'pending' || update.status === 'failed'))
    return differs('not_paid_there', `was credited, and the gateway says ${update.status}`)
  if (update.status === 'succeeded' && came && update.amount !== payment.received)
    return differs(
      'amount_differs',
      `was credited with ${units(payment.received, payment.currency)}, and the gateway says ` +
        `${units(update.amount, update.currency)}`,
    )
  if (update.status === 'refunded' && came && gone < update.amount)
    return differs(
      'given_back_there',
      `was given back at the gateway (${units(update.amount, update.currency)}), and ` +
        `${units(gone, payment.currency)} went back here`,
      gone,
    )
  return undefined
}

/** Of a span of time, what the gateway itself is asked about; all of it where nothing is said. */
interface Asked {
  /** From here on everything, or what its list holds. */
  readonly from: Date
  /** Before that payments of these codes. */
  readonly codes: ReadonlySet<string>
  /** No payment from before this that brought nothing, unless it is one of those. */
  readonly unpaidFrom: Date
}

/**
 * Compares one gateway over a span of time. The gateway is asked about each payment, or for its
 * list where it has one. Throws once the signal is aborted.
 */
export async function reconcileDriver(
  db: Queryable,
  orders: Orders,
  driver: PaymentDriver,
  span: { from: Date; to: Date },
  asked: Asked = { from: span.from, codes: new Set(), unpaidFrom: span.from },
  signal?: AbortSignal,
): Promise<DriverReconciliation> {
  const differences: Difference[] = []
  let isReached = true
  const differs = (about: string, what: string, found?: Compared): void =>
    void differences.push({ driver: driver.name, about, what, ...(found && { found }) })
  const payments = await db
    .selectFrom('payment')
    .selectAll()
    .where('driver', '=', driver.name)
    .where('created_at', '>=', span.from)
    .where('created_at', '<', span.to)
    .orderBy('created_at')
    .execute()
  const postings = await gatewayPostings(db, driver.name, span)

  // Payments and ledger: a payment's `received` must equal the sum posted under its code.
  const credited = new Map<string, bigint>()
  for (const { kind, code, amount } of postings)
    if (kind === 'topup' && code !== null) credited.set(code, (credited.get(code) ?? 0n) + amount)
  for (const payment of payments) {
    const posted = credited.get(payment.code) ?? 0n
    if (posted !== payment.received)
      differs(
        payment.code,
        `says that ${units(payment.received, payment.currency)} came, and the ledger holds ` +
          `${units(posted, payment.currency)}`,
        {
          kind: 'ledger_differs',
          here: payment.received,
          there: posted,
          currency: payment.currency,
          at: payment.created_at,
        },
      )
    credited.delete(payment.code)
  }
  for (const code of credited.keys()) {
    const known = await db
      .selectFrom('payment')
      .select('id')
      .where('code', '=', code)
      .executeTakeFirst()
    if (known) continue
    const of = postings.find((posting) => posting.code === code)
    differs(code, 'stands in the ledger, and is no payment', {
      kind: 'no_payment',
      here: null,
      there: of?.amount ?? null,
      currency: of?.currency ?? '',
      at: of?.at ?? span.to,
    })
  }

  // Gateway and payments.
  let queried = 0
  const posted = new Set(postings.map(({ key }) => key.replace(/:suspense$/, '')))
  const isPosted = (number: string): boolean => posted.has(`${driver.name}:${number}`)
  const compare = (movement: PaymentUpdate): void => {
    const number = movement.providerTransactionId ?? movement.eventId
    if (movement.status === 'succeeded' && !isPosted(number))
      differs(
        number,
        `${units(movement.amount, movement.currency)} arrived at the gateway, and nothing was ` +
          'posted',
        {
          kind: 'nothing_posted',
          here: null,
          there: movement.amount,
          currency: movement.currency,
          at: movement.occurredAt ?? span.to,
        },
      )
  }
  if (driver.movements) {
    try {
      const movements = await driver.movements({ ...span, from: asked.from })
      queried = movements.length
      for (const movement of movements) compare(movement)
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error
      isReached = false
      differs('', `the gateway gives no list: ${error.message}`)
    }
  } else {
    const isAsked = ({ code, status, received, created_at: at }: PaymentRow): boolean =>
      asked.codes.has(code) ||
      (at >= asked.from && (status === 'succeeded' || received > 0n || at >= asked.unpaidFrom))
    for (const payment of payments.filter(isAsked)) {
      signal?.throwIfAborted()
      try {
        queried += 1
        const order = orders.orderOf(payment, await orders.buyerOf(payment.customer_id))
        const update = await driver.lookUp(order)
        if (update?.status === 'succeeded')
          for (const extra of (await driver.extras?.(order)) ?? []) compare(extra)
        const found = disagreement(payment, update, await refundedTotal(db, payment.id))
        if (found) differs(payment.code, found.what, found.found)
      } catch (error) {
        if (!(error instanceof DriverFailure)) throw error
        isReached = false
        differs(payment.code, `could not be asked about: ${error.message}`)
      }
    }
  }
  signal?.throwIfAborted()
  const { refused, unasked } = await refusedRefunds(
    db,
    orders,
    driver,
    span,
    (code, doneAt) => doneAt >= asked.from || asked.codes.has(code),
    signal,
  )
  for (const { code, found } of refused)
    differs(
      code,
      `a refund of ${units(found.here ?? 0n, found.currency)} is done here, and the gateway ` +
        'has refused it since',
      found,
    )
  for (const { code, why } of unasked) {
    isReached = false
    differs(code, `the gateway does not tell of its refunds: ${why}`)
  }
  return {
    reached: isReached ? [driver.name] : [],
    payments: payments.length,
    postings: postings.length,
    queried,
    differences,
    isPosted,
  }
}

/** Money that waits for a person, including money of gateways that are no longer configured. */
async function waiting(db: Queryable, span: { from: Date; to: Date }): Promise<Difference[]> {
  const parked = await db
    .selectFrom('payment_suspense')
    .selectAll()
    .where('resolved_at', 'is', null)
    .orderBy('id')
    .execute()
  const refunds = await db
    .selectFrom('payment_refund as r')
    .innerJoin('payment as p', 'p.id', 'r.payment_id')
    .select(['p.driver', 'p.code', 'p.currency', 'r.id', 'r.amount', 'r.detail', 'r.status'])
    .where(({ or, and, eb }) =>
      or([
        eb('r.status', '=', 'unclear'),
        and([
          eb('r.status', '=', 'requested'),
          eb('r.created_at', '<', later(span.to, -refundLimitMs)),
        ]),
      ]),
    )
    .orderBy('r.created_at')
    .execute()
  const unmatched = await db
    .selectFrom('payment_reversal_unmatched')
    .selectAll()
    .where('closed_at', 'is', null)
    .where('created_at', '>=', span.from)
    .where('created_at', '<', span.to)
    .orderBy('created_at')
    .execute()
  return [
    ...parked.map(
      ({ driver, id, code, provider_transaction_id: movement, amount, currency, reason }) => ({
        driver,
        about: code ?? movement,
        what: `${units(amount, currency)} wait in suspense: ${reason} (no. ${id})`,
      }),
    ),
    ...refunds.map(({ driver, code, id, amount, currency, detail, status }) => ({
      driver,
      about: code,
      what:
        status === 'unclear'
          ? `a refund of ${units(amount, currency)} is not decided: ${detail ?? ''} (${id})`
          : `a refund of ${units(amount, currency)} was asked for long ago and has no answer (` +
            `${id})`,
    })),
    ...unmatched.map(({ driver, movement, reference, kind, amount, currency, outcome }) => ({
      driver,
      about: reference ?? movement,
      what:
        `the gateway says that ${units(amount, currency)} were ${kind}, and it fits no payment: ` +
        `${outcome} (${movement})`,
    })),
  ]
}

/** Compares every gateway over a span of time. Reads only. */
export async function reconcile(
  db: Queryable,
  orders: Orders,
  drivers: ReadonlyMap<string, PaymentDriver>,
  span: { from: Date; to: Date },
): Promise<Reconciliation> {
  const all: Reconciliation[] = []
  for (const driver of drivers.values()) all.push(await reconcileDriver(db, orders, driver, span))
  const sum = (count: (of: Reconciliation) => number): number =>
    all.reduce((total, of) => total + count(of), 0)
  return {
    reached: all.flatMap(({ reached }) => reached),
    payments: sum((of) => of.payments),
    postings: sum((of) => of.postings),
    queried: sum((of) => of.queried),
    differences: [...all.flatMap((of) => of.differences), ...(await waiting(db, span))],
  }
}
