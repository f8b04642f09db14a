/**
 * Clears what a move left behind: the original is stopped, kept so that the move can be undone, and
 * removed; the copy of a failed move is removed. A node that is away is asked again every five
 * minutes.
 */
import fs from 'node:fs/promises'
import path from 'node:path'
import { later, type Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { WordpressDriver } from './driver.ts'
import { keptAfterReturnMs } from './lost-store.ts'
import { clearMoveJob, leftoversDue, moveById, newestMove, type MoveRow } from './move-store.ts'
import type { Nodes } from './routed-driver.ts'
import { firstNode, siteById, type SiteAddressing } from './store.ts'
import { hasUpdateUnderWay } from './update-store.ts'

export interface MoveDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  readonly addressing: SiteAddressing
  readonly nodes: Pick<Nodes, 'at' | 'tell' | 'rerouted'>
  /** Folder for archives under way. */
  readonly folder: string
  /** Tells the edges, that of node `first` before the others and that of `last` after them. */
  readonly tellInOrder: (first: string, last: string) => Promise<void>
  /** Takes letters that wait on a node which no longer has the site. */
  readonly collectFrom: (driver: WordpressDriver, siteId: string) => Promise<void>
}

export interface MoveClearing {
  /** Clears everything that is due. */
  clear(): Promise<void>
}

export function defineClearing(deps: MoveDeps): MoveClearing {
  const { db, clock, log, jobs } = deps

  async function clearOne(row: MoveRow): Promise<void> {
    const node = row.leftover_node
    if (node === null || (row.state !== 'failed' && !row.arrived)) return
    await fs.rm(path.join(deps.folder, `${row.id}.tar.gz`), { force: true })
    const site = await siteById(db, row.site_id)
    const isDue =
      row.expires_at === null || row.expires_at <= clock.now() || site?.deleted_at !== null
    // Is true where the server came back or is on its way back: then the content there is the
    // server itself.
    const isHome = site?.deleted_at === null && (site.node_id ?? firstNode) === node
    const comes = await db
      .selectFrom('site_move')
      .select('id')
      .where('site_id', '=', row.site_id)
      .where('to_node', '=', node)
      .where('state', 'in', ['copying', 'switching'])
      .executeTakeFirst()
    if (row.state === 'failed' && row.backup_id === null && site?.deleted_at === null)
      await letGo(row)
    if (!isHome && !comes) {
      const { driver } = deps.nodes.at(node)
      if (!row.leftover_stopped && row.state !== 'failed') {
        await driver.stop(row.site_id)
        // A lost node is back: its last writes may be asked for.
        const isBack = row.state === 'moved' && row.backup_id !== null && site?.deleted_at === null
        await db
          .updateTable('site_move')
          .set({
            leftover_stopped: true,
            ...(isBack && { expires_at: later(clock.now(), keptAfterReturnMs(row)) }),
          })
          .where('id', '=', row.id)
          .execute()
        if (isBack) return await deps.collectFrom(driver, row.site_id)
      }
      if (row.state !== 'failed') await deps.collectFrom(driver, row.site_id)
      if (!isDue) return
      await driver.remove(row.site_id)
    } else if (isHome) await deps.nodes.tell(node)
    await db
      .updateTable('site_move')
      .set({ leftover_node: null })
      .where('id', '=', row.id)
      .where('leftover_node', '=', node)
      .where('state', 'not in', ['copying', 'switching', 'undoing'])
      .execute()
  }

  /**
   * Ends a hold of writes that the original may still have, because it was away when the move was
   * given up.
   */
  async function letGo(row: MoveRow): Promise<void> {
    const site = await siteById(db, row.site_id)
    const newest = await newestMove(db, row.site_id)
    if ((site?.node_id ?? firstNode) !== row.from_node || newest?.id !== row.id) return
    if (await hasUpdateUnderWay(db, row.site_id)) return
    await deps.nodes.at(row.from_node).driver.holdWrites(row.site_id, 0)
  }

  async function clear(): Promise<void> {
    for (const id of await leftoversDue(db, clock.now()))
      try {
        const row = await moveById(db, id)
        if (row && !['copying', 'switching', 'undoing'].includes(row.state)) await clearOne(row)
      } catch (error) {
        // The node is away, and is asked again.
        if (!(error instanceof DriverFailure)) throw error
        log.warn({ err: error, move: id }, 'what a move left behind is still there')
      }
  }

  jobs.define<{ moveId: string }>({
    name: clearMoveJob,
    concurrency: 2,
    retries: 3,
    limitSeconds: 1800,
    async run({ moveId }) {
      const row = await moveById(db, moveId)
      if (row && !['copying', 'switching', 'undoing'].includes(row.state)) await clearOne(row)
    },
  })
  jobs.define({
    name: 'clear-moves',
    cron: '*/5 * * * *',
    retries: 0,
    limitSeconds: 1800,
    run: clear,
  })
  return { clear }
}
