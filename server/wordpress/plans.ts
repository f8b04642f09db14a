/** Plans, data centres and prices of WordPress servers in the catalogue. */
import type * as z from 'zod/mini'
import type { Currency } from '../../contract/money.ts'
import type { Terms } from '../../contract/pricing.ts'
import type { Plan, Region } from '../../contract/wordpress.ts'
import type { Catalog } from '../catalog/index.ts'

const mbPerGb = 1024

const shownCentres = (centres: Catalog['dataCentres']): z.output<typeof Region>[] =>
  centres.map(({ id, name, country, minDiskGb }) => ({
    id,
    name,
    country,
    minDisk: minDiskGb * mbPerGb,
  }))
/** Data centres that have servers. */
export const everyDataCentre = (catalog: Catalog) => shownCentres(catalog.dataCentres)
/** Data centres in which servers can be ordered. */
export const dataCentres = (catalog: Catalog) =>
  shownCentres(catalog.dataCentres.filter(({ sold }) => sold))

/** The part of a plan that its price depends on. */
export type PricedPlan = Omit<SoldPlan, 'mailAnHour' | 'mirrored'>
/** A plan of the catalogue, whatever machines there are. */
export type SoldPlan = Omit<Plan, 'offered'>

const pricedIn = (all: Catalog['plans'], currency: Currency): SoldPlan[] =>
  all.map(({ id, name, cpu, ram, mailAnHour, mirrored, prices }) => ({
    id,
    name,
    cpu,
    ram,
    mailAnHour,
    mirrored,
    ...prices[currency],
    currency,
  }))
/** Plans that can be ordered. A customer whose plan is no longer sold keeps it at its price. */
export const plans = (catalog: Catalog, currency: Currency): SoldPlan[] =>
  pricedIn(
    catalog.plans.filter(({ sold }) => sold),
    currency,
  )
/** All plans, also those no longer sold: a customer who planned one before gets it. */
export const everyPlan = (catalog: Catalog, currency: Currency): SoldPlan[] =>
  pricedIn(catalog.plans, currency)

/** Everything that a month's price is computed from, to be stored unchanged with the charge. */
export const termsOf = (
  catalog: Catalog,
  currency: Currency,
  order: { plan: PricedPlan; diskMb: number; mariadbDiskMb: number; containers: number },
): Terms => ({
  plan: order.plan.name,
  price: order.plan.price,
  sale_price: order.plan.sale_price,
  disk: order.diskMb,
  disk_per_gb: catalog.disks.ssdPerGb[currency],
  mariadb_disk_size: order.mariadbDiskMb,
  mariadb_per_gb: catalog.disks.mariadbPerGb[currency],
  replicate: order.containers,
})
