/**
 * The ways to pay that a region is offered, and the gateway of a checkout: the table
 * `payments.routing` of catalog.yaml, restricted to gateways that have keys and take the currency
 * of the region's wallets. Exactly the offered ways are accepted.
 */
import type { RegionCode } from '../../contract/money.ts'
import type { Catalog } from '../catalog/index.ts'
import type { CardDriver, PaymentDriver, TokenDriver } from './driver.ts'

export type Route = Catalog['payments']['routing'][number]
type Method = Route['method']
type Drivers = ReadonlyMap<string, PaymentDriver>

/**
 * Rows whose gateway has keys and takes the region's currency; others are neither offered nor
 * accepted.
 */
export const available = (catalog: Catalog, drivers: Drivers, region: RegionCode): Route[] =>
  catalog.payments.routing.filter(({ gateway, regions }) => {
    const driver = drivers.get(gateway)
    return driver?.kind === 'hosted' && takesRegion(catalog, driver, regions, region)
  })

/** The method decides first, then the type; undefined when the region has no gateway for it. */
export function routeOf(routes: readonly Route[], type: 1 | 2, method: Method): Route | undefined {
  const ofMethod = routes.filter((route) => route.method === method)
  return (
    ofMethod.find((route) => route.type === type) ?? (method === null ? undefined : ofMethod[0])
  )
}

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
