/** Beginning a top-up, asking the gateway about what stays pending, and letting go of what was never paid. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { Language } from '../../contract/errors.ts'
import type { Currency, RegionCode } from '../../contract/money.ts'
import type { PaymentStatus } from '../../contract/payments.ts'
import { ruleText } from '../../contract/sentences.ts'
import type { Catalog } from '../catalog/index.ts'
import { later, minutes, seconds, type Clock } from '../platform/clock.ts'
import type { DB } from '../platform/db-types.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { DriverFailure, Refusal } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { PaymentDriver, PaymentOrder } from './driver.ts'
import { available, routeOf, type Route } from './routing.ts'
import { displayNames, type Settlement } from './settle.ts'

type PaymentRow = Selectable<DB['payment']>

interface Buyer {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly phone: string
  readonly regionCode: RegionCode
}

export interface Checkout {
  begin(
    tx: Tx,
    of: { buyer: Buyer; amount: number; type: 1 | 2; method: Route['method']; ip: string; language: Language },
  ): Promise<{ checkoutUrl: string; transactionCode: string }>
  /** The owner's own payment; anybody else's is unknown. */
  find(
    db: Queryable,
    customerId: string,
    code: string,
    language: Language,
  ): Promise<{ transactionCode: string; description: string; amount: number; currency: Currency; status: PaymentStatus; createdAt: string }>
}

const lifeMs = minutes(15)
const job = 'ask-gateway'
/** When the gateway is asked while it says nothing: after so many seconds each, and then once an hour until the payment is given up. */
const defaultGaps = [15, 30, 60, 120, 300, 600, 3600]
const giveUpAfterMs = minutes(24 * 60)

const codeShape = /^[0-9A-Z]{1,32}$/
/** 26 characters of Crockford's base32: 130 bits that nobody guesses, safe in any gateway's reference. */
function newCode(): string {
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
  return Array.from(randomBytes(26), (byte) => alphabet[byte & 31]).join('')
}

export function createCheckout(deps: {
  db: Database
  clock: Clock
  jobs: Jobs
  catalog: Catalog
  drivers: ReadonlyMap<string, PaymentDriver>
  settlement: Settlement
  log: Log
  portalUrl: string
  askGatewaySeconds?: readonly number[] | undefined
}): Checkout {
  const { db, clock, jobs, catalog, drivers, settlement, log } = deps
  const gaps = deps.askGatewaySeconds ?? defaultGaps
  const gapAfter = (asked: number): number => gaps[Math.min(asked, gaps.length - 1)] ?? 3600
  const gateways = new Set(drivers.keys())

  const orderOf = (payment: PaymentRow, buyer: Buyer): PaymentOrder => ({
    code: payment.code,
    amount: payment.amount,
    currency: payment.currency as Currency,
    channel: payment.channel,
    language: payment.language === 'vi' ? 'vi' : 'en',
    ip: payment.ip,
    returnUrl: `${deps.portalUrl}/api/payments/success?transId=${payment.code}`,
    createdAt: payment.created_at,
    expiresAt: payment.expires_at,
    providerRef: payment.provider_ref,
    buyer,
  })

  async function buyerOf(customerId: string): Promise<Buyer> {
    const row = await db
      .selectFrom('customer')
      .select(['id', 'name', 'email', 'phone', 'region_code'])
      .where('id', '=', customerId)
      .executeTakeFirstOrThrow()
    return { id: row.id, name: row.name, email: row.email, phone: row.phone, regionCode: row.region_code as RegionCode }
  }

  async function ask(paymentId: string): Promise<void> {
    const payment = await db.selectFrom('payment').selectAll().where('id', '=', paymentId).executeTakeFirst()
    const driver = payment && drivers.get(payment.driver)
    if (!payment || !driver || payment.status === 'succeeded') return
    try {
      const notice = await driver.lookUp(orderOf(payment, await buyerOf(payment.customer_id)))
      if (notice) await settlement.settle(payment.driver, notice)
    } catch (error) {
      // A gateway that does not answer keeps no payment pending for ever: its time runs out all the same, and it is asked again later.
      if (!(error instanceof DriverFailure)) throw error
      log.warn({ err: error, driver: payment.driver }, 'a pending payment could not be asked about')
    }
    await transaction(db, async (tx) => {
      const now = clock.now()
      const current = await tx.selectFrom('payment').selectAll().where('id', '=', paymentId).forUpdate().executeTakeFirstOrThrow()
      if (current.status !== 'pending' && current.status !== 'expired') return
      // The gateway's own time limit has passed and it knows of no money: expired. It is asked on for a day, for money that came late.
      if (current.status === 'pending' && now > later(current.expires_at, seconds(30))) {
        await tx.updateTable('payment').set({ status: 'expired', settled_at: now }).where('id', '=', paymentId).execute()
      }
      if (now.getTime() - current.created_at.getTime() > giveUpAfterMs) return
      await tx
        .updateTable('payment')
        .set({ asked: current.asked + 1 })
        .where('id', '=', paymentId)
        .execute()
      await jobs.add(tx, job, { paymentId }, { startAfter: later(new Date(), seconds(gapAfter(current.asked + 1))) })
    })
  }
  jobs.define<{ paymentId: string }>({
    name: job,
    concurrency: 2,
    retries: 1000,
    retryDelaySeconds: 5,
    limitSeconds: 60,
    run: ({ paymentId }) => ask(paymentId),
  })

  return {
    async begin(tx, { buyer, amount, type, method, ip, language }) {
      const route = routeOf(available(catalog, gateways, buyer.regionCode), type, method)
      const driver = route && drivers.get(route.gateway)
      const currency = catalog.regions[buyer.regionCode].currency
      if (!route || !driver?.currencies.includes(currency)) throw new Refusal('method_unavailable')
      const { min, max } = catalog.payments.currencies[currency]
      if (amount < min || amount > max) throw new Refusal('invalid_input', { fields: { amount: ruleText('amount_range', language) } })
      const now = clock.now()
      const id = randomUUID()
      const payment = {
        id,
        code: newCode(),
        customer_id: buyer.id,
        driver: driver.name,
        channel: route.channel,
        amount: BigInt(amount),
        currency,
        status: 'pending',
        ip,
        language,
        created_at: now,
        expires_at: later(now, lifeMs),
      }
      const row = await tx.insertInto('payment').values(payment).returningAll().executeTakeFirstOrThrow()
      const { checkoutUrl, providerRef } = await driver.begin(orderOf(row, buyer))
      if (providerRef !== null) await tx.updateTable('payment').set({ provider_ref: providerRef }).where('id', '=', id).execute()
      await jobs.add(tx, job, { paymentId: id }, { startAfter: later(new Date(), seconds(gapAfter(0))) })
      return { checkoutUrl, transactionCode: row.code }
    },

    async find(from, customerId, code, language) {
      // What is no code of ours is nobody's; a NUL byte would be refused by the database itself.
      if (!codeShape.test(code)) throw new Refusal('not_found')
      const payment = await from
        .selectFrom('payment')
        .selectAll()
        .where('code', '=', code)
        .where('customer_id', '=', customerId)
        .executeTakeFirst()
      if (!payment) throw new Refusal('not_found')
      const provider = displayNames[payment.driver] ?? payment.driver
      return {
        transactionCode: payment.code,
        description: language === 'vi' ? `Nạp ví qua ${provider}` : `Top-up via ${provider}`,
        amount: Number(payment.amount),
        currency: payment.currency as Currency,
        status: payment.status as PaymentStatus,
        createdAt: payment.created_at.toISOString(),
      }
    },
  }
}
