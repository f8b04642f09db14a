/**
 * The amounts above which an act needs a second member. For credits, debits and refunds of one
 * customer, and for a member's gifts, unapproved acts within a day are added up: many small ones
 * count as one large one. Money that matches no payment is judged one by one: it is assigned, sent
 * back or explained as it came, and nobody chooses its amount. Acts that always need a second
 * member say so themselves (`needsSecond` in the files of acts).
 */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import { aloneMs } from '../catalog/index.ts'
import { later } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import type { ActNeeds, Actor } from './acts.ts'

/**
 * Acts that create money, and credit lines, of which the raised amount counts. Assignments and
 * refunds move money that was a customer's before.
 */
const giving = ['money.credit', 'voucher.make', 'coupon.make', 'credit_line.set']
/** Creates money in several currencies at once. */
const bringing = 'customers.import'
/** The unit for shares of a limit; each share is rounded up. */
const parts = 1_000_000n

/** Whether an amount at once, minor units, needs a second member. */
export const isAbove = (needs: ActNeeds, currency: string, amount: bigint): boolean =>
  amount > needs.secondPersonAbove[currency as Currency]

/**
 * The sum of this act for one customer without approval within a day, by all members together,
 * minor units.
 */
export async function movedAlone(
  tx: Tx,
  needs: ActNeeds,
  act: string,
  customer: string,
): Promise<bigint> {
  const { rows } = await sql<{ sum: bigint }>`
    select coalesce(sum(coalesce(after ->> 'amount', input ->> 'amount')::bigint), 0)::bigint as sum
    from operator_act
    where customer_id = ${customer} and act = ${act} and approved_by_id is null
      and at > ${later(needs.clock.now(), -aloneMs)}`.execute(tx)
  return rows[0]?.sum ?? 0n
}

export interface Gift {
  readonly currency: Currency
  /** Minor units. */
  readonly amount: bigint
}

/**
 * Whether more gifts would bring this member's gifts to all customers above the limit. Each
 * currency has its own limit, so shares of limits are added.
 */
export async function givesTooMuch(
  tx: Tx,
  needs: ActNeeds,
  actor: Actor,
  more: Gift | readonly Gift[],
): Promise<boolean> {
  const { rows } = await sql<{ currency: Currency; sum: bigint }>`
    with alone as (
      select act, input, after from operator_act
      where ${actor.staffId === null ? sql`staff_id is null` : sql`staff_id = ${actor.staffId}`}
        and at > ${later(needs.clock.now(), -aloneMs)}
        and act = any(${[...giving, bringing]}) and approved_by_id is null
    ), gift (currency, amount) as (
      select after ->> 'currency',
        -- A line that was lowered or ended gives nothing.
        coalesce(after ->> 'amount', input ->> 'amount')::numeric
          * coalesce(after ->> 'uses', '1')::numeric
      from alone where act <> ${bringing}
      union all
      select b.key, b.value::numeric
      from alone cross join jsonb_each_text(after -> 'balances') b where act = ${bringing}
    )
    select currency, coalesce(sum(amount), 0)::bigint as sum from gift group by 1`.execute(tx)
  const given = new Map(rows.map(({ currency, sum }) => [currency, sum]))
  for (const { currency, amount } of [more].flat())
    given.set(currency, (given.get(currency) ?? 0n) + amount)
  let share = 0n
  for (const [currency, sum] of given) {
    const limit = needs.secondPersonAbove[currency]
    if (sum > limit) return true
    if (limit > 0n) share += (sum * parts + limit - 1n) / limit
  }
  return share > parts
}
