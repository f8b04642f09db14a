/**
 * Puts the original of a moved or rescued server back in its place (decisions 119 and 123). What
 * was written on the other node since is lost; the act says so.
 */
import { sql } from 'kysely'
import type { Clock } from '../platform/clock.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import { fenceMsOf, isBackSince, knownOf } from './lease-store.ts'
import { copyHoldMs, edgeHoldMs, GivenUp, patienceMs, startMs } from './move-parts.ts'
import type { MoveSteps } from './move-parts.ts'
import { keptUntil, moveById, type MoveRow } from './move-store.ts'
import { undoneLetter, type OwnersMail } from './rescue-letter.ts'
import type { Nodes } from './routed-driver.ts'
import { firstNode, siteById, specOf, type SiteAddressing, type SiteRow } from './store.ts'
import { within } from './within.ts'

export interface WayBackDeps extends OwnersMail {
  readonly db: Database
  readonly clock: Clock
  readonly addressing: SiteAddressing
  readonly nodes: Pick<Nodes, 'at'>
}

export function createWayBack(
  deps: WayBackDeps,
  { writeDown, letGo, arrive, controlIfThere }: MoveSteps,
): (row: MoveRow, isOff: boolean, signal: AbortSignal) => Promise<void> {
  const { db, clock } = deps

  /**
   * Stops writes to the server where it is now. If its node is away, answers since when it takes no
   * writes.
   */
  async function fence(row: MoveRow, isOff: boolean): Promise<Date | null> {
    const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(db)
    const left = controlIfThere(row.to_node)
    if (left)
      try {
        await left.edge.holdWrites(row.site_id, edgeHoldMs, patienceMs).catch(() => false)
        await left.driver.holdWrites(row.site_id, await fenceMsOf(db, row.to_node))
        return null
      } catch (error) {
        if (!(error instanceof DriverFailure)) throw error
      }
    if (!isOff && !(await knownOf(db, row.to_node)).isFenced)
      throw new DriverFailure('unavailable', 'the other node is away and may still take writes')
    return rows[0]?.at ?? null
  }

  async function tellOwner(tx: Tx, row: MoveRow, site: SiteRow): Promise<void> {
    const { email, language } = await deps.owner(tx, site.customer_id)
    const told = {
      name: site.name,
      at: row.switched_at ?? row.created_at,
      link: `${deps.portalUrl}/wordpress/${site.id}?tab=backups`,
    }
    const { subject, text } = undoneLetter
    await deps.mail(tx, email, subject[language](told), text[language](told))
  }

  return async (row, isOff, signal) => {
    const site = await siteById(db, row.site_id)
    if (!site || (site.status !== 'running' && site.status !== 'suspended'))
      throw new GivenUp('the server does not run any more')
    if ((site.node_id ?? firstNode) !== row.to_node) throw new GivenUp('the server is elsewhere')
    const original = deps.nodes.at(row.from_node)
    const spec = await specOf(db, deps.addressing, site)
    // The node may be away, which is a reason to go back.
    const left = controlIfThere(row.to_node)
    let awaySince: Date | null = null
    if (site.status === 'running') {
      await original.driver.holdWrites(site.id, copyHoldMs)
      const started = original.driver.start(spec)
      await within(startMs, 'the original did not start', started, signal)
      const status = await original.driver.frontPage(site.id, new URL(spec.url).host)
      if (status >= 500) throw new DriverFailure('unavailable', `the original answers ${status}`)
      awaySince = await fence(row, isOff)
    }
    try {
      await transaction(db, async (tx) => {
        const values = {
          state: 'undone',
          expires_at: keptUntil(clock),
          leftover_node: row.to_node,
        } as const
        await writeDown(tx, { row, site }, { node: row.from_node, values })
        // The node came back, and takes writes again.
        if (awaySince !== null && (await isBackSince(tx, row.to_node, awaySince)))
          throw new DriverFailure('unavailable', 'the other node is back')
        if (row.backup_id !== null) await tellOwner(tx, row, site)
      })
    } catch (error) {
      // If the outcome of the transaction is unknown, the row tells it.
      const now = await moveById(db, row.id)
      if (now?.state !== 'undone') {
        if (left) await letGo({ site, from: left })
        throw error
      }
    }
    await arrive(row, { node: row.from_node, other: row.to_node })
  }
}
