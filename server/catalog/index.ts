/** The catalogue: what the provider sells, where, and for how much. */
export { aloneMs, needsApproval, type IsApprovedUse } from './approval.ts'
export { changesBetween, sayChange } from './changes.ts'
export { catalogAtDesk, inUse, textOfVersion } from './desk.ts'
export { CatalogFault, loadCatalog, parseCatalog, versionIn, withVersion } from './load.ts'
export {
  definePublications,
  preparePublication,
  publishCatalog,
  withdrawPublication,
  type Prepared,
  type Publications,
  type WantedSelling,
} from './publish.ts'
export {
  currencyOf,
  languageOfRegion,
  smsCountriesOf,
  timeZoneOf,
  zoneOfReader,
} from './regions.ts'
export { usualMailAnHour, type Catalog } from './schema.ts'
export { sellingOf } from './selling.ts'
export { bringIntoUse, catalogInUse, prepareUse } from './use.ts'
export { followCatalog, newestNumber, originOf, type CatalogFileText } from './versions.ts'
