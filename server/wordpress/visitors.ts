/** Who may visit a server's site, by its owner's choice. The edge of its node enforces it. */
import * as api from '../../contract/wordpress-visitors.ts'
import type { SiteVisitors } from '../../contract/wordpress-visitors.ts'
import { onCommit, type Database, type Queryable } from '../platform/db.ts'
import type { Http } from '../platform/http.ts'
import { scryptHash } from '../platform/scrypt.ts'
import { deniedNetworks } from './denied-networks.ts'
import { ownSite, type SiteRow } from './store.ts'

export interface VisitorRouteDeps {
  readonly db: Database
  /** Tells the edge that the choice changed. */
  readonly onChange: () => void
}

type Chosen = Pick<SiteRow, 'visit_user' | 'denied_networks'>
const shown = (chosen: Chosen, ip: string): SiteVisitors => ({
  user: chosen.visit_user,
  denied: chosen.denied_networks,
  address: ip,
})

export function visitorRoutes(http: Http, { db, onChange }: VisitorRouteDeps): void {
  const change = (
    tx: Queryable,
    id: string,
    set: Partial<Pick<SiteRow, 'visit_user' | 'visit_hash' | 'denied_networks'>>,
  ): Promise<Chosen> =>
    tx
      .updateTable('site')
      .set(set)
      .where('id', '=', id)
      .returning(['visit_user', 'denied_networks'])
      .executeTakeFirstOrThrow()

  http.read(api.getSiteVisitors, async ({ customerId, params, ip }) =>
    shown(await ownSite(db, customerId, params.id), ip),
  )
  http.write(
    api.setSitePassword,
    async ({ customerId, params, body }) => {
      await ownSite(db, customerId, params.id)
      return await scryptHash(body.password)
    },
    async ({ tx, customerId, params, body, ip, prepared: hash }) => {
      const site = await ownSite(tx, customerId, params.id)
      onCommit(tx, onChange)
      return shown(await change(tx, site.id, { visit_user: body.user, visit_hash: hash }), ip)
    },
  )
  http.write(api.removeSitePassword, async ({ tx, customerId, params, ip }) => {
    const site = await ownSite(tx, customerId, params.id)
    onCommit(tx, onChange)
    return shown(await change(tx, site.id, { visit_user: null, visit_hash: null }), ip)
  })
  http.write(api.denyNetworks, async ({ tx, customerId, params, body, ip, language }) => {
    const site = await ownSite(tx, customerId, params.id)
    const denied = deniedNetworks(body.networks, ip, language)
    onCommit(tx, onChange)
    return shown(await change(tx, site.id, { denied_networks: denied }), ip)
  })
}
