/** The payment's row: created, found, and presented to a driver. */
import { randomBytes } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { Language } from '../../contract/errors.ts'
import type { Currency, RegionCode } from '../../contract/money.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import { shownPhone } from '../auth/index.ts'
import type { Catalog } from '../catalog/index.ts'
import { later, minutes, type Clock } from '../platform/clock.ts'
import type { DB } from '../platform/db-types.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { PaymentDriver, PaymentOrder } from './driver.ts'

export type PaymentRow = Selectable<DB['payment']>

export interface Buyer {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly phone: string
  readonly regionCode: RegionCode
}

/** A customer's request to pay. */
export interface PaymentInput {
  readonly buyer: Buyer
  /** Minor units. */
  readonly amount: number
  readonly ip: string
  readonly language: Language
  /** The idempotency key: a repeated call gets the same payment. */
  readonly actionId: string
}

export interface Orders {
  /**
   * Makes the payment, or finds the one that this action made before. Refuses an amount outside the
   * catalogue's limits.
   */
  open(input: PaymentInput, driver: PaymentDriver, channel: string): Promise<PaymentRow>
  /** The same in the caller's transaction. */
  openIn(tx: Tx, input: PaymentInput, driver: PaymentDriver, channel: string): Promise<PaymentRow>
  /** The customer's own payment. Refuses with not_found, also for another customer's payment. */
  own(db: Queryable, customerId: string, code: string): Promise<PaymentRow>
  orderOf(payment: PaymentRow, buyer: Buyer): PaymentOrder
  buyerOf(customerId: string, from?: Queryable): Promise<Buyer>
  /** The gateway refused to begin the payment: marks it failed, unless money came meanwhile. */
  refuse(paymentId: string, detail: string, in_?: Queryable): Promise<void>
  /** Keeps the gateway's own id of a payment. */
  keepRef(paymentId: string, providerRef: string | null): Promise<void>
}

/**
 * Whether the customer has closed the account: then the customer can no longer use incoming money.
 */
export async function isClosed(db: Queryable, customerId: string): Promise<boolean> {
  const { closed_at: closedAt } = await db
    .selectFrom('customer')
    .select('closed_at')
    .where('id', '=', customerId)
    .executeTakeFirstOrThrow()
  return closedAt !== null
}

const lifeMs = minutes(15)
const codeShape = /^[0-9A-Z]{1,32}$/

/**
 * 26 characters of Crockford's base32: 130 bits, which cannot be guessed and fit every gateway's
 * reference.
 */
function newCode(): string {
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
  return Array.from(randomBytes(26), (byte) => alphabet[byte & 31]).join('')
}

export function createOrders(deps: {
  db: Database
  clock: Clock
  catalog: Catalog
  portalUrl: string
  /** Called in the transaction that creates a payment: schedules the queries of the gateway. */
  onOpened: (tx: Tx, payment: PaymentRow) => Promise<void>
}): Orders {
  const { db, clock, catalog, portalUrl } = deps

  /**
   * Inserts the payment. A short reference may be taken already: then another code gives another
   * one. Undefined: the action id was used before.
   */
  async function insert(
    tx: Tx,
    input: PaymentInput,
    driver: PaymentDriver,
    channel: string,
  ): Promise<PaymentRow | undefined> {
    const now = clock.now()
    for (let attempt = 0; attempt < 5; attempt++) {
      const code = newCode()
      const row = await tx
        .insertInto('payment')
        .values({
          id: input.actionId,
          code,
          reference: driver.referenceOf?.(code) ?? code,
          customer_id: input.buyer.id,
          driver: driver.name,
          channel,
          amount: BigInt(input.amount),
          currency: catalog.regions[input.buyer.regionCode].currency,
          status: 'pending',
          ip: input.ip,
          language: input.language,
          created_at: now,
          expires_at: later(now, lifeMs),
        })
        .onConflict((conflict) => conflict.doNothing())
        .returningAll()
        .executeTakeFirst()
      if (row) return row
      const before = await tx
        .selectFrom('payment')
        .select('id')
        .where('id', '=', input.actionId)
        .executeTakeFirst()
      if (before) return undefined
    }
    throw new Error(`${driver.name}: no free reference was found`)
  }

  const orders: Orders = {
    open: (input, driver, channel) =>
      transaction(db, (tx) => orders.openIn(tx, input, driver, channel)),
    async openIn(tx, input, driver, channel) {
      const { currency } = catalog.regions[input.buyer.regionCode]
      const { min, max } = catalog.payments.currencies[currency]
      if (input.amount < min || input.amount > max)
        throw new Refusal('invalid_input', {
          fields: { amount: ruleText('amount_range', input.language) },
        })
      // A call that began before the account was closed has its session still.
      if (await isClosed(tx, input.buyer.id)) throw new Refusal('forbidden')
      const made = await insert(tx, input, driver, channel)
      if (made) await deps.onOpened(tx, made)
      return (
        made ??
        (await tx
          .selectFrom('payment')
          .selectAll()
          .where('id', '=', input.actionId)
          .executeTakeFirstOrThrow())
      )
    },

    async own(from, customerId, code) {
      // Text in another shape is no code of ours. The check also keeps out a NUL byte, which the
      // database itself would refuse.
      if (!codeShape.test(code)) throw new Refusal('not_found')
      const payment = await from
        .selectFrom('payment')
        .selectAll()
        .where('code', '=', code)
        .where('customer_id', '=', customerId)
        .executeTakeFirst()
      if (!payment) throw new Refusal('not_found')
      return payment
    },

    orderOf: (payment, buyer) => ({
      code: payment.code,
      reference: payment.reference,
      amount: payment.amount,
      currency: payment.currency as Currency,
      channel: payment.channel,
      language: payment.language === 'vi' ? 'vi' : 'en',
      ip: payment.ip,
      returnUrl: `${portalUrl}/api/payments/success?transId=${payment.code}`,
      transferUrl: `${portalUrl}/payment/transfer/${payment.code}`,
      createdAt: payment.created_at,
      expiresAt: payment.expires_at,
      providerRef: payment.provider_ref,
      buyer,
    }),

    async buyerOf(customerId, from = db) {
      const row = await from
        .selectFrom('customer')
        .select(['id', 'name', 'email', 'phone', 'region_code'])
        .where('id', '=', customerId)
        .executeTakeFirstOrThrow()
      return {
        id: row.id,
        name: row.name,
        email: row.email,
        phone: shownPhone(row.phone),
        regionCode: row.region_code as RegionCode,
      }
    },

    async refuse(paymentId, detail, in_ = db) {
      await in_
        .updateTable('payment')
        .set({ status: 'failed', settled_at: clock.now(), detail })
        .where('id', '=', paymentId)
        .where('status', '=', 'pending')
        .execute()
    },

    async keepRef(paymentId, providerRef) {
      if (providerRef !== null)
        await db
          .updateTable('payment')
          .set({ provider_ref: providerRef })
          .where('id', '=', paymentId)
          .execute()
    },
  }
  return orders
}
