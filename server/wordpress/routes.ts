import {
  coupons as couponApi,
  wordpress as api,
  wordpressDomains as domainApi,
  usageHistory as usageApi,
  wordpressServer as serverApi,
  type Language,
} from '../../contract/index.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import type { Billing, InvoiceLinks } from '../billing/index.ts'
import { currencyOf, type Catalog } from '../catalog/index.ts'
import { dataCentres, plans } from './plans.ts'
import type { Clock } from '../platform/clock.ts'
import { encodeCursor, firstOf, notOurs, pageRequest } from '../platform/cursor.ts'
import { onCommit, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { Page, type Http } from '../platform/http.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Limit } from '../platform/limits.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { EventOutbox } from '../realtime/index.ts'
import type { CouponTries } from './coupon-tries.ts'
import { changeServer, type RequestedChange } from './change.ts'
import type { Domains } from './domains.ts'
import type { WordpressDriver } from './driver.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { LogStreams } from './log-stream.ts'
import { nodeStates } from './nodes.ts'
import { placeOrder, quoteOrder, type Buyer } from './order.ts'
import { isOffered, serves } from './placement.ts'
import { beginRewrite, choosePrimary, newestRewrite, previewRewrite } from './primary.ts'
import { usageOf } from './usage-history.ts'
import { sitePage } from './search.ts'
import { present, ownSite, takesNames, shownUrlOf, type SiteAddressing } from './store.ts'

export interface WordpressRouteDeps {
  readonly db: Database
  readonly clock: Clock
  readonly secrets: Secrets
  readonly catalog: Catalog
  /** Keeps the catalogue from changing until the transaction ends. */
  readonly holdCatalog: (tx: Tx) => Promise<void>
  readonly billing: Billing
  readonly outbox: EventOutbox
  readonly jobs: Jobs
  readonly driver: WordpressDriver
  readonly logs: LogStreams
  readonly domains: Domains
  readonly lifecycle: Lifecycle
  /** Limits the look-ups of names, which reach other people's name servers. */
  readonly lookups: Limit
  readonly signIns: Limit
  /** Limits the orders per customer. */
  readonly orders: Limit
  readonly couponTries: CouponTries
  readonly addressing: SiteAddressing
  readonly links: InvoiceLinks
  /** Tells the edge that there is a new host name. */
  readonly onChange: () => void
  readonly customer: (db: Queryable, id: string) => Promise<Buyer>
}

export function routes(http: Http, deps: WordpressRouteDeps): void {
  const { db, catalog, driver } = deps

  /**
   * One page of what is offered, in the catalogue's own order. The cursor is, as in every list, the
   * id of the last item shown; the next page begins after it, also where it is offered no more.
   * Refuses with invalid_input an id that the catalogue has not.
   */
  const catalogPage = <T extends { readonly id: number }>(
    items: readonly T[],
    isOffered: (item: T) => boolean,
    query: { limit?: number | undefined; cursor?: string | undefined },
    language: Language,
  ): { shown: T[]; next: string | null } => {
    const { before: last, limit } = pageRequest(query, language)
    const begin = last === null ? 0 : items.findIndex((item) => item.id === Number(last)) + 1
    if (last !== null && begin === 0) throw notOurs(language)
    const offered = items.slice(begin).filter(isOffered)
    const { rows, next } = firstOf(offered, limit, (item) => BigInt(item.id))
    return { shown: rows, next: encodeCursor(next) }
  }
  for (const endpoint of [api.listRegions, api.listHostingRegions]) {
    http.read(endpoint, async ({ query, language }) => {
      const nodes = await nodeStates(db)
      const isHere = ({ id }: { readonly id: number }) => isOffered(nodes, id)
      const { shown, next } = catalogPage(dataCentres(catalog), isHere, query, language)
      return new Page({ data: shown }, next)
    })
  }
  http.read(api.listPlans, async ({ customerId, query, language }) => {
    const { regionCode } = await deps.customer(db, customerId)
    const nodes = await nodeStates(db)
    const sold = plans(catalog, currencyOf(catalog, regionCode))
    const { shown, next } = catalogPage(sold, () => true, query, language)
    return new Page(
      shown.map((plan) => ({
        ...plan,
        offered: nodes.some((node) => serves(node, { ramMb: plan.ram, cpu: plan.cpu })),
      })),
      next,
    )
  })
  http.read(api.listServers, async ({ customerId, caller, query, language }) => {
    const only = caller?.limits?.servers ?? null
    const { rows, next } = await sitePage(db, {
      customerId,
      only,
      search: query.search ?? '',
      addressing: deps.addressing,
      ...pageRequest(query, language),
    })
    return new Page(
      rows.map((row) => present(row, deps)),
      encodeCursor(next),
    )
  })
  http.read(api.getServer, async ({ customerId, params }) =>
    present(await ownSite(db, customerId, params.id), deps),
  )
  http.read(usageApi.getUsageHistory, async ({ customerId, params, query }) =>
    usageOf(db, (await ownSite(db, customerId, params.id)).id, query.range ?? 'day'),
  )
  http.read(serverApi.getUsage, async ({ customerId, params }) => {
    const site = await ownSite(db, customerId, params.id)
    const state = await driver.state(site.id)
    return {
      disk: state.diskUsedMb,
      mariadb_disk_size: state.databaseUsedMb,
      containers: state.containers.map(({ name, ready, restarts, memoryMb }) => ({
        name,
        ready,
        restarts,
        memory: memoryMb,
      })),
    }
  })
  /** A body may name its server, too; another server's id is a mistake, and nothing is changed. */
  const refuseOther = (id: string, named: string | undefined, language: Language) => {
    if (named !== undefined && named.toLowerCase() !== id.toLowerCase())
      throw new Refusal('invalid_input', { fields: { id: ruleText('other_server', language) } })
  }
  const change = async (
    tx: Tx,
    customerId: string,
    id: string,
    language: Language,
    named: string | undefined,
    changes: RequestedChange,
  ) => {
    const site = await ownSite(tx, customerId, id)
    refuseOther(id, named, language)
    await deps.holdCatalog(tx)
    await changeServer(tx, deps, { siteId: site.id, language, changes })
    onCommit(tx, deps.onChange)
    return present(await ownSite(tx, customerId, site.id), deps)
  }
  http.write(serverApi.changeDisk, ({ tx, customerId, params, body, language }) => {
    const changes = {
      disk: body.disk,
      mariadbDisk: body.mariadb_disk_size,
      containers: body.replicate,
    }
    return change(tx, customerId, params.id, language, body.id, changes)
  })
  http.write(serverApi.changeServer, ({ tx, customerId, params, body, language }) => {
    const changes = { name: body.name, planId: body.size, planPrice: body.price }
    return change(tx, customerId, params.id, language, body.id, changes)
  })
  http.write(serverApi.restartServer, async ({ tx, customerId, params }) => {
    const site = await ownSite(tx, customerId, params.id)
    await deps.lifecycle.restart(tx, site.id)
    return { id: site.id }
  })
  http.write(serverApi.deleteServer, async ({ tx, customerId, params }) => {
    const site = await ownSite(tx, customerId, params.id)
    await deps.lifecycle.remove(tx, site.id, customerId)
    return { id: site.id }
  })
  http.act(serverApi.adminLink, async ({ customerId, params }) => {
    const site = await ownSite(db, customerId, params.id)
    if (site.status !== 'running') throw new Refusal('server_not_running')
    await deps.signIns.take(site.id)
    const link = new URL(await driver.adminLink(site.id, site.admin_user))
    // The link uses the server's own name, which works whatever happens to the customer's names;
    // the edge redirects.
    return { url: shownUrlOf(deps.addressing, site.name) + link.pathname }
  })
  http.read(api.logTicket, async ({ customerId, caller, params }) => {
    const site = await ownSite(db, customerId, params.id)
    if (!caller) throw new Refusal('unauthenticated')
    return await deps.logs.ticket(site.id, caller)
  })
  http.read(domainApi.checkDomain, async ({ customerId, params, query, language }) => {
    const site = await ownSite(db, customerId, params.id)
    await deps.lookups.take(customerId)
    return await deps.domains.check({ customerId, siteName: site.name, name: query.name, language })
  })
  http.act(domainApi.updateDomains, async ({ customerId, params, body, language }) => {
    const site = await ownSite(db, customerId, params.id)
    refuseOther(site.id, body.id, language)
    if (!takesNames(site)) throw new Refusal('server_not_running')
    await deps.lookups.take(customerId)
    return {
      domains: await deps.domains.update({
        customerId,
        siteId: site.id,
        siteName: site.name,
        list: body.domains,
        language,
      }),
    }
  })
  http.act(domainApi.removeDomain, async ({ customerId, params }) => {
    const site = await ownSite(db, customerId, params.id)
    const of = { siteId: site.id, customerId, name: params.name }
    return { domains: await deps.domains.remove(of) }
  })
  http.write(
    domainApi.choosePrimary,
    ({ customerId, params }) => ownSite(db, customerId, params.id),
    async ({ tx, body, language, prepared: site }) => {
      const of = { siteId: site.id, name: body.name, language }
      onCommit(tx, deps.onChange)
      return { primaryDomain: await choosePrimary(tx, deps, of) }
    },
  )
  http.act(domainApi.previewRewrite, async ({ customerId, params }) => {
    const site = await ownSite(db, customerId, params.id)
    await deps.signIns.take(site.id)
    return await previewRewrite(deps, site.id)
  })
  http.write(
    domainApi.beginRewrite,
    ({ customerId, params }) => ownSite(db, customerId, params.id),
    ({ tx, prepared: site, language }) => beginRewrite(tx, deps, { siteId: site.id, language }),
  )
  http.read(domainApi.getRewrite, async ({ customerId, params, language }) =>
    newestRewrite(db, (await ownSite(db, customerId, params.id)).id, language),
  )
  http.write(couponApi.quoteCoupon, async ({ tx, customerId, body, ip }) => {
    const buyer = await deps.customer(tx, customerId)
    return await quoteOrder({ tx, ...deps, coupons: deps.couponTries }, buyer, body, ip)
  })
  http.write(api.placeOrder, async ({ tx, customerId, body, language, ip }) => {
    const buyer = await deps.customer(tx, customerId)
    onCommit(tx, deps.onChange)
    await deps.holdCatalog(tx)
    return await placeOrder(
      tx,
      {
        catalog,
        billing: deps.billing,
        outbox: deps.outbox,
        clock: deps.clock,
        secrets: deps.secrets,
        orders: deps.orders,
        coupons: deps.couponTries,
      },
      { buyer, form: body, language, ip },
    )
  })
}
