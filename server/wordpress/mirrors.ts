/**
 * Mirrors: copies of servers on second nodes that follow them, so that a lost machine costs at most
 * the last minute of writing (decision 133). Every process that runs jobs claims mirrors that are
 * due. A killed process loses its claim after a while, and a repeated round has the same result.
 */
import { randomUUID } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Catalog } from '../catalog/index.ts'
import { minutes, seconds, type Clock } from '../platform/clock.ts'
import { transaction, type Database } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import { hasOtherContent } from './backup-store.ts'
import {
  beginMirrors,
  countMirrors,
  endMirrors,
  forgetMirror,
  hasSecondNode,
  holdOn,
  holdSeconds,
  isLastCopy,
  isOnlyMirror,
  letGo,
  retryFailed,
  takeDue,
  type MirrorCounts,
  type MirrorRow,
} from './mirror-store.ts'
import type { Nodes } from './routed-driver.ts'
import { firstNode, siteById, specOf, type SiteAddressing } from './store.ts'
import { hasUpdateUnderWay } from './update-store.ts'
import { copyMs } from './move-parts.ts'
import { within } from './within.ts'

export interface MirrorDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  readonly catalog: Catalog
  readonly addressing: SiteAddressing
  readonly nodes: Pick<Nodes, 'at'>
  /** Folder for archives under way. */
  readonly folder: string
  /** Seconds from the beginning of a round to that of the next one; 30 when not given. */
  readonly everySeconds?: number | undefined
}

/** Leaves half of the promised minute for a round itself. */
const usualSeconds = 30
/** A suspended server has hardly any writes, so its rounds are rare. */
const suspendedSeconds = 3_600
/** Acts of the owner or the portal that block a round end within seconds to minutes. */
const busySeconds = 15
const longestRestSeconds = 60
/** Rounds under way at a time, per run. Of these one per process may be a whole copy. */
const atOnce = 2
/** After so many failures in a row the server is copied whole. */
const mostAttempts = 10
/** After it has watched the nodes for so long a process knows which of them are away. */
const lookedMs = minutes(2)
const lookMs = seconds(1)
/** Longest interval between two checks of which servers should have a mirror. */
const mostArrangeMs = seconds(10)
/** A run ends before the next one begins, with the next minute. */
const runMs = seconds(55)
export const mirrorJob = 'follow-mirrors'

/** The content on the mirror's node is not the one that the rounds continue. */
class OtherCopy extends Error {}
const otherCopy = (error: unknown): never => {
  if (error instanceof DriverFailure && error.kind === 'rejected')
    throw new OtherCopy(error.message, { cause: error })
  throw error
}

export interface Mirrors {
  /** Has a run begin at once, in whichever process, because this one starts. */
  follow(): Promise<void>
  /** As `follow`, and tries failed mirrors again, because a node came back. */
  followAgain(): Promise<void>
  counts(): Promise<MirrorCounts>
}

export function defineMirrors(deps: MirrorDeps): Mirrors {
  const { db, clock, log, catalog } = deps
  const holder = randomUUID()
  const everySeconds = deps.everySeconds ?? usualSeconds
  const arrangeMs = Math.min(mostArrangeMs, seconds(everySeconds))

  const mirroredPlans = () => catalog.plans.filter(({ mirrored }) => mirrored).map(({ id }) => id)
  const started = performance.now()
  async function arrange(): Promise<void> {
    const plans = mirroredPlans()
    // The database knows when nodes were last heard of only after they were looked at for a while.
    await endMirrors(db, plans, performance.now() - started > lookedMs)
    await transaction(db, (tx) => beginMirrors(tx, clock, plans))
  }

  /** Removes the mirror from its node; a node that is away is asked again. */
  async function end(row: MirrorRow): Promise<void> {
    if (await isLastCopy(db, row)) return
    if (await isOnlyMirror(db, row)) {
      const known = await db
        .selectFrom('node')
        .select('id')
        .where('id', '=', row.node_id)
        .executeTakeFirst()
      if (known) await deps.nodes.at(row.node_id).driver.remove(row.site_id)
    }
    await forgetMirror(db, row.id)
  }

  const fileOf = (id: string): string => path.join(deps.folder, `mirror-${id}.tar.gz`)
  /** Removes archives left by a killed process or a broken connection. */
  async function sweep(): Promise<void> {
    const inUse = new Set([...inHand.values()].map(({ id }) => path.basename(fileOf(id))))
    const names: string[] = await fs.readdir(deps.folder).catch(() => [])
    for (const name of names.filter((one) => one.startsWith('mirror-') && !inUse.has(one))) {
      const file = path.join(deps.folder, name)
      const stat = await fs.stat(file).catch(() => null)
      if (stat && Date.now() - stat.mtimeMs > copyMs) await fs.rm(file, { force: true })
    }
  }

  /** Does one round; false: the server's state allows none now. */
  async function follow(row: MirrorRow, signal: AbortSignal): Promise<boolean> {
    const site = await siteById(db, row.site_id)
    if (!site || (site.status !== 'running' && site.status !== 'suspended')) return false
    if ((site.node_id ?? firstNode) !== row.from_node) return false
    // Neither half an update nor half a restore is content that its owner wants back.
    if ((await hasOtherContent(db, site.id)) || (await hasUpdateUnderWay(db, site.id))) return false
    const to = deps.nodes.at(row.node_id)
    // The copy may have been started by a rescue that did not succeed.
    if (row.laid === null) await to.driver.stop(site.id)
    const from = deps.nodes.at(row.from_node)
    const spec = await specOf(db, deps.addressing, site)
    const [began, contentAt] = [performance.now(), clock.now()]
    const { database, compression, release } = to.driver.capabilities
    const mirror = { since: row.laid }
    const of = { moveId: row.id, round: row.tries, database, compression, release, mirror }
    const file = fileOf(row.id)
    await fs.mkdir(deps.folder, { recursive: true, mode: 0o700 })
    try {
      const out = from.driver.copyOut(site.id, of, file)
      const { bytes } = await within(copyMs, 'the copy took too long', out, signal)
      // The server may be brought up from the mirror meanwhile, or another process may have claimed
      // it.
      if (!(await holdOn(db, row))) return true
      const lines = row.laid === null ? await from.driver.log(site.id).tail(5_000) : []
      const laid = to.driver.copyIn(spec, { ...of, bytes }, file, lines).catch(otherCopy)
      await within(copyMs, 'the copy took too long', laid, signal)
    } finally {
      await fs.rm(file, { force: true })
    }
    const pace = site.status === 'suspended' ? suspendedSeconds : everySeconds
    const tookSeconds = (performance.now() - began) / 1_000
    await letGo(db, row, Math.max(1, pace - tookSeconds), {
      laid: row.tries,
      content_at: contentAt,
      attempts: 0,
      reason: null,
    })
    return true
  }

  async function afterFailure(row: MirrorRow, error: unknown): Promise<void> {
    const reason = error instanceof Error ? error.message : String(error)
    const attempts = row.attempts + 1
    const rest = Math.min(longestRestSeconds, everySeconds * 2 ** Math.min(attempts, 10))
    log.warn({ err: error, site: row.site_id, attempts }, 'a mirror did not follow')
    // It is unknown which state one of the two ends has reached. The mirror's content is complete,
    // and stays useful until everything has been copied once more, unless it is not this mirror's.
    const isRefused = error instanceof DriverFailure && error.kind === 'rejected'
    const isOther = error instanceof OtherCopy
    const anew = row.laid !== null && (isRefused || isOther || attempts % mostAttempts === 0)
    if (row.state === 'following')
      await letGo(db, row, anew ? 1 : rest, {
        attempts,
        reason,
        ...(anew && { laid: null }),
        ...(anew && isOther && { content_at: null }),
      })
  }

  async function attend(row: MirrorRow, stopping: AbortSignal): Promise<void> {
    const lost = new AbortController()
    const signal = AbortSignal.any([stopping, lost.signal])
    const hold = async (): Promise<void> => {
      if (!(await holdOn(db, row))) lost.abort()
    }
    const timer = setInterval(
      () => {
        if (row.state === 'following')
          hold().catch((error: unknown) => log.warn({ err: error }, 'holding a mirror'))
      },
      (holdSeconds * 1_000) / 4,
    )
    try {
      if (row.state === 'ending') await end(row)
      else if (!(await follow(row, signal))) await letGo(db, row, busySeconds, {})
    } catch (error) {
      if (signal.aborted) await letGo(db, row, 0, {})
      else await afterFailure(row, error)
    } finally {
      clearInterval(timer)
    }
  }

  /** Rounds of this process: one run may wait for the end of its rounds while the next goes on. */
  const inHand = new Map<Promise<void>, MirrorRow>()
  async function run(signal: AbortSignal): Promise<void> {
    await sweep()
    if (!(await areThere()) && !(await hasSecondNode(db))) return
    await arrange()
    let arranged = performance.now()
    const until = performance.now() + runMs
    const own = new Set<Promise<void>>()
    const isOver = (): boolean => signal.aborted || performance.now() > until
    while (!isOver() && (await areThere())) {
      while (!isOver() && own.size < atOnce) {
        const copiesWhole = [...inHand.values()].some(({ laid }) => laid === null)
        const row = await takeDue(db, holder, !copiesWhole)
        if (!row) break
        const done: Promise<void> = attend(row, signal)
          .catch((error: unknown) => log.error({ err: error, mirror: row.id }, 'a mirror'))
          .finally(() => {
            inHand.delete(done)
            own.delete(done)
          })
        inHand.set(done, row)
        own.add(done)
      }
      if (performance.now() - arranged > arrangeMs) {
        await arrange()
        arranged = performance.now()
      }
      const look = pause(lookMs, undefined, { signal, ref: false }).catch(() => undefined)
      await Promise.race([...own, look])
    }
    await Promise.all(own)
  }
  const areThere = async (): Promise<boolean> =>
    (await db.selectFrom('site_mirror').select('id').limit(1).executeTakeFirst()) !== undefined

  deps.jobs.define({
    name: mirrorJob,
    cron: '* * * * *',
    // Several runs overlap, so that slow rounds, and the whole copy of a large server, do not keep
    // the others waiting.
    concurrency: 3,
    retries: 0,
    limitSeconds: 5 * 3600,
    run: async (_payload, { signal }) => await run(signal),
  })
  async function begin(): Promise<void> {
    if (mirroredPlans().length === 0) return
    await transaction(db, (tx) => deps.jobs.add(tx, mirrorJob, {}))
  }
  return {
    follow: begin,
    async followAgain() {
      await retryFailed(db)
      await begin()
    },
    counts: async () => await countMirrors(db, clock, mirroredPlans()),
  }
}
