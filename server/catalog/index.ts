/** The catalogue: what the provider sells, where, and for how much. */
export { CatalogFault, loadCatalog, parseCatalog } from './load.ts'
export {
  currencyOf,
  dataCentres,
  languageOfRegion,
  plans,
  smsCountriesOf,
  termsOf,
  timeZoneOf,
} from './prices.ts'
export type { Catalog } from './schema.ts'
