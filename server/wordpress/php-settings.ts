/** The PHP settings that a server's owner may change, within the platform's limits. */
import * as api from '../../contract/wordpress-php.ts'
import type { PhpSettings, PhpState } from '../../contract/wordpress-php.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import type { Database } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Http } from '../platform/http.ts'
import type { Limit } from '../platform/limits.ts'
import type { Lifecycle } from './lifecycle.ts'
import { lockSite, phpSettingsOf, ownSite, type SiteRow } from './store.ts'

export interface PhpRouteDeps {
  readonly db: Database
  readonly lifecycle: Pick<Lifecycle, 'renew'>
  /** The longest time of one page that the runtime allows, seconds. */
  readonly pageSeconds: number
  /** Limits the changes per server: each replaces its containers. */
  readonly changes: Limit
}

export function phpRoutes(http: Http, { db, lifecycle, pageSeconds, changes }: PhpRouteDeps): void {
  type Shown = Pick<SiteRow, 'php_settings' | 'status' | 'generation' | 'settled_generation'>
  function shown(site: Shown): PhpState {
    const settings = phpSettingsOf(site)
    return {
      settings: { ...settings, pageSeconds: Math.min(settings.pageSeconds, pageSeconds) },
      most: { pageSeconds },
      applying: site.status === 'running' && site.generation > site.settled_generation,
    }
  }
  const isSame = (one: PhpSettings, other: PhpSettings): boolean =>
    (Object.keys(one) as (keyof PhpSettings)[]).every((name) => one[name] === other[name])

  http.read(api.getPhpSettings, async ({ customerId, params }) =>
    shown(await ownSite(db, customerId, params.id)),
  )
  http.write(api.changePhpSettings, async ({ tx, customerId, params, body, language }) => {
    const { id } = await ownSite(tx, customerId, params.id)
    if (body.pageSeconds > pageSeconds)
      throw new Refusal('invalid_input', {
        fields: { pageSeconds: ruleText('php_seconds', language) },
      })
    const site = await lockSite(tx, id)
    if (site?.status !== 'running') throw new Refusal('server_not_running')
    if (isSame(body, shown(site).settings)) return shown(site)
    await changes.take(id)
    await tx
      .updateTable('site')
      .set({ php_settings: JSON.stringify(body) })
      .where('id', '=', id)
      .execute()
    await lifecycle.renew(tx, id)
    const after = await lockSite(tx, id)
    return shown(after ?? site)
  })
}
