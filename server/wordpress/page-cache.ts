/**
 * A server's page cache, as its owner sees it and switches it on or off. The edge of its node keeps
 * the pages.
 */
import * as api from '../../contract/page-cache.ts'
import type { PageCacheState } from '../../contract/page-cache.ts'
import { onCommit, type Database } from '../platform/db.ts'
import { DriverFailure, Refusal } from '../platform/errors.ts'
import type { Http } from '../platform/http.ts'
import type { Limit } from '../platform/limits.ts'
import type { EdgeControl } from './directory.ts'
import { ownSite, type SiteRow } from './store.ts'

export interface PageCacheRouteDeps {
  readonly db: Database
  /** The edge of the node that runs the site. Throws DriverFailure where it cannot be asked. */
  readonly edgeOf: (siteId: string) => Promise<EdgeControl>
  /** Limits the purges per server. */
  readonly purges: Limit
  /** Tells the edge that the cache was switched on or off. */
  readonly onChange: () => void
}

export function pageCacheRoutes(http: Http, deps: PageCacheRouteDeps): void {
  const { db } = deps
  /** The figures; null where the edge cannot be asked: the switch is shown nevertheless. */
  async function figuresOf(siteId: string): Promise<PageCacheState['figures']> {
    try {
      const figures = await (await deps.edgeOf(siteId)).cacheFigures(siteId)
      return figures && { ...figures, since: new Date(figures.since).toISOString() }
    } catch (error) {
      if (error instanceof DriverFailure) return null
      throw error
    }
  }
  const shown = async (site: Pick<SiteRow, 'id' | 'page_cache'>): Promise<PageCacheState> => ({
    enabled: site.page_cache,
    figures: await figuresOf(site.id),
  })

  http.read(api.getPageCache, async ({ customerId, params }) =>
    shown(await ownSite(db, customerId, params.id)),
  )
  http.write(
    api.changePageCache,
    async ({ customerId, params }) => figuresOf((await ownSite(db, customerId, params.id)).id),
    async ({ tx, customerId, params, body, prepared: figures }) => {
      const site = await ownSite(tx, customerId, params.id)
      await tx
        .updateTable('site')
        .set({ page_cache: body.enabled })
        .where('id', '=', site.id)
        .execute()
      onCommit(tx, deps.onChange)
      return { enabled: body.enabled, figures }
    },
  )
  http.act(api.purgePageCache, async ({ customerId, params }) => {
    const site = await ownSite(db, customerId, params.id)
    if (site.status !== 'running') throw new Refusal('server_not_running')
    await deps.purges.take(site.id)
    return { dropped: await (await deps.edgeOf(site.id)).purgeCache(site.id) }
  })
}
