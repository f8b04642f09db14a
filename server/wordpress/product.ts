/**
 * What billing asks of WordPress servers: the terms of each renewal, and the jobs that follow from
 * the state of a subscription.
 */
import * as z from 'zod/mini'
import type { Currency } from '../../contract/money.ts'
import { explainPrice, monthlyOf } from '../../contract/pricing.ts'
import { Basis, Terms } from '../../contract/wallet-proof.ts'
import type { Offer, Product, Subject } from '../billing/index.ts'
import type { Catalog } from '../catalog/index.ts'
import type { Clock } from '../platform/clock.ts'
import { takePlace } from './nodes.ts'
import { hasRun, siteById } from './store.ts'
import { everyPlan, plans, termsOf } from './plans.ts'

/** The product's account in the ledger. */
export const productName = 'wordpress'
export const alignJobs = {
  suspend: 'suspend-site',
  resume: 'resume-site',
  remove: 'delete-site',
} as const
/** Tells the customer that an order waits for room. */
export const waitJob = 'order-waits-for-room'

/** A server as billing knows it: what a subscription pays for. */
export const subjectOf = (id: string, name: string): Subject => ({ kind: 'wp', id, name })

/** How events and answers show a server, and how its price is computed. */
export const shownAndPriced: Pick<Product, 'shownAs' | 'screens' | 'pricing'> = {
  shownAs: {
    briefly: (subject) => ({ wp: subject && { id: subject.id } }),
    fully: (subject) => ({ wp: subject && { id: subject.id, name: subject.name } }),
  },
  screens: { all: '/wordpress', order: '/wordpress/create' },
  pricing: {
    monthly: (terms) => BigInt(monthlyOf(Terms.parse(terms)).total),
    atRates(wanted, rates, others) {
      const [terms, disks] = [Terms.parse(wanted), Terms.parse(rates)]
      const plan = terms.plan === disks.plan ? disks : Terms.parse(others)
      return {
        ...terms,
        price: plan.price,
        sale_price: plan.sale_price,
        disk_per_gb: disks.disk_per_gb,
        mariadb_per_gb: disks.mariadb_per_gb,
      }
    },
    explain(stored) {
      const basis = Basis.parse(stored)
      return { basis, ...explainPrice(basis) }
    },
  },
}

/** A change that waits for the renewal: the plan, or the number of containers. */
const Change = z.object({ size: z.optional(z.int()), replicate: z.optional(z.int()) })

/** A disk as an invoice names it: whole GB where it is that many, else MB. 1 GB = 1024 MB. */
const diskText = (mb: number): string => (mb % 1024 === 0 ? `${mb / 1024} GB` : `${mb} MB`)

export function descriptionOf(
  name: string,
  plan: string,
  diskMb: number,
  containers: number,
): { en: string; vi: string } {
  const text = `WordPress ${name} (${plan} · ${diskText(diskMb)} SSD · ${containers} container)`
  return { en: text, vi: text }
}

/**
 * Prices are those of the present catalogue. A plan that is no longer sold keeps the price that it
 * was sold for; one planned before that keeps the price at which it was planned. A planned plan
 * that is no longer in the catalogue is not applied (see takePlanned): the server renews with its
 * present plan.
 */
export function wordpressProduct(catalog: Catalog, clock: Clock): Product {
  return {
    ...shownAndPriced,
    name: productName,
    jobs: { ...alignJobs, wait: waitJob },
    reserve: async (tx, { id }) => (await takePlace(tx, id, clock.now())) === undefined,
    async hasBeenThere(tx, { id }) {
      const site = await siteById(tx, id)
      return site !== undefined && hasRun(site)
    },
    isHeld: async (tx, { id }) => ((await siteById(tx, id))?.held_at ?? null) !== null,
    async offers(db, wanted) {
      const ids = wanted.map(({ subscriptionId }) => subscriptionId)
      const rows =
        ids.length === 0
          ? []
          : await db.selectFrom('site').selectAll().where('subscription_id', 'in', ids).execute()
      const sites = new Map(rows.map((row) => [row.subscription_id, row]))
      const offers = new Map<string, Offer>()
      for (const { subscriptionId, change, running, planned } of wanted) {
        const site = sites.get(subscriptionId)
        if (!site) continue
        const { size = site.plan_id, replicate: containers = site.containers } = Change.parse(
          change ?? {},
        )
        const currency = site.currency as Currency
        const sold = plans(catalog, currency)
        // A plan that was planned while it was sold stays available to the customer at that price.
        const kept =
          size === site.plan_id || sold.some(({ id }) => id === size)
            ? undefined
            : everyPlan(catalog, currency).find(({ id }) => id === size)
        const plan =
          kept ?? sold.find(({ id }) => id === size) ?? sold.find(({ id }) => id === site.plan_id)
        const agreed = plan ? kept && planned?.terms : running.terms
        const terms = agreed
          ? { ...Terms.parse(agreed), replicate: containers }
          : plan &&
            termsOf(catalog, currency, {
              plan,
              diskMb: site.disk_mb,
              mariadbDiskMb: site.mariadb_disk_mb,
              containers,
            })
        if (!terms) continue
        const description = descriptionOf(
          site.name,
          plan?.name ?? site.plan_name,
          site.disk_mb,
          containers,
        )
        offers.set(subscriptionId, { price: BigInt(monthlyOf(terms).total), terms, description })
      }
      return offers
    },
  }
}
