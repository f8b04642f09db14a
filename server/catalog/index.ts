/** The catalogue: what the provider sells, where, and for how much. */
export { CatalogFault, loadCatalog, parseCatalog } from './load.ts'
export { currencyOf, languageOfRegion, smsCountriesOf, timeZoneOf } from './regions.ts'
export type { Catalog } from './schema.ts'
export {
  followCatalog,
  listCatalogs,
  originOf,
  activateCatalog,
  type CatalogFileText,
} from './versions.ts'
