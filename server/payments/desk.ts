/** Queries of the operator's desk about payments. */
import { sql } from 'kysely'
import type * as z from 'zod/mini'
import { currency as currencySchema } from '../../contract/money.ts'
import type { PaymentAtDesk } from '../../contract/operator-customer-lists.ts'
import type { suspense } from '../../contract/operator-desk.ts'
import type { TimePosition } from '../platform/cursor.ts'
import { isUuid, type Queryable } from '../platform/db.ts'
import type { PaymentDriver } from './driver.ts'
import { noticesOfMovements } from './notice-desk.ts'
import { isClosed } from './orders.ts'
import { refundedTotals, refusedAmong } from './reversals.ts'

const shownSuspense = 100

type Gateways = ReadonlyMap<string, PaymentDriver>

/**
 * Finds payments by our transaction code or the gateway's name of the payment. Exact match only.
 */
export async function findPayments(
  db: Queryable,
  gateways: Gateways,
  text: string,
): Promise<{ readonly customerId: string; readonly text: string; readonly payment: string }[]> {
  const rows = await db
    .selectFrom('payment')
    .select(['customer_id', 'code'])
    .where((eb) => {
      const [names, drivers] = [[text, text.toUpperCase()], [...gateways.keys()]]
      const byCode = eb('code', 'in', names)
      if (drivers.length === 0) return byCode
      return eb.or([byCode, eb.and([eb('driver', 'in', drivers), eb('reference', 'in', names)])])
    })
    .execute()
  return rows.map(({ customer_id: customerId, code }) => ({
    customerId,
    text: code,
    payment: code,
  }))
}

/**
 * Finds movements by the gateway's or bank's id, in the form that the desk shows or that the payer
 * reads. Exact match only. `customerId` null: the movement is in suspense.
 */
export async function findBankReferences(
  db: Queryable,
  gateways: Gateways,
  text: string,
  limit: number,
): Promise<
  { readonly customerId: string | null; readonly text: string; readonly payment?: string }[]
> {
  // The indexes begin with `driver`, so each query names the gateways.
  const drivers = [...gateways.keys()]
  if (drivers.length === 0) return []
  const known = [...gateways.values()].flatMap((gateway) => gateway.movementOf?.(text) ?? [])
  const ids = [text, ...known]
  const paid = await db
    .selectFrom('payment')
    .select(['customer_id', 'code', 'provider_transaction_id'])
    .where('driver', 'in', drivers)
    .where('provider_transaction_id', 'in', ids)
    .limit(limit)
    .execute()
  const waiting = await db
    .selectFrom('payment_suspense')
    .select('provider_transaction_id')
    .where('driver', 'in', drivers)
    .where('provider_transaction_id', 'in', ids)
    .where('resolved_at', 'is', null)
    .limit(limit)
    .execute()
  return [
    ...paid.map((row) => ({
      customerId: row.customer_id,
      text: row.provider_transaction_id ?? '',
      payment: row.code,
    })),
    ...waiting.map((row) => ({ customerId: null, text: row.provider_transaction_id })),
  ]
}

/** One page of a customer's payments, newest first; with `code`, only the one that has it. */
export async function paymentsOfCustomer(
  db: Queryable,
  gateways: Gateways,
  customerId: string,
  {
    limit,
    before,
    code,
  }: {
    readonly limit: number
    readonly before: TimePosition | null
    readonly code?: string | undefined
  },
): Promise<{ readonly rows: PaymentAtDesk[]; readonly next: TimePosition | null }> {
  let query = db
    .selectFrom('payment')
    .select(['id', 'code', 'created_at', 'driver', 'amount', 'received', 'currency', 'status'])
    .where('customer_id', '=', customerId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (before !== null)
    query = query.where(sql<boolean>`(created_at, id) < (${before.at}, ${before.id})`)
  if (code !== undefined) query = query.where('code', '=', code)
  const found = await query.execute()
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  const ids = rows.map(({ id }) => id)
  const [gone, refused] = [await refundedTotals(db, ids), await refusedAmong(db, ids)]
  const mayOwe = !(await isClosed(db, customerId))
  const isLeft = ({ id, status, received }: (typeof rows)[number]) =>
    status === 'succeeded' && received > (gone.get(id) ?? 0n)
  const makesRefunds = ({ driver }: (typeof rows)[number]) =>
    gateways.get(driver)?.refund !== undefined
  return {
    rows: rows.map((row) => ({
      code: row.code,
      at: row.created_at.toISOString(),
      gateway: gateways.get(row.driver)?.displayName ?? row.driver,
      amount: Number(row.status === 'succeeded' ? row.received : row.amount),
      currency: currencySchema.parse(row.currency),
      status: row.status,
      givenBack: Number(gone.get(row.id) ?? 0n),
      refundable: isLeft(row) && makesRefunds(row),
      refundableByHand: mayOwe && isLeft(row) && (!makesRefunds(row) || refused.has(row.id)),
    })),
    next: found.length > limit && last ? { at: last.created_at, id: last.id } : null,
  }
}

/** Open rows of suspense, oldest first, at most 100. */
export async function waitingInSuspense(
  db: Queryable,
  gateways: Gateways,
): Promise<z.output<typeof suspense.result>> {
  const rows = await db
    .selectFrom('payment_suspense as s')
    .leftJoin('payment as p', (join) =>
      join.onRef('p.driver', '=', 's.driver').onRef('p.reference', '=', 's.code'),
    )
    .selectAll('s')
    .select('p.code as payment')
    .where('s.resolved_at', 'is', null)
    .orderBy('s.id')
    .limit(shownSuspense)
    .execute()
  const notices = await noticesOfMovements(
    db,
    rows.map((row) => row.provider_transaction_id),
  )
  return rows.map((row) => ({
    id: Number(row.id),
    at: row.created_at.toISOString(),
    gateway: gateways.get(row.driver)?.displayName ?? row.driver,
    amount: Number(row.amount),
    currency: currencySchema.parse(row.currency),
    reason: row.reason,
    code: row.code,
    payment: row.payment,
    reference: row.provider_transaction_id,
    notice: notices.get(`${row.driver} ${row.provider_transaction_id}`) ?? null,
  }))
}

/**
 * The payment's customer and currency, and the amount received, minor units. Undefined: no such
 * payment.
 */
export async function paymentOf(
  db: Queryable,
  code: string,
): Promise<{ customerId: string; received: bigint; currency: string } | undefined> {
  const row = await db
    .selectFrom('payment')
    .select(['customer_id', 'received', 'currency'])
    .where('code', '=', code)
    .executeTakeFirst()
  return row && { customerId: row.customer_id, received: row.received, currency: row.currency }
}
/** The customer of a payment, by its code or id. Null: no such payment. */
export async function customerOfPayment(
  db: Queryable,
  of: { readonly code: string } | { readonly id: string },
): Promise<string | null> {
  const query = db.selectFrom('payment').select('customer_id')
  const row = await (
    'code' in of ? query.where('code', '=', of.code) : query.where('id', '=', of.id)
  ).executeTakeFirst()
  return row?.customer_id ?? null
}
/** The same of money in suspense, and its gateway; its customer where it came for a payment. */
export async function suspenseOf(
  db: Queryable,
  id: bigint,
): Promise<
  { driver: string; amount: bigint; currency: string; customerId: string | null } | undefined
> {
  const row = await db
    .selectFrom('payment_suspense as s')
    // `s.code` is the payment's reference at the gateway, which may differ from our transaction
    // code.
    .leftJoin('payment as p', (join) =>
      join.onRef('p.driver', '=', 's.driver').onRef('p.reference', '=', 's.code'),
    )
    .select(['s.driver', 's.amount', 's.currency', 'p.customer_id as customerId'])
    .where('s.id', '=', id)
    .executeTakeFirst()
  return row
}
/** The same of a refund, and whose it is. */
export async function refundOf(
  db: Queryable,
  id: string,
): Promise<{ amount: bigint; currency: string; customerId: string } | undefined> {
  if (!isUuid(id)) return undefined
  const row = await db
    .selectFrom('payment_refund as r')
    .innerJoin('payment as p', 'p.id', 'r.payment_id')
    .select(['r.amount', 'p.currency', 'p.customer_id'])
    .where('r.id', '=', id)
    .executeTakeFirst()
  return row && { amount: row.amount, currency: row.currency, customerId: row.customer_id }
}

/** The transaction code of a customer's payment, as lists show it. Undefined: no such payment. */
export async function paymentName(
  db: Queryable,
  customerId: string,
  code: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('payment')
    .select('code')
    .where('code', '=', code)
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
  return row?.code
}
