/**
 * Orders a server: checks every rule of the screen again, then creates site, subscription and
 * invoice in one transaction.
 */
import { randomUUID } from 'node:crypto'
import type * as z from 'zod/mini'
import type { Language } from '../../contract/errors.ts'
import type { RegionCode } from '../../contract/money.ts'
import { monthlyOf } from '../../contract/pricing.ts'
import { ruleText, type RuleKey } from '../../contract/server-sentences.ts'
import type { quoteCoupon } from '../../contract/coupons.ts'
import type { Order } from '../../contract/wordpress.ts'
import { couponLine, holdToPrice, type Billing } from '../billing/index.ts'
import type { CouponTries } from './coupon-tries.ts'
import { currencyOf, type Catalog } from '../catalog/index.ts'
import { dataCentres, plans, termsOf, type SoldPlan } from './plans.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Limit } from '../platform/limits.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { EventOutbox } from '../realtime/index.ts'
import { sql } from 'kysely'
import { newName } from './names.ts'
import { nodeStates } from './nodes.ts'
import { place, type NodeState, type NoPlace } from './placement.ts'
import { descriptionOf, productName, subjectOf } from './product.ts'
import { nameIsTaken } from './store.ts'

export interface Buyer {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly regionCode: RegionCode
  readonly language: Language
}
type OrderForm = z.output<typeof Order>

/** The job that begins once the order's invoice is paid. */
export const provisionJob = 'provision-site'
export const sealPurpose = (siteId: string): string => `wordpress-admin:${siteId}`

interface Checked {
  readonly plan: SoldPlan
  readonly region: { readonly id: number; readonly name: string }
}

const unplaced: Readonly<Record<NoPlace, readonly [field: string, rule: RuleKey]>> = {
  region: ['region', 'region_unavailable'],
  size: ['size', 'unknown_plan'],
  containers: ['replicate', 'containers_limit'],
  full: ['replicate', 'containers_no_room'],
}

/** Throws a refusal that names every wrong field. */
function check(
  catalog: Catalog,
  nodes: readonly NodeState[],
  buyer: Buyer,
  form: OrderForm,
  language: Language,
): Checked {
  const fields: Record<string, string> = {}
  const fault = (field: string, rule: RuleKey): void => {
    fields[field] = ruleText(rule, language)
  }
  const region = dataCentres(catalog).find((centre) => centre.id === form.region)
  const plan = plans(catalog, currencyOf(catalog, buyer.regionCode)).find(
    (candidate) => candidate.id === form.size,
  )
  if (!region) fault('region', 'unknown_region')
  else if (form.disk < region.minDisk) fault('disk', 'disk_region_minimum')
  if (!plan) fault('size', 'unknown_plan')
  if (region && plan) {
    const placed = place(nodes, {
      regionId: region.id,
      containers: form.replicate,
      ramMb: plan.ram,
      cpu: plan.cpu,
    })
    if ('none' in placed) fault(...unplaced[placed.none])
  }
  if (!region || !plan || Object.keys(fields).length > 0)
    throw new Refusal('invalid_input', { fields })
  return { plan, region }
}

const nameTries = 5

export async function placeOrder(
  tx: Tx,
  deps: {
    catalog: Catalog
    billing: Billing
    outbox: EventOutbox
    clock: Clock
    secrets: Secrets
    /** Limits the orders per customer. */
    orders: Limit
    coupons: CouponTries
  },
  order: { buyer: Buyer; form: OrderForm; language: Language; ip: string },
): Promise<{ id: string }> {
  const { catalog, billing, clock } = deps
  const { buyer, form, language } = order
  const { plan, region } = check(catalog, await nodeStates(tx), buyer, form, language)
  await billing.refuseMoreUnpaid(tx, buyer.id, language)
  await deps.orders.take(buyer.id)
  const wanted = {
    plan,
    diskMb: form.disk,
    mariadbDiskMb: form.mariadb_disk_size,
    containers: form.replicate,
  }
  const terms = termsOf(catalog, plan.currency, wanted)
  const price = BigInt(monthlyOf(terms).total)
  holdToPrice(form.total, price, plan.currency)
  const id = randomUUID()
  const now = clock.now()

  const row = {
    id,
    customer_id: buyer.id,
    status: 'pending_payment',
    plan_id: plan.id,
    plan_name: plan.name,
    cpu: plan.cpu,
    ram_mb: plan.ram,
    disk_mb: form.disk,
    mariadb_disk_mb: form.mariadb_disk_size,
    containers: form.replicate,
    region_id: region.id,
    region_name: region.name,
    language,
    price,
    currency: plan.currency,
    admin_user: form.user,
    admin_password_sealed: deps.secrets.seal(sealPurpose(id), form.password),
    created_at: now,
  }
  let name = ''
  for (let tries = 1; name === ''; tries++) {
    const candidate = newName()
    await sql`savepoint naming`.execute(tx)
    try {
      await tx
        .insertInto('site')
        .values({ ...row, name: candidate })
        .execute()
      name = candidate
    } catch (error) {
      // The former name of a server is still in use for it.
      if (!nameIsTaken(error) || tries >= nameTries) throw error
      await sql`rollback to savepoint naming`.execute(tx)
    }
  }

  const subject = subjectOf(id, name)
  const text = descriptionOf(name, plan.name, form.disk, form.replicate)
  const subscription = await billing.subscribe(tx, {
    customerId: buyer.id,
    regionCode: buyer.regionCode,
    product: productName,
    offer: { price, terms, description: text },
    currency: plan.currency,
    subject,
  })
  const { period } = subscription
  const seconds = Math.floor((period.end.getTime() - period.start.getTime()) / 1000)
  const coupon =
    form.coupon === undefined
      ? undefined
      : await deps.coupons.guarded({ customerId: buyer.id, ip: order.ip }, () =>
          billing.takeCoupon(tx, {
            code: form.coupon ?? '',
            customerId: buyer.id,
            currency: plan.currency,
            plan: plan.id,
            price,
          }),
        )
  const invoice = await billing.issue(tx, {
    customer: buyer,
    currency: plan.currency,
    product: productName,
    lines: [
      {
        description: text,
        quantity: 1n,
        unitPrice: price,
        period,
        basis: { ...terms, seconds, of_seconds: seconds },
      },
      ...(coupon ? [couponLine(coupon, period)] : []),
    ],
    subject,
    subscriptionId: subscription.id,
    starts: { job: provisionJob, payload: { siteId: id } },
  })
  await coupon?.use(tx, invoice.id)
  await tx
    .updateTable('site')
    .set({ invoice_id: invoice.id, subscription_id: subscription.id })
    .where('id', '=', id)
    .execute()
  await deps.outbox.publishEvent(tx, buyer.id, 'wordpress.status', {
    wp: { id, name, status: 'pending_payment', reason: null },
  })
  return { id }
}

/**
 * The reduction that a coupon gives on the first month of such an order. Refuses as the order does.
 */
export async function quoteOrder(
  deps: { tx: Tx; catalog: Catalog; billing: Billing; coupons: CouponTries },
  buyer: Buyer,
  form: z.output<typeof quoteCoupon.body>,
  ip: string,
): Promise<z.output<typeof quoteCoupon.result>> {
  const { catalog } = deps
  const currency = currencyOf(catalog, buyer.regionCode)
  const plan = plans(catalog, currency).find(({ id }) => id === form.size)
  if (!plan)
    throw new Refusal('invalid_input', {
      fields: { size: ruleText('unknown_plan', buyer.language) },
    })
  const terms = termsOf(catalog, currency, {
    plan,
    diskMb: form.disk,
    mariadbDiskMb: form.mariadb_disk_size,
    containers: form.replicate,
  })
  const price = BigInt(monthlyOf(terms).total)
  const { code, off } = await deps.coupons.guarded({ customerId: buyer.id, ip }, () =>
    deps.billing.quoteCoupon(deps.tx, {
      code: form.coupon,
      customerId: buyer.id,
      currency,
      plan: plan.id,
      price,
    }),
  )
  return {
    code,
    off: Number(off),
    first: Number(price - off),
    monthly: Number(price),
    currency,
  }
}
