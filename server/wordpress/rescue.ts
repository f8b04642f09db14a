/**
 * Brings a server of a lost node up on another, from its mirror (decision 133) or its newest backup
 * (decision 123). Each step may be repeated, so a kill at any point leads to the same step again.
 * Until the switch to the other node is stored the server is unchanged; if its node came back by
 * then, it stays there.
 */
import type { Outbox } from '../messages/index.ts'
import { later, minutes, seconds } from '../platform/clock.ts'
import { transaction, type Tx } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { Attempt } from '../platform/jobs.ts'
import { NoSuchFile } from '../platform/object-store/index.ts'
import type { Archives } from './archives.ts'
import { backupById, figuresOf } from './backup-store.ts'
import { ensureJob } from './change.ts'
import type { FailoverOutbox } from './failover-store.ts'
import { isBackSince } from './lease-store.ts'
import { keptAfterReturnMs, rescueJob } from './lost-store.ts'
import type { SiteSpec } from './driver.ts'
import { forgetMirror, giveBack } from './mirror-store.ts'
import type { MoveDeps } from './move-clearing.ts'
import { copyMs, startMs } from './move-parts.ts'
import { clearMoveJob, moveById, type MoveRow } from './move-store.ts'
import { rescuedLetter, type OwnersMail } from './rescue-letter.ts'
import { firstNode, lockSite, siteById, specOf } from './store.ts'
import { waveJob } from './update-store.ts'
import { within } from './within.ts'

/** Failed attempts per rescue. An attempt that ends because the portal is killed does not count. */
const maxAttempts = 3
/**
 * How long writes are held, renewed while it starts: it must not write before the switch is stored.
 */
const holdMs = minutes(10)
/** Servers that come up at a time, per process that runs jobs. */
const atOnce = 2

/** A failure that another try cannot mend. */
class GivenUp extends Error {}
/** The rescue is not needed any more: the server is all right, or was deleted. */
class NotNeeded extends GivenUp {}

export interface RescueDeps extends Omit<MoveDeps, 'folder' | 'collectFrom'>, OwnersMail {
  readonly archives: Archives
  /** A letter that asks to be answered. */
  readonly answerable: Outbox['answerable']
  readonly outbox: FailoverOutbox
}

export function defineRescues(deps: RescueDeps): void {
  const { db, clock, log, jobs, archives } = deps

  /** Restores the backup on the new node. */
  async function layOut(row: MoveRow, spec: SiteSpec, signal: AbortSignal): Promise<void> {
    const backup = await backupById(db, row.backup_id ?? '')
    if (backup?.state !== 'proven') throw new GivenUp('its backup is gone')
    const figures = figuresOf(backup.figures)
    const of = { siteId: spec.id, backupId: backup.id }
    const { driver } = deps.nodes.at(row.to_node)
    const restored = archives.use(of, (file) => driver.restore(spec, { file, figures }, row.id))
    await within(copyMs, 'the backup took too long', restored, signal)
  }

  /** Starts the mirror or the backup on the new node, and stores the switch. */
  async function bringUp(row: MoveRow, signal: AbortSignal): Promise<void> {
    const site = await siteById(db, row.site_id)
    if (!site || (site.status !== 'running' && site.status !== 'suspended'))
      throw new NotNeeded('the server does not run any more')
    if ((site.node_id ?? firstNode) !== row.from_node)
      throw new NotNeeded('the server is elsewhere')
    const { driver } = deps.nodes.at(row.to_node)
    const spec = await specOf(db, deps.addressing, site)
    if (!row.from_mirror) await layOut(row, spec, signal)
    // A mirror's database is loaded when it starts, so a suspended server with a mirror is started
    // for a moment, too.
    if (site.status === 'running' || row.from_mirror) {
      await driver.holdWrites(site.id, holdMs)
      const longestMs = row.from_mirror ? copyMs : startMs
      const again = setInterval(() => {
        driver.holdWrites(site.id, holdMs).catch(() => undefined)
      }, holdMs / 4)
      try {
        await within(longestMs, 'the server did not start', driver.start(spec), signal)
      } finally {
        clearInterval(again)
      }
      // The status does not matter: the site may have answered with an error before.
      await driver.frontPage(site.id, new URL(spec.url).host)
      if (site.status === 'suspended') await driver.stop(site.id)
    }
    const isElsewhere = await transaction(db, (tx) => writeDown(tx, row, site.status))
    const told = { site: site.name, from: row.from_node, to: row.to_node }
    if (isElsewhere) log.info(told, 'a server came up elsewhere')
    else log.info(told, 'another run has decided whether a server comes up elsewhere')
  }

  /**
   * Stores everything that the switch changes, in one transaction, unless the lost node is back.
   * False: another run has decided it.
   */
  async function writeDown(tx: Tx, row: MoveRow, status: string): Promise<boolean> {
    const site = await lockSite(tx, row.site_id)
    const isSame = site?.status === status && (site.node_id ?? firstNode) === row.from_node
    if (!site || !isSame) throw new DriverFailure('unavailable', 'the server was changed meanwhile')
    const now = await moveById(tx, row.id)
    if (now?.state !== 'switching') return false
    if (row.fenced_at === null || (await isBackSince(tx, row.from_node, row.fenced_at)))
      throw new NotNeeded('the node is back, and the server is there as it was')
    await tx.updateTable('site').set({ node_id: row.to_node }).where('id', '=', site.id).execute()
    await tx.deleteFrom('site_placement').where('site_id', '=', site.id).execute()
    await tx
      .updateTable('site_move')
      .set({
        state: 'moved',
        attempts: 0,
        reason: null,
        switched_at: clock.now(),
        // The time is set anew when the node is back (move-clearing.ts).
        expires_at: later(clock.now(), keptAfterReturnMs(row)),
        leftover_node: row.from_node,
        leftover_stopped: false,
      })
      .where('id', '=', row.id)
      .execute()
    await endOfLost(tx, site.id)
    if (row.from_mirror) await forgetMirror(tx, row.backup_id ?? '')
    else if (row.backup_id !== null)
      await tx
        .insertInto('site_restore')
        .values({
          id: row.id,
          site_id: site.id,
          backup_id: row.backup_id,
          state: 'restored',
          asked_at: row.created_at,
          ended_at: clock.now(),
        })
        .execute()
    if (status === 'running') await jobs.add(tx, ensureJob, { siteId: site.id })
    const { email: to, language } = await deps.owner(tx, site.customer_id)
    const told = {
      name: site.name,
      at: row.content_at ?? row.created_at,
      isMirror: row.from_mirror,
      link: `${deps.portalUrl}/wordpress/${site.id}?tab=backups`,
    }
    await deps.answerable(tx, {
      to,
      language,
      about: { kind: 'server', id: site.id },
      subject: rescuedLetter.subject[language](told),
      text: rescuedLetter.text[language](told),
    })
    return true
  }

  /**
   * Ends what the lost node had under way with the server: nobody else can end it, and it must not
   * continue where the server is now. This happens at the switch and not earlier, because a node
   * that is back ends its work itself.
   */
  async function endOfLost(tx: Tx, siteId: string): Promise<void> {
    const ended = { state: 'failed', ended_at: clock.now() } as const
    await tx
      .updateTable('site_restore')
      .set({ ...ended, reason: 'the node of the server was lost' })
      .where('site_id', '=', siteId)
      .where('state', '=', 'restoring')
      .execute()
    // What it has written may not be in the content that came up.
    await tx
      .updateTable('site_rewrite')
      .set({ ...ended, problem: 'rewrite_lost' })
      .where('site_id', '=', siteId)
      .where('state', '=', 'running')
      .execute()
    // One that waits has not begun, and begins on the other node.
    const updates = await tx
      .updateTable('site_update')
      .set({ ...ended, reason: 'node_lost' })
      .where('site_id', '=', siteId)
      .where('state', 'in', ['saving', 'updating', 'checking', 'rolling_back'])
      .returning('wave_id')
      .execute()
    for (const { wave_id: wave } of updates)
      if (wave !== null) await jobs.add(tx, waveJob, { waveId: String(wave) })
  }

  /**
   * Completes the switch: lets the server write, tells the edges, and sends readers of its log to
   * the new node.
   */
  async function arrive(row: MoveRow): Promise<void> {
    // The node may have kept an old copy of the server, for which it answers no visitor until told.
    await deps.nodes.tell(row.to_node)
    await deps.nodes.at(row.to_node).driver.holdWrites(row.site_id, 0)
    await deps.tellInOrder(row.to_node, row.from_node)
    deps.nodes.rerouted()
    await transaction(db, async (tx) => {
      await tx.updateTable('site_move').set({ arrived: true }).where('id', '=', row.id).execute()
      const startAfter = later(new Date(), seconds(5))
      await jobs.add(tx, clearMoveJob, { moveId: row.id }, { startAfter })
    })
  }

  /** Stops the mirror now; if its node is away, mirrors.ts stops it before it follows again. */
  async function stopMirror(row: MoveRow): Promise<void> {
    try {
      await deps.nodes.at(row.to_node).driver.stop(row.site_id)
    } catch (error) {
      log.warn({ err: error, site: row.site_id }, 'a mirror that did not take over is not stopped')
    }
  }

  /**
   * Tells the operator, because nobody watches a rescue by rule: the server is down until somebody
   * looks at it.
   */
  async function tellOfFailure(tx: Tx, row: MoveRow, reason: string): Promise<void> {
    const site = await siteById(tx, row.site_id)
    if (!site) return
    const node = { from: row.from_node, to: row.to_node }
    await deps.outbox.tellOperator(tx, {
      event: 'wordpress.rescue_failed',
      customerId: site.customer_id,
      payload: { server: { id: site.id, name: site.name }, node, reason },
    })
  }

  async function afterFailure(row: MoveRow, error: unknown, { signal }: Attempt): Promise<void> {
    if (signal.aborted) throw error
    const now = await moveById(db, row.id)
    if (now?.state !== 'switching') throw error
    const isFinal =
      error instanceof GivenUp ||
      error instanceof NoSuchFile ||
      (error instanceof DriverFailure && error.kind === 'rejected')
    const attempts = row.attempts + 1
    const reason = error instanceof NoSuchFile ? 'its archive is gone' : String(messageOf(error))
    if (!isFinal && attempts < maxAttempts) {
      log.warn(
        { err: error, site: row.site_id, attempts },
        'a server did not come up elsewhere yet',
      )
      await db.updateTable('site_move').set({ attempts, reason }).where('id', '=', row.id).execute()
      throw error
    }
    log.error({ err: error, site: row.site_id }, 'a server could not be brought up elsewhere')
    const isDecided = await transaction(db, async (tx) => {
      const { numUpdatedRows } = await tx
        .updateTable('site_move')
        .set({
          state: 'failed',
          reason,
          // A mirror is not removed: if the lost machine does not come back, it is the newest copy
          // there is.
          leftover_node: row.from_mirror ? null : row.to_node,
          expires_at: clock.now(),
        })
        .where('id', '=', row.id)
        .where('state', '=', 'switching')
        .executeTakeFirst()
      if (numUpdatedRows === 0n) return false
      const isRefused = error instanceof DriverFailure && error.kind === 'rejected'
      if (row.from_mirror) await giveBack(tx, row.backup_id ?? '', isRefused)
      await jobs.add(tx, clearMoveJob, { moveId: row.id })
      // If the server's node is back, work on the server may have waited for this decision.
      await jobs.add(tx, ensureJob, { siteId: row.site_id })
      if (!(error instanceof NotNeeded)) await tellOfFailure(tx, row, reason)
      return true
    })
    if (isDecided && row.from_mirror) await stopMirror(row)
  }

  jobs.define<{ moveId: string }>({
    name: rescueJob,
    concurrency: atOnce,
    retries: 'unlimited',
    limitSeconds: 5 * 3600,
    run: async ({ moveId }, attempt) => {
      const row = await moveById(db, moveId)
      if (row?.state === 'switching')
        try {
          await bringUp(row, attempt.signal)
        } catch (error) {
          return await afterFailure(row, error, attempt)
        }
      const now = await moveById(db, moveId)
      if (now?.state === 'moved' && !now.arrived) await arrive(now)
    },
  })
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
