/** The catalogue: what the provider sells, where, and for how much. */
export { CatalogFault, loadCatalog, parseCatalog } from './load.ts'
export { basisOf, currencyOf, dataCentres, languageOf, plans, priceOf } from './prices.ts'
export type { Catalog } from './schema.ts'
