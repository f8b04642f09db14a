/** Counts for the operator: money that waits for a person, and the payments of the last hour. */
import { sql } from 'kysely'
import { hours, later, type Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'

export interface WaitingMoney {
  readonly currency: string
  readonly count: number
  /** Minor units. */
  readonly amount: number
}

const read = (rows: readonly { currency: string; n: bigint; amount: string }[]): WaitingMoney[] =>
  rows.map(({ currency, n, amount }) => ({ currency, count: Number(n), amount: Number(amount) }))

/** Money that matches no payment; reads the partial index `payment_suspense_waiting`. */
export async function moneyInSuspense(db: Queryable): Promise<WaitingMoney[]> {
  const { rows } = await sql<{ currency: string; n: bigint; amount: string }>`
    select currency, count(*) as n, sum(amount) as amount from payment_suspense
    where resolved_at is null group by currency`.execute(db)
  return read(rows)
}

/**
 * Refunds that the gateway has neither made nor refused; reads the partial index
 * `payment_refund_undecided`.
 */
export async function undecidedRefunds(db: Queryable): Promise<WaitingMoney[]> {
  const { rows } = await sql<{ currency: string; n: bigint; amount: string }>`
    select p.currency, count(*) as n, sum(r.amount) as amount
    from payment_refund r join payment p on p.id = r.payment_id
    where r.status in ('requested', 'unclear') group by p.currency`.execute(db)
  return read(rows)
}

export const paymentStatuses = ['pending', 'succeeded', 'failed', 'expired'] as const

/**
 * Payments begun in the last hour, counted by gateway and status. Uses the index
 * `payment_of_driver`.
 */
export async function recentPayments(
  db: Queryable,
  clock: Clock,
  gateways: readonly string[],
): Promise<{ gateway: string; status: string; count: number }[]> {
  const { rows } = await sql<{ driver: string; status: string; n: bigint }>`
    select driver, status, count(*) as n from payment
    where driver = any(${[...gateways]}::text[])
      and created_at > ${later(clock.now(), -hours(1))}::timestamptz
    group by driver, status`.execute(db)
  return rows.map(({ driver, status, n }) => ({ gateway: driver, status, count: Number(n) }))
}

/** A customer's pending payments plus the refunds to the source that are not settled. */
export async function paymentsUnderWay(db: Queryable, customerId: string): Promise<number> {
  const { rows } = await sql<{ n: bigint }>`
    select (select count(*) from payment where customer_id = ${customerId} and status = 'pending')
      + (select count(*) from payment_refund r join payment p on p.id = r.payment_id
        where p.customer_id = ${customerId} and r.status in ('requested', 'unclear')) as n`.execute(
    db,
  )
  return Number(rows[0]?.n ?? 0n)
}
