import * as api from '../../contract/wordpress-updates.ts'
import type { UpdatePolicy, Updates } from '../../contract/wordpress-updates.ts'
import type { Clock } from '../platform/clock.ts'
import { encodeCursor, pageRequest } from '../platform/cursor.ts'
import { type Database, type Queryable } from '../platform/db.ts'
import { DriverFailure, Refusal } from '../platform/errors.ts'
import { Page, type Http } from '../platform/http.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Limit } from '../platform/limits.ts'
import { lockSite, ownSite, setUpdatePolicy, type SiteRow } from './store.ts'
import type { UpdateRounds } from './update-rounds.ts'
import {
  addUpdate,
  candidatesOf,
  foundOf,
  installedOf,
  packageOf,
  presentUpdate,
  runningUpdate,
  softwareRow,
  updateById,
  updatePage,
} from './update-store.ts'

export interface UpdateRouteDeps {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Jobs
  readonly rounds: UpdateRounds
  readonly hasDirectory: boolean
  /** Limits the looks and updates per server. */
  readonly updateWork: Limit
}

export function updateRoutes(http: Http, deps: UpdateRouteDeps): void {
  const { db, clock } = deps
  const nextOf = (site: Pick<SiteRow, 'id' | 'region_id'>): string | null =>
    deps.hasDirectory ? deps.rounds.nextNightOf(site).toISOString() : null

  async function shown(
    from: Queryable,
    site: Pick<SiteRow, 'id' | 'region_id' | 'update_policy'>,
  ): Promise<Updates> {
    const row = await softwareRow(from, site.id)
    const found = foundOf(row)
    const running = await runningUpdate(from, site.id)
    const installed = found ? await installedOf(from, site.id, found, clock.now()) : []
    return {
      lookedAt: row?.looked_at?.toISOString() ?? null,
      software: installed.map(({ main: _main, available, ...one }) => ({
        ...one,
        available: available && {
          version: available.version,
          security: available.security,
          needs: available.needs,
          rolledBack: available.rolledBack,
        },
      })),
      policy: site.update_policy as UpdatePolicy,
      nextAutomaticAt: nextOf(site),
      hasDirectory: deps.hasDirectory,
      running: running ? presentUpdate(running) : null,
    }
  }

  http.read(api.getUpdates, async ({ customerId, params }) =>
    shown(db, await ownSite(db, customerId, params.id)),
  )
  http.act(api.lookForUpdates, async ({ customerId, params }) => {
    const site = await ownSite(db, customerId, params.id)
    if (!deps.hasDirectory) throw new Refusal('updates_off')
    if (site.status !== 'running') throw new Refusal('server_not_running')
    await deps.updateWork.take(site.id)
    try {
      await deps.rounds.look(site.id)
    } catch (error) {
      if (error instanceof DriverFailure) throw new Refusal('directory_unavailable')
      throw error
    }
    return await shown(db, site)
  })
  http.read(api.listUpdates, async ({ customerId, params, query, language }) => {
    const site = await ownSite(db, customerId, params.id)
    const { rows, next } = await updatePage(db, {
      siteId: site.id,
      ...pageRequest(query, language),
    })
    return new Page(rows.map(presentUpdate), encodeCursor(next))
  })
  http.write(api.beginUpdate, async ({ tx, customerId, params, body }) => {
    const site = await ownSite(tx, customerId, params.id)
    if (!deps.hasDirectory) throw new Refusal('updates_off')
    const locked = await lockSite(tx, site.id)
    if (locked?.status !== 'running') throw new Refusal('server_not_running')
    if (await runningUpdate(tx, site.id)) throw new Refusal('update_in_progress')
    const found = foundOf(await softwareRow(tx, site.id))
    const all = found ? candidatesOf(await installedOf(tx, site.id, found, clock.now())) : []
    const wanted = all.filter((one) =>
      body.items
        ? body.items.some(({ kind, slug }) => kind === one.kind && slug === one.slug)
        : !one.rolledBack,
    )
    if (wanted.length === 0) throw new Refusal('nothing_to_update')
    await deps.updateWork.take(site.id)
    const packages = wanted.map(packageOf)
    const id = await addUpdate(tx, deps, { siteId: site.id, cause: 'owner', packages })
    const row = id === undefined ? undefined : await updateById(tx, id)
    if (!row) throw new Refusal('update_in_progress')
    return presentUpdate(row)
  })
  http.write(api.changeUpdatePolicy, async ({ tx, customerId, params, body }) => {
    const site = await ownSite(tx, customerId, params.id)
    await setUpdatePolicy(tx, site.id, body.policy)
    return { policy: body.policy, nextAutomaticAt: nextOf(site) }
  })
}
