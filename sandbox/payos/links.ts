/** payOS's payment links, and the transfers to them. */
import { randomBytes } from 'node:crypto'
import { inTransaction, type Database, type Transaction } from '../database.ts'
import type { Wording } from '../checkout-page.ts'

export const linkTables = `
  create table if not exists sandbox.payos_links (
    order_code bigint primary key,
    id text not null unique,
    request jsonb not null,
    amount bigint not null,
    expires_at timestamptz not null,
    cancelled_at timestamptz,
    cancellation_reason text,
    created_at timestamptz not null default now()
  );
  create sequence if not exists sandbox.payos_transfer_no start 26230001;
  create table if not exists sandbox.payos_transfers (
    reference text primary key,
    order_code bigint not null references sandbox.payos_links,
    amount bigint not null,
    at timestamptz not null default clock_timestamp()
  )`

/** The fields of a creation, checked. */
export interface LinkRequest {
  readonly orderCode: number
  readonly amount: number
  readonly description: string
  readonly returnUrl: string
  readonly cancelUrl: string
  readonly expiredAt?: number
}
export interface Transfer {
  /** The bank's own number of the transfer. */
  readonly reference: string
  /** Đồng. */
  readonly amount: bigint
  readonly at: Date
}
export interface Link {
  readonly orderCode: bigint
  readonly id: string
  readonly request: LinkRequest
  /** Đồng. */
  readonly amount: bigint
  readonly expiresAt: Date
  readonly cancelledAt: Date | null
  readonly cancellationReason: string | null
  readonly createdAt: Date
  readonly transfers: readonly Transfer[]
}
interface Row {
  order_code: string
  id: string
  request: LinkRequest
  amount: string
  expires_at: Date
  cancelled_at: Date | null
  cancellation_reason: string | null
  created_at: Date
}

/** Here a link without an expiry of its own stays open for a day, ms. */
const dayMs = 86_400_000

/** `lock` locks the row until the transaction ends. */
export async function findLink(
  db: Database | Transaction,
  by: 'order_code' | 'id',
  value: string,
  lock = false,
): Promise<Link | undefined> {
  const { rows } = await db.query<Row>(
    `select * from sandbox.payos_links where ${by} = $1${lock ? ' for update' : ''}`,
    [value],
  )
  const row = rows[0]
  if (row === undefined) return undefined
  const { rows: transfers } = await db.query<{ reference: string; amount: string; at: Date }>(
    'select reference, amount, at from sandbox.payos_transfers where order_code = $1 order by at',
    [row.order_code],
  )
  return {
    orderCode: BigInt(row.order_code),
    id: row.id,
    request: row.request,
    amount: BigInt(row.amount),
    expiresAt: row.expires_at,
    cancelledAt: row.cancelled_at,
    cancellationReason: row.cancellation_reason,
    createdAt: row.created_at,
    transfers: transfers.map((transfer) => ({ ...transfer, amount: BigInt(transfer.amount) })),
  }
}

/** Creates a link; undefined when the order code is taken. */
export async function makeLink(db: Database, request: LinkRequest): Promise<Link | undefined> {
  const { rowCount } = await db.query(
    `insert into sandbox.payos_links (order_code, id, request, amount, expires_at)
      values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [
      request.orderCode,
      randomBytes(16).toString('hex'),
      request,
      request.amount,
      new Date(request.expiredAt === undefined ? Date.now() + dayMs : request.expiredAt * 1000),
    ],
  )
  return rowCount === 1 ? await findLink(db, 'order_code', String(request.orderCode)) : undefined
}

export const paidOf = (link: Link): bigint =>
  link.transfers.reduce((sum, { amount }) => sum + amount, 0n)

export type Status = 'PENDING' | 'PAID' | 'UNDERPAID' | 'CANCELLED' | 'EXPIRED'
/**
 * Enough money makes a link paid, whenever it arrived. A partial payment does not keep a link open
 * beyond its time.
 */
export function statusOf(link: Link): Status {
  const paid = paidOf(link)
  if (paid >= link.amount) return 'PAID'
  if (link.cancelledAt !== null) return 'CANCELLED'
  if (link.expiresAt.getTime() <= Date.now()) return 'EXPIRED'
  return paid > 0n ? 'UNDERPAID' : 'PENDING'
}
/** Whether the page still accepts a choice. */
export const isOpen = (link: Link): boolean => ['PENDING', 'UNDERPAID'].includes(statusOf(link))

/**
 * The effect of a choice on the page: transfers, whose webhooks are sent as `notice` says; or the
 * link's end.
 */
export interface Outcome extends Wording {
  /** The amount of each transfer in đồng, from what is still to be paid. */
  readonly transfers: (left: bigint) => readonly bigint[]
  readonly notice: 'now' | 'late' | 'lost'
  /** How many of the transfers have a webhook; if absent, all of them. */
  readonly notified?: number
  readonly ends?: 'cancelled' | 'expired'
}
const whole = (left: bigint): readonly bigint[] => [left]
const half = (left: bigint): bigint => (left + 1n) / 2n

/** By the value of the form's field `outcome`. */
export const outcomes: Readonly<Record<string, Outcome>> = {
  paid: { transfers: whole, notice: 'now', en: 'Transfer', vi: 'Chuyển khoản' },
  cancelled: {
    transfers: () => [],
    notice: 'lost',
    ends: 'cancelled',
    en: 'Cancel',
    vi: 'Huỷ giao dịch',
  },
  late: {
    transfers: whole,
    notice: 'late',
    en: 'Transfer, the merchant hears of it late',
    vi: 'Chuyển khoản, webhook đến muộn',
  },
  lost: {
    transfers: whole,
    notice: 'lost',
    en: 'Transfer, the merchant never hears of it',
    vi: 'Chuyển khoản, webhook bị mất',
  },
  half: {
    transfers: (left) => [half(left)],
    notice: 'now',
    en: 'Transfer half of it',
    vi: 'Chuyển một nửa số tiền',
  },
  parts: {
    transfers: (left) => [half(left), left - half(left)].filter((amount) => amount > 0n),
    notice: 'now',
    en: 'Transfer it in two parts',
    vi: 'Chuyển làm hai lần',
  },
  more: {
    transfers: (left) => [left + 10_000n],
    notice: 'now',
    en: 'Transfer 10.000 đ too much',
    vi: 'Chuyển thừa 10.000 đ',
  },
  twice: {
    transfers: (left) => [left, left],
    notice: 'now',
    en: 'Transfer it twice',
    vi: 'Chuyển hai lần đủ số tiền',
  },
  second_lost: {
    transfers: (left) => [left, left],
    notice: 'now',
    notified: 1,
    en: 'Transfer it twice, the merchant never hears of the second one',
    vi: 'Chuyển hai lần đủ số tiền, mất webhook của lần hai',
  },
  both_lost: {
    transfers: (left) => [left, left],
    notice: 'lost',
    en: 'Transfer it twice, the merchant never hears of it',
    vi: 'Chuyển hai lần đủ số tiền, mất cả hai webhook',
  },
  after_expiry: {
    transfers: whole,
    notice: 'now',
    ends: 'expired',
    en: 'Transfer after the link has expired',
    vi: 'Chuyển khoản sau khi link hết hạn',
  },
  expired: {
    transfers: () => [],
    notice: 'lost',
    ends: 'expired',
    en: 'Let the time run out',
    vi: 'Để hết thời gian',
  },
}

/**
 * Stores the choice. A link that is paid, cancelled or expired accepts none. Webhooks are queued in
 * the same transaction; the ids of those to be sent at once are returned.
 */
export async function decide(
  db: Database,
  id: string,
  outcome: Outcome,
  queue: (
    tx: Transaction,
    link: Link,
    transfer: Transfer,
    notice: 'now' | 'late',
  ) => Promise<string>,
): Promise<{ link: Link; webhookIds: readonly string[] } | undefined> {
  return inTransaction(db, async (tx) => {
    const before = await findLink(tx, 'id', id, true)
    if (before === undefined) return undefined
    if (!isOpen(before)) return { link: before, webhookIds: [] }
    if (outcome.ends === 'cancelled') await cancelLink(tx, before.orderCode, null)
    if (outcome.ends === 'expired')
      await tx.query('update sandbox.payos_links set expires_at = now() where order_code = $1', [
        before.orderCode,
      ])
    const webhookIds: string[] = []
    for (const [place, amount] of outcome.transfers(before.amount - paidOf(before)).entries()) {
      const { rows } = await tx.query<{ reference: string; at: Date }>(
        `insert into sandbox.payos_transfers (reference, order_code, amount)
         values ('FT' || nextval('sandbox.payos_transfer_no'), $1, $2)
         returning reference, at`,
        [before.orderCode, amount],
      )
      const transfer = rows[0]
      if (transfer === undefined) throw new Error('a transfer was lost')
      if (outcome.notice === 'lost' || place >= (outcome.notified ?? Infinity)) continue
      const webhookId = await queue(tx, before, { ...transfer, amount }, outcome.notice)
      if (outcome.notice === 'now') webhookIds.push(webhookId)
    }
    const link = await findLink(tx, 'id', id)
    if (link === undefined) throw new Error('a link was lost')
    return { link, webhookIds }
  })
}

export async function cancelLink(
  db: Database | Transaction,
  orderCode: bigint,
  reason: string | null,
): Promise<void> {
  await db.query(
    `update sandbox.payos_links set cancelled_at = now(), cancellation_reason = $2
      where order_code = $1`,
    [orderCode, reason],
  )
}
