/** Contract → functions. */
import * as api from '../../contract/certificates.ts'
import type { Database } from '../platform/db.ts'
import type { Http } from '../platform/http.ts'
import type { Limit } from '../platform/limits.ts'
import { Refusal } from '../platform/errors.ts'
import { chooseHttpsOnly, httpsOf, retry, type SiteHttpsDeps } from './site.ts'

export function routes(
  http: Http,
  deps: SiteHttpsDeps & {
    readonly db: Database
    /** The customer's server; undefined also for another customer's. */
    readonly siteOf: (
      customerId: string,
      id: string,
    ) => Promise<{ readonly siteId: string; readonly host: string } | undefined>
    /** Limit on retries by owners. */
    readonly retries: Limit
  },
): void {
  const { db } = deps
  const own = async (customerId: string, id: string) => {
    const site = await deps.siteOf(customerId, id)
    if (!site) throw new Refusal('not_found')
    return site
  }
  http.read(api.getHttps, async ({ customerId, params }) =>
    httpsOf(db, deps, await own(customerId, params.id)),
  )
  http.write(
    api.changeHttps,
    ({ customerId, params }) => own(customerId, params.id),
    async ({ tx, body, prepared: site }) => {
      await chooseHttpsOnly(tx, deps, { siteId: site.siteId, httpsOnly: body.httpsOnly })
      return await httpsOf(tx, deps, site)
    },
  )
  http.write(
    api.retryCertificate,
    async ({ customerId, params }) => {
      const site = await own(customerId, params.id)
      await deps.retries.take(site.siteId)
      return site
    },
    async ({ tx, params, prepared: site }) => {
      await retry(tx, deps, { siteId: site.siteId, name: params.name })
      return await httpsOf(tx, deps, site)
    },
  )
}
