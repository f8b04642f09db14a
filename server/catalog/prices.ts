/** What things cost and where they can run, as the catalogue says. */
import type { Currency, RegionCode } from '../../contract/money.ts'
import { monthlyPrice, type MonthlyLines } from '../../contract/pricing.ts'
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
