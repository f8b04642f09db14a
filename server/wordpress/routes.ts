import { wordpress as api } from '../../contract/index.ts'
import type { Billing } from '../billing/index.ts'
import { currencyOf, dataCentres, plans, type Catalog } from '../catalog/index.ts'
import type { Clock } from '../platform/clock.ts'
import { decodeCursor, encodeCursor } from '../platform/cursor.ts'
import { isUuid, onCommit, type Database, type Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { Page, type Http } from '../platform/http.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Announcer } from '../realtime/index.ts'
import type { WordpressDriver } from './driver.ts'
import type { LogStreams } from './log-stream.ts'
import { placeOrder, type Buyer } from './order.ts'
import { present, siteOf, sitePage, type SiteAddressing } from './store.ts'

export interface WordpressRouteDeps {
  readonly db: Database
  readonly clock: Clock
  readonly secrets: Secrets
  readonly catalog: Catalog
  readonly billing: Billing
  readonly announcer: Announcer
  readonly driver: WordpressDriver
  readonly logs: LogStreams
  readonly addressing: SiteAddressing
  readonly portalUrl: string
  /** Tells the edge that there is a new host name. */
  readonly onChange: () => void
  readonly customer: (db: Queryable, id: string) => Promise<Buyer>
}

export function routes(http: Http, deps: WordpressRouteDeps): void {
  const { db, catalog, driver } = deps

  const own = async (customerId: string, id: string) => {
    const site = isUuid(id) ? await siteOf(db, customerId, id) : undefined
    if (!site) throw new Refusal('not_found')
    return site
  }

  http.read(api.listRegions, async () => ({ data: dataCentres(catalog) }))
  http.read(api.listHostingRegions, async () => ({ data: dataCentres(catalog) }))
  http.read(api.listPlans, async ({ customerId }) => {
    const { regionCode } = await deps.customer(db, customerId)
    return plans(catalog, currencyOf(catalog, regionCode)).filter((plan) => plan.ram >= driver.capabilities.minRamMb)
  })
  http.read(api.listServers, async ({ customerId, query, language }) => {
    const before = decodeCursor(query.cursor, language)
    const { rows, next } = await sitePage(db, { customerId, limit: query.limit ?? 50, before })
    return new Page(
      rows.map((row) => present(row, deps)),
      encodeCursor(next),
    )
  })
  http.read(api.getServer, async ({ customerId, params }) => present(await own(customerId, params.id), deps))
  http.read(api.logTicket, async ({ customerId, params }) => {
    const site = await own(customerId, params.id)
    return await deps.logs.ticket(site.id, customerId)
  })
  http.write(api.placeOrder, async ({ tx, customerId, body, language }) => {
    const buyer = await deps.customer(tx, customerId)
    onCommit(tx, deps.onChange)
    return await placeOrder(tx, { catalog, capabilities: driver.capabilities, billing: deps.billing, announcer: deps.announcer, clock: deps.clock, secrets: deps.secrets }, { buyer, form: body, language })
  })
}
