/** Which gateway a checkout goes to: the table `payments.routing` of catalog.yaml. The method decides first, then the type. */
import type { RegionCode } from '../../contract/money.ts'
import type { Catalog } from '../catalog/index.ts'

export type Route = Catalog['payments']['routing'][number]
type Method = Route['method']

/** Rows whose gateway has keys; the others are neither offered nor taken. */
export const available = (catalog: Catalog, gateways: ReadonlySet<string>, region: RegionCode): Route[] =>
  catalog.payments.routing.filter((route) => gateways.has(route.gateway) && route.regions.includes(region))

/** Undefined when the region has no gateway for it. */
export function routeOf(routes: readonly Route[], type: 1 | 2, method: Method): Route | undefined {
  const ofMethod = routes.filter((route) => route.method === method)
  return ofMethod.find((route) => route.type === type) ?? (method === null ? undefined : ofMethod[0])
}
