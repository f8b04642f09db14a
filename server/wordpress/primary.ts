/**
 * The primary name of a server, to which visitors of its other names are redirected, and the stored
 * addresses in posts and settings that still have the other names.
 */
import { sql, type Selectable } from 'kysely'
import type { Language } from '../../contract/errors.ts'
import { ruleText, type RuleKey } from '../../contract/server-sentences.ts'
import type { Rewrite, RewritePreview } from '../../contract/wordpress-domains.ts'
import { hours, later, minutes, type Clock } from '../platform/clock.ts'
import {
  databaseError,
  transaction,
  type Database,
  type Queryable,
  type Tx,
} from '../platform/db.ts'
import { DriverFailure, Refusal } from '../platform/errors.ts'
import type { DB } from '../platform/db-types.ts'
import type { Jobs } from '../platform/jobs.ts'
import { hasUnfinishedCopy } from './backup-store.ts'
import { ensureJob } from './change.ts'
import type { AddressChange, AddressStep, WordpressDriver } from './driver.ts'
import { lockSite, namesOf, siteById, type SiteAddressing } from './store.ts'
import { hasUpdateUnderWay } from './update-store.ts'

/** Continues a rewrite of addresses until it is done. Payload { rewriteId }. */
export const rewriteJob = 'rewrite-addresses'

/** Longest time of a count: the owner of a larger site is told a lower bound. */
const previewMs = 20_000
/** A writing of addresses that takes longer has failed; what it has written stays. */
const longestMs = hours(1)
/**
 * So long one server's writing goes on before the others have their turn, and so many steps it may
 * take in that time: a step that is not the last takes five seconds.
 */
const turnMs = minutes(1)
const turnSteps = 12
/** A site of a network of sites has hundreds. */
const mostTables = 2_000

/** Why a writing of addresses was ended by the portal; its column has the key. */
type RewriteProblem = Extract<RuleKey, 'rewrite_slow' | 'rewrite_astray' | 'rewrite_lost'>

interface PrimaryDeps {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Jobs
  readonly driver: WordpressDriver
  readonly addressing: SiteAddressing
}

/**
 * Stores the choice; null: each name answers by itself. Refuses with invalid_input a name that is
 * not the server's, is not proven, or does not lead here: its visitors would reach nothing.
 */
export async function choosePrimary(
  tx: Tx,
  deps: Pick<PrimaryDeps, 'jobs'>,
  of: { siteId: string; name: string | null; language: Language },
): Promise<string | null> {
  const site = await lockSite(tx, of.siteId)
  if (site?.status !== 'running') throw new Refusal('server_not_running')
  const refuse = (rule: RuleKey): Refusal =>
    new Refusal('invalid_input', { fields: { name: ruleText(rule, of.language) } })
  const name = of.name?.trim().toLowerCase() ?? null
  if (name !== null) {
    const held = await tx
      .selectFrom('site_domain')
      .select(['verified', 'pointed'])
      .where('site_id', '=', site.id)
      .where('name', '=', name)
      .where('released_at', 'is', null)
      .executeTakeFirst()
    if (!held) throw refuse('primary_unknown')
    if (!held.verified || held.pointed === false) throw refuse('primary_elsewhere')
  }
  if (name === site.primary_host) return name
  await tx.updateTable('site').set({ primary_host: name }).where('id', '=', site.id).execute()
  await deps.jobs.add(tx, ensureJob, { siteId: site.id })
  return name
}

/** The addresses to replace and the new one, including hosts of former names. */
async function changeOf(
  db: Queryable,
  addressing: SiteAddressing,
  siteId: string,
): Promise<Omit<AddressChange, 'dryRun'>> {
  const site = await siteById(db, siteId)
  if (site?.status !== 'running') throw new Refusal('server_not_running')
  const { url, others } = await namesOf(db, addressing, site)
  return { from: others, to: url }
}

const sumOf = (tables: Readonly<Record<string, number>>): number =>
  Object.values(tables).reduce((sum, count) => sum + count, 0)
function added(
  one: Readonly<Record<string, number>>,
  other: Readonly<Record<string, number>>,
): Record<string, number> {
  const sum = { ...one }
  for (const [table, count] of Object.entries(other)) sum[table] = (sum[table] ?? 0) + count
  return sum
}

/** A writing of addresses that has failed; the message is the sentence's key. */
const failedBy = (rule: RewriteProblem): DriverFailure => new DriverFailure('rejected', rule)

/** Tables come in the order of their names' bytes, rows by their number. */
function comesAfter(
  one: NonNullable<AddressStep['after']>,
  other: NonNullable<AddressStep['after']>,
): boolean {
  const order = Buffer.compare(Buffer.from(one.table), Buffer.from(other.table))
  if (order !== 0) return order > 0
  // Where no row is named, the table is done.
  return other.key !== null && (one.key === null || one.key > other.key)
}

/**
 * One step. DriverFailure rejected where it does not get on, or names more tables than a site has:
 * the owner's own code answers it, and could keep a worker busy for ever.
 */
async function stepOf(
  driver: WordpressDriver,
  siteId: string,
  change: AddressChange,
  from: Pick<AddressStep, 'after' | 'tables'>,
): Promise<AddressStep> {
  const step = await driver.replaceAddresses(siteId, change, from.after)
  const getsOn = step.after === null || from.after === null || comesAfter(step.after, from.after)
  const tables = added(from.tables, step.tables)
  if (!getsOn || Math.max(Object.keys(tables).length, step.skipped.length) > mostTables)
    throw failedBy('rewrite_astray')
  return { ...step, tables }
}

/** Counts what would be written. DriverFailure where the site does not answer. */
export async function previewRewrite(
  deps: Pick<PrimaryDeps, 'db' | 'driver' | 'addressing'>,
  siteId: string,
): Promise<RewritePreview> {
  const change = await changeOf(deps.db, deps.addressing, siteId)
  let tables: AddressStep['tables'] = {}
  const skipped = new Set<string>()
  let after: AddressStep['after'] = null
  const until = performance.now() + previewMs
  if (change.from.length > 0)
    do {
      const from = { after, tables }
      const step = await stepOf(deps.driver, siteId, { ...change, dryRun: true }, from)
      tables = step.tables
      for (const table of step.skipped) skipped.add(table)
      after = step.after
    } while (after !== null && performance.now() < until)
  return {
    to: change.to,
    from: [...change.from],
    values: sumOf(tables),
    tables: Object.entries(tables).map(([name, values]) => ({ name, values })),
    skipped: [...skipped],
  }
}

const isSentence = (problem: string): problem is RewriteProblem =>
  problem === 'rewrite_slow' || problem === 'rewrite_astray' || problem === 'rewrite_lost'
const shown = (row: Selectable<DB['site_rewrite']>, language: Language): Rewrite => ({
  state: row.state as Rewrite['state'],
  to: row.to_url,
  from: row.from_hosts,
  values: sumOf(row.tables as Record<string, number>),
  problem:
    row.problem !== null && isSentence(row.problem) ? ruleText(row.problem, language) : row.problem,
  createdAt: row.created_at.toISOString(),
  endedAt: row.ended_at?.toISOString() ?? null,
})

/** The newest; null: there was none. */
export async function newestRewrite(
  db: Queryable,
  siteId: string,
  language: Language,
): Promise<Rewrite | null> {
  const row = await db
    .selectFrom('site_rewrite')
    .selectAll()
    .where('site_id', '=', siteId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ? shown(row, language) : null
}

/** Refusal conflict while another one runs, or while its content is copied, moved or updated. */
export async function beginRewrite(
  tx: Tx,
  deps: PrimaryDeps,
  { siteId, language }: { readonly siteId: string; readonly language: Language },
): Promise<Rewrite> {
  await lockSite(tx, siteId)
  if (await hasUnfinishedCopy(tx, siteId)) throw new Refusal('backup_in_progress')
  if (await hasUpdateUnderWay(tx, siteId)) throw new Refusal('update_in_progress')
  const { from, to } = await changeOf(tx, deps.addressing, siteId)
  try {
    const row = await tx
      .insertInto('site_rewrite')
      .values({ site_id: siteId, from_hosts: [...from], to_url: to, created_at: deps.clock.now() })
      .returningAll()
      .executeTakeFirstOrThrow()
    await deps.jobs.add(tx, rewriteJob, { rewriteId: String(row.id) })
    return shown(row, language)
  } catch (error) {
    if (databaseError(error)?.constraint === 'site_rewrite_running') throw new Refusal('conflict')
    throw error
  }
}

/** Defines the job. A step that ran twice finds nothing left the second time. */
export function defineRewriting({ db, clock, jobs, driver }: PrimaryDeps): void {
  /** True: it is not over, and others come first. */
  async function takeTurn(rewriteId: string, signal: AbortSignal): Promise<boolean> {
    const until = performance.now() + turnMs
    for (let steps = 0; steps < turnSteps && performance.now() < until; steps++) {
      signal.throwIfAborted()
      const row = await db
        .selectFrom('site_rewrite as r')
        .innerJoin('site as s', 's.id', 'r.site_id')
        .selectAll('r')
        .select('s.status')
        .where('r.id', '=', BigInt(rewriteId))
        .where('r.state', '=', 'running')
        .executeTakeFirst()
      if (!row) return false
      if (later(row.created_at, longestMs) < clock.now()) throw failedBy('rewrite_slow')
      const isOver = ['deleting', 'failed'].includes(row.status)
      const change = { from: row.from_hosts, to: row.to_url, dryRun: false }
      const from = {
        after: row.after as AddressStep['after'],
        tables: row.tables as AddressStep['tables'],
      }
      const step: Pick<AddressStep, 'after' | 'tables'> =
        isOver || change.from.length === 0
          ? { ...from, after: null }
          : await stepOf(driver, row.site_id, change, from)
      await db
        .updateTable('site_rewrite')
        .set({
          after: step.after === null ? null : sql`${JSON.stringify(step.after)}::jsonb`,
          tables: sql`${JSON.stringify(step.tables)}::jsonb`,
          ...(step.after === null && { state: 'done', ended_at: clock.now() }),
        })
        .where('id', '=', row.id)
        .where('state', '=', 'running')
        .execute()
      if (step.after === null) return false
    }
    return true
  }
  jobs.define<{ rewriteId: string }>({
    name: rewriteJob,
    concurrency: 2,
    retries: 8,
    retryDelaySeconds: 5,
    limitSeconds: 600,
    run: async ({ rewriteId }, { last, signal }) => {
      // The steps of a site that answers sooner than it has to are no more for that.
      const next = later(new Date(), turnMs)
      try {
        if (await takeTurn(rewriteId, signal))
          await transaction(db, (tx) =>
            jobs.add(tx, rewriteJob, { rewriteId }, { startAfter: next }),
          )
      } catch (error) {
        const isRefused = error instanceof DriverFailure && error.kind === 'rejected'
        if (signal.aborted || (!last && !isRefused)) throw error
        await db
          .updateTable('site_rewrite')
          .set({ state: 'failed', problem: (error as Error).message, ended_at: clock.now() })
          .where('id', '=', BigInt(rewriteId))
          .where('state', '=', 'running')
          .execute()
      }
    },
  })
}
