/**
 * Moves one server to another node, while its visitors go on (decision 119).
 *
 * | state     | what is done                                           | visitors              |
 * |-----------|--------------------------------------------------------|-----------------------|
 * | copying   | it is copied, the copy starts, its pages are compared, | notice nothing        |
 * |           | and changes made meanwhile follow                      |                       |
 * | switching | writes wait, the last changes follow, the new node is  | read on; writes wait  |
 * |           | stored (the switch), and the edges are told            |                       |
 * | moved     | the original is stopped, and removed an hour later     | are on the other node |
 * | undoing   | the original starts and takes its place again          | read on; writes wait  |
 *
 * Each step may be repeated, so a kill at any point leads to the same step again. Until the switch
 * is stored the server is unchanged, and afterwards the original takes no write.
 */
import { seconds, later } from '../platform/clock.ts'
import { transaction, type Tx } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { Attempt } from '../platform/jobs.ts'
import { beginBackup, databaseAt, isNoTimeForBackup } from './backup-store.ts'
import { ensureJob } from './change.ts'
import { emptyJob } from './drain.ts'
import { fenceMsOf } from './lease-store.ts'
import { defineClearing, type MoveDeps } from './move-clearing.ts'
import { edgeHoldMs, GivenUp, patienceMs, switchMs } from './move-parts.ts'
import { createMoveRounds, isUp, type Ends } from './move-rounds.ts'
import {
  canFollow,
  changeMove,
  clearMoveJob,
  keptUntil,
  moveById,
  moveJob,
  type MoveChange,
  type MoveRow,
} from './move-store.ts'
import type { NodeControl } from './routed-driver.ts'
import { firstNode, lockSite, siteById, specOf } from './store.ts'
import { createWayBack, type WayBackDeps } from './way-back.ts'

/** Failed attempts per move. An attempt that ends because the portal is killed does not count. */
const maxAttempts = 3
const switchTries = 5
/** How long requests under way may take to end on the original. */
const lastVisitorsMs = seconds(5)

export function defineMoves(deps: MoveDeps & WayBackDeps): ReturnType<typeof defineClearing> {
  const { db, clock, log, jobs } = deps
  const clearing = defineClearing(deps)

  const set = (row: MoveRow, values: MoveChange): Promise<void> => changeMove(db, row, values)
  const rounds = createMoveRounds(deps)

  async function endsOf(row: MoveRow, signal: AbortSignal): Promise<Ends> {
    const site = await siteById(db, row.site_id)
    const stands = row.state === 'undoing' ? row.to_node : row.from_node
    if (!site || (site.status !== 'running' && site.status !== 'suspended'))
      throw new GivenUp('the server does not run any more')
    if ((site.node_id ?? firstNode) !== stands) throw new GivenUp('the server is elsewhere')
    const [from, to] = [deps.nodes.at(row.from_node), deps.nodes.at(row.to_node)]
    if (!canFollow(from.driver.capabilities.database, to.driver.capabilities.database))
      throw new GivenUp('a node does not say which database it has')
    return { row, site, spec: await specOf(db, deps.addressing, site), from, to, signal }
  }

  /** Ends all holds of writes, whatever the outcome. */
  async function letGo({ site, from }: Pick<Ends, 'site' | 'from'>): Promise<void> {
    await from.edge.holdWrites(site.id, 0, 0).catch(() => undefined)
    await from.driver.holdWrites(site.id, 0).catch(() => undefined)
  }

  /** Stores everything that the switch changes in the database, in one transaction. */
  async function writeDown(
    tx: Tx,
    { row, site }: Pick<Ends, 'row' | 'site'>,
    to: { node: string; values: MoveChange },
  ): Promise<void> {
    const now = await lockSite(tx, site.id)
    const unchanged = now?.status === site.status && now.node_id === site.node_id
    if (!unchanged) throw new DriverFailure('unavailable', 'the server was changed meanwhile')
    await tx.updateTable('site').set({ node_id: to.node }).where('id', '=', site.id).execute()
    await tx.deleteFrom('site_placement').where('site_id', '=', site.id).execute()
    await tx
      .updateTable('site_move')
      .set({
        attempts: 0,
        reason: null,
        leftover_stopped: false,
        arrived: false,
        ...to.values,
      })
      .where('id', '=', row.id)
      .execute()
    // The server's names or size may have changed since the copy was started.
    if (site.status === 'running') await jobs.add(tx, ensureJob, { siteId: site.id })
    if (row.cause === 'drain') await jobs.add(tx, emptyJob, {})
  }

  /** Holds all writes. False: a writing request took too long to be waited for. */
  async function holdAll(ends: Ends): Promise<boolean> {
    const { site, from } = ends
    if (await from.edge.holdWrites(site.id, edgeHoldMs, patienceMs)) {
      await from.driver.holdWrites(site.id, edgeHoldMs)
      return true
    }
    await letGo(ends)
    return false
  }

  /**
   * Switches the server; resolves with the time at which it began once the switch is stored. From
   * then on nothing is tried again.
   */
  async function switchOver(ends: Ends, round: number): Promise<number> {
    const { row, site, spec, from, to } = ends
    await set(row, { state: 'switching' })
    const began = performance.now()
    try {
      if (isUp(ends) && !(await holdAll(ends)))
        throw new DriverFailure('unavailable', 'requests that write do not come to an end')
      await rounds.copy(ends, round)
      if (isUp(ends)) {
        const { host } = new URL(spec.url)
        const status = await to.driver.frontPage(site.id, host)
        if (status >= 500) throw new GivenUp(`the copy answers ${status}`)
        // An edge that does not know of the switch yet reaches an original that takes no writes.
        await from.driver.holdWrites(site.id, await fenceMsOf(db, row.from_node))
        if (performance.now() - began > switchMs)
          throw new DriverFailure('unavailable', 'the switch took too long')
      }
      await transaction(db, (tx) =>
        writeDown(tx, ends, {
          node: row.to_node,
          values: {
            state: 'moved',
            switched_at: clock.now(),
            expires_at: keptUntil(clock),
            leftover_node: row.from_node,
          },
        }),
      )
    } catch (error) {
      // If the outcome of the transaction is unknown, the row tells it.
      const now = await moveById(db, row.id)
      if (now?.state !== 'moved') {
        await letGo(ends)
        await set(row, { state: 'copying' })
        throw error
      }
    }
    return began
  }

  /**
   * Completes the switch: lets the server write, tells the edges, and sends readers of its log to
   * the new node.
   */
  async function arrive(row: MoveRow, at: { node: string; other: string }): Promise<void> {
    // Renewed here because these steps may be tried for longer than the original was told to hold
    // writes.
    const fenceMs = await fenceMsOf(db, at.other)
    await controlIfThere(at.other)
      ?.driver.holdWrites(row.site_id, fenceMs)
      .catch(() => undefined)
    // The node may have kept an old copy of the server, for which it answers no visitor until told.
    await deps.nodes.tell(at.node)
    await deps.nodes.at(at.node).driver.holdWrites(row.site_id, 0)
    await deps.tellInOrder(at.node, at.other)
    await controlIfThere(at.other)
      ?.edge.holdWrites(row.site_id, 0, 0)
      .catch(() => undefined)
    deps.nodes.rerouted()
    await transaction(db, async (tx) => {
      await backUpAnew(tx, row.site_id, at)
      await tx.updateTable('site_move').set({ arrived: true }).where('id', '=', row.id).execute()
      const startAfter = later(new Date(), lastVisitorsMs)
      await jobs.add(tx, clearMoveJob, { moveId: row.id }, { startAfter })
    })
  }
  /**
   * Begins a new backup where the server's database is another one now: none of the older backups
   * can be restored there.
   */
  async function backUpAnew(
    tx: Tx,
    siteId: string,
    { node, other }: { readonly node: string; readonly other: string },
  ): Promise<void> {
    const [now, before] = await Promise.all([node, other].map((one) => databaseAt(tx, one)))
    if (now === before || now === null || before === null) return
    const site = await lockSite(tx, siteId)
    // Backups of an earlier release do not name their database.
    await tx
      .updateTable('site_backup')
      .set({ database: before })
      .where('site_id', '=', siteId)
      .where('database', 'is', null)
      .where('state', '=', 'proven')
      .execute()
    if (site?.status !== 'running' || (await isNoTimeForBackup(tx, siteId))) return
    await beginBackup(deps, tx, siteId, 'nightly')
  }
  /** The node's control; undefined while the node is away. */
  function controlIfThere(node: string): NodeControl | undefined {
    try {
      return deps.nodes.at(node)
    } catch {
      return undefined
    }
  }

  async function lead(ends: Ends): Promise<void> {
    const { row, site, from } = ends
    // The portal was killed before the switch was stored; otherwise the row would say `moved`.
    if (row.state === 'switching') {
      await letGo({ site, from })
      await set(row, { state: 'copying' })
    }
    const round = await rounds.untilLittleIsLeft(ends)
    const began = await switchAtLast(ends, round)
    await arrive(row, { node: row.to_node, other: row.from_node })
    const heldMs = isUp(ends) ? Math.round(performance.now() - began) : 0
    await set(row, { held_ms: heldMs })
    const told = { site: site.name, from: row.from_node, to: row.to_node, heldMs }
    log.info(told, 'a server was moved')
  }

  async function switchAtLast(ends: Ends, first: number): Promise<number> {
    const { row, site, signal } = ends
    for (let [tries, round] = [1, first]; ; tries++)
      try {
        return await switchOver(ends, round)
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof GivenUp || tries >= switchTries) throw error
        log.warn({ err: error, site: site.name, tries }, 'a server was not switched yet')
        // The number of the next round comes from the row: a round that was packed but not applied
        // is packed again.
        round = (await moveById(db, row.id))?.round ?? round
        round = (await rounds.copy(ends, round)).next
      }
  }

  const goBack = createWayBack(deps, { writeDown, letGo, arrive, controlIfThere })

  async function afterFailure(row: MoveRow, error: unknown, { signal }: Attempt): Promise<void> {
    if (signal.aborted) throw error
    const now = await moveById(db, row.id)
    // The switch is stored: the next run completes it.
    if (!now || now.state === 'moved' || now.state === 'undone') throw error
    const isFinal =
      error instanceof GivenUp || (error instanceof DriverFailure && error.kind === 'rejected')
    const attempts = row.attempts + 1
    const reason = error instanceof Error ? error.message : String(error)
    if (!isFinal && attempts < maxAttempts) {
      log.warn({ err: error, site: row.site_id, attempts }, 'a server was not moved yet')
      await set(row, { attempts, reason })
      throw error
    }
    log.error({ err: error, site: row.site_id }, 'a server could not be moved')
    await transaction(db, async (tx) => {
      await tx
        .updateTable('site_move')
        .set(
          row.state === 'undoing'
            ? // The other end may have started: it is stopped once more.
              { state: 'moved', reason, leftover_stopped: false, arrived: false }
            : { state: 'failed', reason, leftover_node: row.to_node, expires_at: clock.now() },
        )
        .where('id', '=', row.id)
        .where('state', 'in', ['copying', 'switching', 'undoing'])
        .execute()
      // The server may still be told to hold writes where it is now.
      if (row.state === 'undoing') await jobs.add(tx, moveJob, { moveId: row.id })
      else await jobs.add(tx, clearMoveJob, { moveId: row.id })
      if (row.cause === 'drain') await jobs.add(tx, emptyJob, {})
    })
  }

  jobs.define<{ moveId: string; isOff?: boolean }>({
    name: moveJob,
    concurrency: 2,
    retries: 'unlimited',
    limitSeconds: 5 * 3600,
    run: async ({ moveId, isOff = false }, attempt) => {
      const row = await moveById(db, moveId)
      if (!row) return
      // The portal was killed between storing the switch and completing it.
      if (!row.arrived && row.state === 'moved')
        return await arrive(row, { node: row.to_node, other: row.from_node })
      if (!row.arrived && row.state === 'undone')
        return await arrive(row, { node: row.from_node, other: row.to_node })
      if (!['copying', 'switching', 'undoing'].includes(row.state)) return
      // A rescue from a backup or mirror is the work of rescue.ts.
      if (row.backup_id !== null && row.state !== 'undoing') return
      try {
        if (row.state === 'undoing') await goBack(row, isOff, attempt.signal)
        else await lead(await endsOf(row, attempt.signal))
      } catch (error) {
        await afterFailure(row, error, attempt)
      }
    },
  })

  return clearing
}
