/** What things cost and where they can run, as the catalogue says. */
import type { Currency, RegionCode } from '../../contract/money.ts'
import { monthlyPrice, type Basis, type MonthlyLines } from '../../contract/pricing.ts'
import type { Plan, Region } from '../../contract/wordpress.ts'
import type * as z from 'zod/mini'
import type { Catalog } from './schema.ts'

export const currencyOf = (catalog: Catalog, region: RegionCode): Currency => catalog.regions[region].currency
export const languageOf = (catalog: Catalog, region: RegionCode): 'en' | 'vi' | 'aud' => catalog.regions[region].language

const mbPerGb = 1024

export const dataCentres = (catalog: Catalog): z.output<typeof Region>[] =>
  catalog.dataCentres.map(({ id, name, country, minDiskGb }) => ({ id, name, country, minDisk: minDiskGb * mbPerGb }))

export const plans = (catalog: Catalog, currency: Currency): Plan[] =>
  catalog.plans.map(({ id, name, cpu, ram, prices }) => ({ id, name, cpu, ram, ...prices[currency], currency }))

/** Minor units a month, line by line. */
export function priceOf(
  catalog: Catalog,
  currency: Currency,
  order: { plan: Plan; diskMb: number; mariadbDiskMb: number; containers: number },
): MonthlyLines {
  return monthlyPrice({
    ...order,
    ssdRate: { perGb: catalog.disks.ssdPerGb[currency] },
    mariadbRate: { perGb: catalog.disks.mariadbPerGb[currency] },
  })
}

/** Everything that a whole month's price is computed from, to be frozen with the line that charges it. */
export function basisOf(
  catalog: Catalog,
  currency: Currency,
  order: { plan: Plan; diskMb: number; mariadbDiskMb: number; containers: number },
  month: { start: Date; end: Date },
): Basis {
  const seconds = Math.round((month.end.getTime() - month.start.getTime()) / 1000)
  return {
    plan: order.plan.name,
    price: order.plan.price,
    sale_price: order.plan.sale_price,
    disk: order.diskMb,
    disk_per_gb: catalog.disks.ssdPerGb[currency],
    mariadb_disk_size: order.mariadbDiskMb,
    mariadb_per_gb: catalog.disks.mariadbPerGb[currency],
    replicate: order.containers,
    seconds,
    of_seconds: seconds,
  }
}
