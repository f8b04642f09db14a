/**
 * Rows of money in suspense. One movement of a gateway has one row. An amount that comes after a
 * person has decided that row gets a row of its own, named `<movement>:<total in minor units>`.
 */
import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { Clock } from '../platform/clock.ts'
import type { DB } from '../platform/db-types.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import type { OperatorOutbox } from '../realtime/index.ts'

export type SuspenseRow = Selectable<DB['payment_suspense']>

export interface Parked {
  readonly driver: string
  /** The gateway's number of the movement. */
  readonly movement: string
  /** Our reference, as far as it can be read. */
  readonly code: string | null
  /** Minor units. */
  readonly amount: bigint
  readonly currency: Currency
  readonly reason: string
}

/** Writes the row, or the new amount of an existing one, and tells the operator. */
export async function keepSuspense(
  tx: Tx,
  { clock, outbox }: { readonly clock: Clock; readonly outbox: OperatorOutbox },
  { driver, movement, code, amount, currency, reason }: Parked,
): Promise<void> {
  const { id } = await tx
    .insertInto('payment_suspense')
    .values({
      driver,
      provider_transaction_id: movement,
      code,
      amount,
      currency,
      reason,
      created_at: clock.now(),
    })
    .onConflict((conflict) =>
      conflict.columns(['driver', 'provider_transaction_id']).doUpdateSet({ amount }),
    )
    .returning('id')
    .executeTakeFirstOrThrow()
  const payment = await tx
    .selectFrom('payment')
    .select('code')
    .where('driver', '=', driver)
    .where('reference', '=', code)
    .executeTakeFirst()
  await outbox.tellOperator(tx, {
    event: 'payment.in_suspense',
    customerId: null,
    payload: {
      suspense: {
        id: Number(id),
        gateway: driver,
        amount: Number(amount),
        currency,
        // The payment's name for operators and customers; `reference` is its name at the gateway.
        transaction_code: payment?.code ?? null,
        reference: code,
        reason,
      },
    },
  })
}

/**
 * Minor units of a movement that are in the books: the part that is decided, or was credited, and
 * what came on top of it. A gateway may name other movements `<movement>:<its own number>`: a row
 * of what came on top is known by its name, which says what was there in all. The movement is
 * locked by the caller.
 */
export async function heldOf(
  tx: Tx,
  driver: string,
  movement: string,
  decided: bigint,
): Promise<bigint> {
  const prefix = `${movement}:`
  const rows = await tx
    .selectFrom('payment_suspense')
    .select(['provider_transaction_id as name', 'amount'])
    .where('driver', '=', driver)
    .where(sql`left(provider_transaction_id, ${prefix.length})`, '=', prefix)
    .orderBy('id')
    .execute()
  return rows.reduce(
    (sum, { name, amount }) => (name === `${prefix}${sum + amount}` ? sum + amount : sum),
    decided,
  )
}

/** Marks the row as decided, so that it is not decided twice. */
export const resolveSuspense = async (tx: Tx, clock: Clock, id: bigint): Promise<void> =>
  void (await tx
    .updateTable('payment_suspense')
    .set({ resolved_at: clock.now() })
    .where('id', '=', id)
    .execute())

/** Money that waits for a payment of a customer who has closed the account. Undefined: none. */
export const waitingOfClosed = (
  db: Queryable,
  driver: string,
  reference: string,
): Promise<SuspenseRow | undefined> =>
  db
    .selectFrom('payment_suspense')
    .selectAll()
    .where('driver', '=', driver)
    .where('code', '=', reference)
    .where('reason', '=', 'account_closed')
    .orderBy('id')
    .limit(1)
    .forUpdate()
    .executeTakeFirst()
