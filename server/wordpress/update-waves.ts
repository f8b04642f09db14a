/**
 * The operator updates all sites in waves: one site first, then some, then the rest. A wave stops
 * by itself when too many sites of a stage had to be rolled back.
 */
import { sql } from 'kysely'
import type { Clock } from '../platform/clock.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import {
  addUpdate,
  candidatesOf,
  foundOf,
  hasUpdateUnderWay,
  installedOf,
  packageOf,
  updateJob,
  waveJob,
  type UpdatePackage,
} from './update-store.ts'

export const waveStates = ['planned', 'running', 'paused', 'stopped', 'done', 'cancelled'] as const
export type WaveState = (typeof waveStates)[number]

/** Most updates of a wave under way at a time: each makes a backup. */
const atOnce = 20
/** Sites that are read at a time. */
const batch = 500

export interface WaveWish {
  /** Number of sites of each stage; 0: all that are left. */
  readonly stages: readonly number[]
  /** The wave stops when more than this share of a stage fails, per cent. */
  readonly stopPercent: number
  readonly scope: 'security' | 'all'
}
export interface PlannedSite {
  readonly siteId: string
  readonly name: string
  readonly stage: number
  readonly packages: readonly UpdatePackage[]
}
type WaveDeps = { readonly jobs: Pick<Jobs, 'add'>; readonly clock: Clock }

/** Decides how a stage continues, by how many of its sites failed or are still open. */
export function decideStage(
  counts: { readonly total: number; readonly bad: number; readonly open: number },
  stopPercent: number,
): 'stop' | 'go_on' | 'next' {
  if (counts.bad * 100 > stopPercent * counts.total) return 'stop'
  return counts.open > 0 ? 'go_on' : 'next'
}

/** The stage of the site at this position in the order. */
export function stageOf(place: number, stages: readonly number[]): number {
  let first = 0
  for (const [stage, size] of stages.entries()) {
    if (size === 0 || place < first + size) return stage
    first += size
  }
  return stages.length - 1
}

/**
 * Every server with something to install. Suspended ones are included: they are updated when they
 * run again.
 */
export async function planSites(
  db: Queryable,
  clock: Clock,
  wish: WaveWish,
): Promise<PlannedSite[]> {
  const planned: PlannedSite[] = []
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const rows = await db
      .selectFrom('site as s')
      .innerJoin('site_software as w', 'w.site_id', 's.id')
      .select(['s.id', 's.name', 'w.found'])
      .where('s.status', 'in', ['running', 'suspended'])
      .where('s.deleted_at', 'is', null)
      .where('s.id', '>', after)
      .orderBy('s.id')
      .limit(batch)
      .execute()
    for (const row of rows) {
      after = row.id
      const found = foundOf(row)
      if (!found) continue
      const installed = await installedOf(db, row.id, found, clock.now())
      const packages = candidatesOf(installed)
        .filter(({ security, rolledBack }) => (wish.scope === 'all' || security) && !rolledBack)
        .map(packageOf)
      if (packages.length > 0)
        planned.push({
          siteId: row.id,
          name: row.name,
          stage: stageOf(planned.length, wish.stages),
          packages,
        })
    }
    if (rows.length < batch) return planned
  }
}

/** Stores a wave; nothing begins before `startWave`. Answers its id. */
export async function planWave(
  tx: Tx,
  deps: WaveDeps,
  wish: WaveWish,
  sites: readonly PlannedSite[],
): Promise<bigint> {
  const { id } = await tx
    .insertInto('update_wave')
    .values({
      stages: [...wish.stages],
      stop_percent: wish.stopPercent,
      scope: wish.scope,
      created_at: deps.clock.now(),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  for (const { siteId, stage, packages } of sites)
    await addUpdate(tx, deps, { siteId, cause: 'wave', packages, wave: { id, stage } })
  return id
}

const lockWave = (tx: Tx, id: bigint) =>
  tx.selectFrom('update_wave').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()

const moves = {
  start: { from: ['planned'], to: 'running' },
  pause: { from: ['running'], to: 'paused' },
  resume: { from: ['paused', 'stopped'], to: 'running' },
  cancel: { from: ['planned', 'running', 'paused', 'stopped'], to: 'cancelled' },
} as const
export type WaveMove = keyof typeof moves

/** The facts of a wave that the trail keeps. */
interface WaveFacts {
  readonly waveState: WaveState
  readonly stopPercent: number
}

/**
 * Starts, pauses, resumes or cancels a wave. An update under way at a site runs to its end; one
 * that has not begun waits, or is skipped where the wave is cancelled. Answers the states before
 * and after. Refuses with not_found, or with conflict in an unsuitable state.
 */
export async function moveWave(
  tx: Tx,
  deps: WaveDeps,
  id: bigint,
  move: WaveMove,
  stopPercent?: number,
): Promise<{ readonly before: WaveFacts; readonly after: WaveFacts }> {
  const wave = await lockWave(tx, id)
  if (!wave) throw new Refusal('not_found')
  const { from, to } = moves[move]
  if (!(from as readonly string[]).includes(wave.state)) throw new Refusal('conflict')
  const now = deps.clock.now()
  await tx
    .updateTable('update_wave')
    .set({
      state: to,
      ended_at: to === 'cancelled' ? now : null,
      // A stopped wave needs a higher limit, or it would stop again at once.
      ...(stopPercent !== undefined && { stop_percent: stopPercent }),
    })
    .where('id', '=', id)
    .execute()
  if (to === 'running') await jobOf(tx, deps, id)
  else await holdBack(tx, id)
  if (to === 'cancelled') await leave(tx, id, now)
  // Updates that were skipped by the stop are planned again.
  if (wave.state === 'stopped' && to === 'running')
    await tx
      .updateTable('site_update')
      .set({ state: 'planned', reason: null, ended_at: null })
      .where('wave_id', '=', id)
      .where('state', '=', 'skipped')
      .where('reason', '=', 'wave_stopped')
      .execute()
  return {
    before: { waveState: wave.state as WaveState, stopPercent: wave.stop_percent },
    after: { waveState: to, stopPercent: stopPercent ?? wave.stop_percent },
  }
}

const jobOf = (tx: Tx, deps: WaveDeps, id: bigint): Promise<void> =>
  deps.jobs.add(tx, waveJob, { waveId: String(id) })

/** Makes updates that have not begun wait for the wave again. */
const holdBack = (tx: Tx, id: bigint) =>
  tx
    .updateTable('site_update')
    .set({ state: 'planned' })
    .where('wave_id', '=', id)
    .where('state', '=', 'waiting')
    .execute()

/** Skips updates that have not begun. */
const leave = (tx: Tx, id: bigint, now: Date) =>
  tx
    .updateTable('site_update')
    .set({ state: 'skipped', reason: 'wave_stopped', ended_at: now })
    .where('wave_id', '=', id)
    .where('state', '=', 'planned')
    .execute()

export interface WaveShown {
  readonly id: number
  readonly state: WaveState
  readonly stages: readonly number[]
  /** Counted from 1. */
  readonly stage: number
  readonly stopPercent: number
  readonly scope: string
  readonly createdAt: string
  readonly endedAt: string | null
  /** How many sites are in each state. */
  readonly sites: Readonly<Record<string, number>>
  /** Sites that were rolled back or given up. */
  readonly trouble: readonly {
    readonly siteId: string
    readonly name: string
    readonly state: string
    readonly reason: string | null
    readonly packages: readonly UpdatePackage[]
    readonly differences: unknown
  }[]
}

/** The newest waves, or the one with this id. */
export async function wavesOf(db: Queryable, id: bigint | null, most = 10): Promise<WaveShown[]> {
  const waves = await db
    .selectFrom('update_wave')
    .selectAll()
    .$if(id !== null, (query) => query.where('id', '=', id ?? 0n))
    .orderBy('id', 'desc')
    .limit(most)
    .execute()
  const shown: WaveShown[] = []
  for (const wave of waves) {
    const counts = await db
      .selectFrom('site_update')
      .select((eb) => ['state', eb.fn.countAll<bigint>().as('n')])
      .where('wave_id', '=', wave.id)
      .groupBy('state')
      .execute()
    const trouble = await db
      .selectFrom('site_update as u')
      .innerJoin('site as s', 's.id', 'u.site_id')
      .select(['u.site_id', 's.name', 'u.state', 'u.reason', 'u.packages', 'u.differences'])
      .where('u.wave_id', '=', wave.id)
      .where('u.state', 'in', ['rolled_back', 'failed'])
      .orderBy('u.seq')
      .limit(100)
      .execute()
    shown.push({
      id: Number(wave.id),
      state: wave.state as WaveState,
      stages: wave.stages,
      stage: wave.stage + 1,
      stopPercent: wave.stop_percent,
      scope: wave.scope,
      createdAt: wave.created_at.toISOString(),
      endedAt: wave.ended_at?.toISOString() ?? null,
      sites: Object.fromEntries(counts.map(({ state, n }) => [state, Number(n)])),
      trouble: trouble.map((row) => ({
        siteId: row.site_id,
        name: row.name,
        state: row.state,
        reason: row.reason,
        packages: row.packages as unknown as UpdatePackage[],
        differences: row.differences,
      })),
    })
  }
  return shown
}

const underWay = ['waiting', 'saving', 'updating', 'checking', 'rolling_back']
/** One that runs, and one that follows it at once. */
const ofCustomerAtOnce = 2

export function defineUpdateWaves(deps: WaveDeps & { db: Database; jobs: Jobs; log: Log }): void {
  const { db, jobs, clock, log } = deps

  /** Begins updates of the stage, up to `room`. */
  async function beginSome(tx: Tx, waveId: bigint, stage: number, room: number): Promise<void> {
    // A customer's updates run one after the other: more of them would only take others' room.
    const { rows } = await sql<{ id: string; site_id: string }>`
      select id, site_id from (
        select u.id, u.site_id, u.seq,
          row_number() over (partition by s.customer_id order by u.seq) + (
            select count(*) from site_update w join site t on t.id = w.site_id
            where w.wave_id = ${waveId} and w.state = any(${underWay})
              and t.customer_id = s.customer_id) as place
        from site_update u join site s on s.id = u.site_id
        where u.wave_id = ${waveId} and u.stage = ${stage} and u.state = 'planned') as next
      where place <= ${ofCustomerAtOnce} order by seq limit ${Math.max(0, room)}`.execute(tx)
    for (const { id, site_id: siteId } of rows) {
      // The owner or the nightly round is updating the site just now.
      const busy = await hasUpdateUnderWay(tx, siteId)
      await tx
        .updateTable('site_update')
        .set(
          busy ? { state: 'skipped', reason: 'busy', ended_at: clock.now() } : { state: 'waiting' },
        )
        .where('id', '=', id)
        .execute()
      if (!busy) await jobs.add(tx, updateJob, { updateId: id })
    }
    // Adds the job again: if all were skipped, no ending update would do so.
    if (rows.length > 0) await jobOf(tx, deps, waveId)
  }

  async function countsOf(tx: Tx, waveId: bigint, stage: number) {
    const rows = await tx
      .selectFrom('site_update')
      .select((eb) => ['state', eb.fn.countAll<bigint>().as('n')])
      .where('wave_id', '=', waveId)
      .where('stage', '=', stage)
      .groupBy('state')
      .execute()
    const sum = (states: readonly string[]): number =>
      rows.filter(({ state }) => states.includes(state)).reduce((all, { n }) => all + Number(n), 0)
    const begun = sum(underWay)
    return {
      total: sum(rows.map(({ state }) => state)),
      bad: sum(['rolled_back', 'failed']),
      open: begun + sum(['planned']),
      underWay: begun,
    }
  }

  async function advance(tx: Tx, id: bigint): Promise<void> {
    const wave = await lockWave(tx, id)
    if (wave?.state !== 'running') return
    for (let { stage } = wave; stage < wave.stages.length; stage++) {
      const counts = await countsOf(tx, id, stage)
      const decision = decideStage(counts, wave.stop_percent)
      if (decision === 'next') continue
      await tx.updateTable('update_wave').set({ stage }).where('id', '=', id).execute()
      if (decision === 'go_on') {
        await beginSome(tx, id, stage, atOnce - counts.underWay)
        return
      }
      await tx.updateTable('update_wave').set({ state: 'stopped' }).where('id', '=', id).execute()
      await holdBack(tx, id)
      await leave(tx, id, clock.now())
      log.error({ wave: Number(id), stage: stage + 1, ...counts }, 'a wave of updates has stopped')
      return
    }
    await tx
      .updateTable('update_wave')
      .set({ state: 'done', stage: wave.stages.length - 1, ended_at: clock.now() })
      .where('id', '=', id)
      .execute()
    log.info({ wave: Number(id) }, 'a wave of updates is done')
  }

  jobs.define<{ waveId: string }>({
    name: waveJob,
    retries: 'unlimited',
    run: ({ waveId }) => transaction(db, (tx) => advance(tx, BigInt(waveId))),
  })
}
