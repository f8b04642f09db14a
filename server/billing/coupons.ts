/**
 * Coupons lower the first period of an order. Using one is a part of the order's transaction: it
 * locks the coupon's row, writes the use with the invoice that it lowers, and gives the invoice a
 * line of its own. If the order comes to nothing, the use is given back. A later credit for the
 * period is based on the amount that was paid.
 */
import { randomUUID } from 'node:crypto'
import { sql, type Selectable } from 'kysely'
import { currency as currencySchema, type Currency } from '../../contract/money.ts'
import type { Coupon } from '../../contract/operator-money.ts'
import type { Clock } from '../platform/clock.ts'
import { drawCode, plainCode, shortestCode } from '../platform/codes.ts'
import { newestFirst, type KeysetPage, type PageRequest } from '../platform/cursor.ts'
import type { DB } from '../platform/db-types.ts'
import { databaseError, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import type { Line } from './issue.ts'

type CouponRow = Selectable<DB['coupon']>

/** The parts of an order that a coupon depends on. */
export interface Couponed {
  readonly code: string
  readonly customerId: string
  readonly currency: Currency
  /** The plan's id in the catalogue. */
  readonly plan: number
  /** Minor units of the first period without the coupon. */
  readonly price: bigint
}
/** A coupon's effect on an order. */
export interface Lowered {
  readonly code: string
  /** Minor units, above zero and below the price. */
  readonly off: bigint
}

const refuse = (text: Sentence): never => {
  throw new Refusal('invalid_input', { fields: { coupon: text } })
}

/** Percent of a price that must remain: no document has a total of zero. */
const leastPercent = 1n
const hundred = 100n

/** A coupon's discount on a price, minor units; never the whole price. */
export function offOf(coupon: Pick<CouponRow, 'percent' | 'amount'>, price: bigint): bigint {
  const share = coupon.percent === null ? price : (price * BigInt(coupon.percent)) / hundred
  const wanted = share < coupon.amount ? share : coupon.amount
  const most = price - (price * leastPercent + hundred - 1n) / hundred
  return wanted < most ? wanted : most
}

const isGood = (row: CouponRow, now: Date): boolean =>
  row.stopped_at === null &&
  row.uses < row.max_uses &&
  row.starts_at <= now &&
  (row.expires_at === null || row.expires_at > now)

/**
 * Refuses orders that the coupon is not for. An unknown, an ended and a used-up coupon get the same
 * refusal.
 */
async function judged(
  db: Queryable,
  row: CouponRow | undefined,
  of: Couponed,
  now: Date,
): Promise<Lowered> {
  if (!row || !isGood(row, now))
    return refuse({
      en: 'This coupon is not valid, or is used up.',
      vi: 'Mã giảm giá không hợp lệ hoặc đã hết lượt dùng.',
    })
  if (row.currency !== of.currency)
    return refuse({
      en: `This coupon is for orders in ${row.currency}.`,
      vi: `Mã giảm giá này chỉ dùng cho đơn hàng bằng ${row.currency}.`,
    })
  if (row.plans !== null && !row.plans.includes(of.plan))
    return refuse({
      en: 'This coupon is not for this plan.',
      vi: 'Mã giảm giá này không áp dụng cho gói bạn chọn.',
    })
  const { n } = await db
    .selectFrom('coupon_use')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('coupon_id', '=', row.id)
    .where('customer_id', '=', of.customerId)
    .executeTakeFirstOrThrow()
  if (n >= BigInt(row.per_customer))
    return refuse({
      en: 'You have used this coupon already.',
      vi: 'Bạn đã dùng mã giảm giá này rồi.',
    })
  const off = offOf(row, of.price)
  if (off <= 0n)
    return refuse({
      en: 'This coupon takes nothing off this order.',
      vi: 'Mã giảm giá này không giảm được gì cho đơn hàng này.',
    })
  return { code: row.code, off }
}

const byCode = (db: Queryable, code: string) =>
  db.selectFrom('coupon').selectAll().where('code', '=', plainCode(code))

/** The discount that the coupon gives now, without using it. Refuses with invalid_input. */
export async function quoteCoupon(db: Queryable, clock: Clock, of: Couponed): Promise<Lowered> {
  const row = await byCode(db, of.code).executeTakeFirst()
  return await judged(db, row, of, clock.now())
}

/** The coupon's line on the order's invoice. */
export const couponLine = (
  { code, off }: Lowered,
  period: { readonly start: Date; readonly end: Date },
): Line => ({
  description: {
    en: `Coupon ${code}: first month`,
    vi: `Mã giảm giá ${code}: tháng đầu tiên`,
  },
  quantity: -1n,
  unitPrice: off,
  period,
})

/** Writes the use for an invoice that is being written, after its line. */
export type UseCoupon = (tx: Tx, invoiceId: string) => Promise<void>

/**
 * Reserves a use; the coupon stays locked until the transaction ends, so that the last use goes to
 * one order only. Refuses with invalid_input.
 */
export async function takeCoupon(
  tx: Tx,
  clock: Clock,
  of: Couponed,
): Promise<Lowered & { readonly use: UseCoupon }> {
  const row = await byCode(tx, of.code).forUpdate().executeTakeFirst()
  const now = clock.now()
  const lowered = await judged(tx, row, of, now)
  const couponId = row?.id ?? ''
  return {
    ...lowered,
    async use(during, invoiceId) {
      await during
        .insertInto('coupon_use')
        .values({
          invoice_id: invoiceId,
          coupon_id: couponId,
          customer_id: of.customerId,
          amount: lowered.off,
          currency: of.currency,
          at: now,
        })
        .execute()
      await during
        .updateTable('coupon')
        .set((eb) => ({ uses: eb('uses', '+', 1) }))
        .where('id', '=', couponId)
        .execute()
    },
  }
}

/**
 * Gives coupons back for orders that came to nothing: they lapsed, were cancelled, or were refunded
 * completely.
 */
export async function giveBackCoupons(tx: Tx, invoiceIds: readonly string[]): Promise<void> {
  if (invoiceIds.length === 0) return
  await sql`
    with given_back as (
      delete from coupon_use where invoice_id = any(${[...invoiceIds]}::uuid[])
      returning coupon_id)
    update coupon c set uses = c.uses - g.n
    from (select coupon_id, count(*)::int as n from given_back group by 1) g
    where c.id = g.coupon_id`.execute(tx)
}

/** The coupon's discount on an invoice's period, minor units; 0 without one. */
export async function takenOff(db: Queryable, invoiceId: string | null): Promise<bigint> {
  if (invoiceId === null) return 0n
  const row = await db
    .selectFrom('coupon_use')
    .select('amount')
    .where('invoice_id', '=', invoiceId)
    .executeTakeFirst()
  return row?.amount ?? 0n
}

export interface NewCoupon {
  readonly code: string | undefined
  /**
   * Null: the discount is `amount`. Otherwise `amount` is the most that the percentage takes off.
   */
  readonly percent: number | null
  readonly amount: bigint
  readonly currency: Currency
  readonly uses: number
  readonly perCustomer: number
  /** Plan ids of the catalogue; null: every plan. */
  readonly plans: readonly number[] | null
  readonly startsAt: Date
  readonly expiresAt: Date | null
}

/**
 * Makes a coupon; without a code a random one is drawn. Refuses with conflict a code that is taken
 * or too short.
 */
export async function makeCoupon(
  tx: Tx,
  clock: Clock,
  of: NewCoupon,
): Promise<{ id: string; code: string }> {
  const code = of.code === undefined ? drawCode() : plainCode(of.code)
  const id = randomUUID()
  const taken: Sentence = {
    en: 'There is such a code, or it has fewer than four letters and digits.',
    vi: 'Mã này đã có hoặc có ít hơn bốn chữ và số.',
  }
  if (code.length < shortestCode) throw new Refusal('conflict', { fields: { code: taken } })
  if (of.expiresAt !== null && of.expiresAt <= of.startsAt)
    throw new Refusal('conflict', {
      fields: {
        expiresOn: {
          en: 'The last day comes before the first one.',
          vi: 'Ngày cuối phải sau ngày bắt đầu.',
        },
      },
    })
  try {
    await tx
      .insertInto('coupon')
      .values({
        id,
        code,
        percent: of.percent,
        amount: of.amount,
        currency: of.currency,
        max_uses: of.uses,
        per_customer: of.perCustomer,
        plans: of.plans === null ? null : [...of.plans],
        starts_at: of.startsAt,
        expires_at: of.expiresAt,
        created_at: clock.now(),
      })
      .execute()
  } catch (error) {
    if (databaseError(error)?.constraint !== 'coupon_code_key') throw error
    throw new Refusal('conflict', { fields: { code: taken } })
  }
  return { id, code }
}

/** Ends a coupon; orders that used it keep it. Refuses with not_found. */
export async function stopCoupon(
  tx: Tx,
  clock: Clock,
  code: string,
): Promise<{ id: string; uses: number }> {
  const row = await tx
    .updateTable('coupon')
    .set({ stopped_at: clock.now() })
    .where('code', '=', plainCode(code))
    .where('stopped_at', 'is', null)
    .returning(['id', 'uses'])
    .executeTakeFirst()
  if (!row) throw new Refusal('not_found')
  return row
}

/** Newest first. */
export async function listCoupons(
  db: Queryable,
  page: PageRequest,
  now: Date,
): Promise<KeysetPage<Coupon>> {
  const { rows, next } = await newestFirst(db.selectFrom('coupon').selectAll(), 'number', page)
  return {
    rows: rows.map((row) => ({
      id: row.id,
      code: row.code,
      percent: row.percent,
      amount: Number(row.amount),
      currency: currencySchema.parse(row.currency),
      uses: row.uses,
      maxUses: row.max_uses,
      perCustomer: row.per_customer,
      plans: row.plans,
      startsAt: row.starts_at.toISOString(),
      expiresAt: row.expires_at?.toISOString() ?? null,
      stoppedAt: row.stopped_at?.toISOString() ?? null,
      good: isGood(row, now),
    })),
    next,
  }
}
