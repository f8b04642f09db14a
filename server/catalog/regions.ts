/** A region's settings: currency, language, time zone, and the countries for codes by SMS. */
import type { Currency, RegionCode } from '../../contract/money.ts'
import type { CountryCode } from '../../contract/phone.ts'
import type { Catalog } from './schema.ts'

export const currencyOf = (catalog: Catalog, region: RegionCode): Currency =>
  catalog.regions[region].currency
export const languageOfRegion = (catalog: Catalog, region: RegionCode): 'en' | 'vi' | 'aud' =>
  catalog.regions[region].language

/** Countries for codes by SMS if the catalogue names none: those of the region, and Vietnam. */
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

/** The time zone in which a region's customers count days, months and years. */
export const timeZoneOf = (catalog: Catalog, region: RegionCode): string =>
  catalog.regions[region].timeZone

/**
 * The time zone of days and times in letters to a customer: the customer's choice, or else the
 * region's. Months are counted in the region's (timeZoneOf); this shows them, and counts the days
 * that a customer is given to pay (decision 160).
 */
export const zoneOfReader = (
  catalog: Catalog,
  of: { readonly timeZone?: string | null; readonly regionCode: RegionCode },
): string => of.timeZone ?? timeZoneOf(catalog, of.regionCode)
