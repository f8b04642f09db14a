/**
 * Which gateway a checkout goes to: the table `payments.routing` of catalog.yaml. The method
 * decides first, then the type.
 */
import type { RegionCode } from '../../contract/money.ts'
import type { Catalog } from '../catalog/index.ts'
import type { CardDriver, PaymentDriver, TokenDriver } from './driver.ts'

export type Route = Catalog['payments']['routing'][number]
type Method = Route['method']

/** Rows whose gateway has keys; the others are neither offered nor taken. */
export const available = (
  catalog: Catalog,
  gateways: ReadonlySet<string>,
  region: RegionCode,
): Route[] =>
  catalog.payments.routing.filter(
    (route) => gateways.has(route.gateway) && route.regions.includes(region),
  )

/** Undefined when the region has no gateway for it. */
export function routeOf(routes: readonly Route[], type: 1 | 2, method: Method): Route | undefined {
  const ofMethod = routes.filter((route) => route.method === method)
  return (
    ofMethod.find((route) => route.type === type) ?? (method === null ? undefined : ofMethod[0])
  )
}

type Drivers = ReadonlyMap<string, PaymentDriver>

/** The driver that links cards; undefined where the catalogue's one has no keys. */
export function cardsOf(catalog: Catalog, drivers: Drivers): CardDriver | undefined {
  const driver = drivers.get(catalog.payments.cards.gateway)
  return driver?.kind === 'card' ? driver : undefined
}
/** The driver that charges tokens. */
export function tokensOf(catalog: Catalog, drivers: Drivers): TokenDriver | undefined {
  const driver = drivers.get(catalog.payments.tokens.gateway)
  return driver?.kind === 'token' ? driver : undefined
}
/** Whether the driver is offered in a region and takes its currency. */
export const takesRegion = (
  catalog: Catalog,
  driver: PaymentDriver,
  regions: readonly RegionCode[],
  region: RegionCode,
): boolean =>
  regions.includes(region) && driver.currencies.includes(catalog.regions[region].currency)
