/** What things cost and where they can run, as the catalogue says. */
import type { Currency, RegionCode } from '../../contract/money.ts'
import type { CountryCode } from '../../contract/phone.ts'
import type { Terms } from '../../contract/pricing.ts'
import type { Plan, Region } from '../../contract/wordpress.ts'
import type * as z from 'zod/mini'
import type { Catalog } from './schema.ts'

export const currencyOf = (catalog: Catalog, region: RegionCode): Currency =>
  catalog.regions[region].currency
export const languageOfRegion = (catalog: Catalog, region: RegionCode): 'en' | 'vi' | 'aud' =>
  catalog.regions[region].language

/**
 * Numbers that may be sent codes where the catalogue says nothing: those of the region, and of
 * Vietnam.
 */
const smsCountries: Record<RegionCode, readonly CountryCode[]> = {
  VN: ['VN'],
  AUD: ['AU', 'NZ', 'VN'],
  USD: ['US', 'AU', 'GB', 'HK', 'JP', 'KR', 'NZ', 'SG', 'VN'],
  EURO: [
    ...([
      'AT',
      'BE',
      'CH',
      'CZ',
      'DE',
      'DK',
      'ES',
      'FI',
      'FR',
      'GB',
      'GR',
      'IE',
      'IT',
      'LU',
    ] as const),
    ...(['NL', 'PL', 'PT', 'SE', 'VN'] as const),
  ],
}
export const smsCountriesOf = (catalog: Catalog, region: RegionCode): readonly CountryCode[] =>
  catalog.regions[region].smsCountries ?? smsCountries[region]

const mbPerGb = 1024

export const dataCentres = (catalog: Catalog): z.output<typeof Region>[] =>
  catalog.dataCentres.map(({ id, name, country, minDiskGb }) => ({
    id,
    name,
    country,
    minDisk: minDiskGb * mbPerGb,
  }))

export const plans = (catalog: Catalog, currency: Currency): Plan[] =>
  catalog.plans.map(({ id, name, cpu, ram, prices }) => ({
    id,
    name,
    cpu,
    ram,
    ...prices[currency],
    currency,
  }))

/** Everything that a month's price is computed from, to be frozen with what charges it. */
export const termsOf = (
  catalog: Catalog,
  currency: Currency,
  order: { plan: Plan; diskMb: number; mariadbDiskMb: number; containers: number },
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

/** The time zone in which a region's customers count days, months and years. */
export const timeZoneOf = (catalog: Catalog, region: RegionCode): string =>
  catalog.regions[region].timeZone
