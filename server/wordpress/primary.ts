/**
 * The primary name of a server, to which visitors of its other names are redirected, and the stored
 * addresses in posts and settings that still have the other names.
 */
import { sql } from 'kysely'
import type { Language } from '../../contract/errors.ts'
import { ruleText, type RuleKey } from '../../contract/server-sentences.ts'
import type { Rewrite, RewritePreview } from '../../contract/wordpress-domains.ts'
import type { Clock } from '../platform/clock.ts'
import { databaseError, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { DriverFailure, Refusal } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import { ensureJob } from './change.ts'
import type { AddressChange, AddressStep, WordpressDriver } from './driver.ts'
import { lockSite, namesOf, siteById, type SiteAddressing } from './store.ts'

/** Continues a rewrite of addresses until it is done. Payload { rewriteId }. */
export const rewriteJob = 'rewrite-addresses'

/** Longest time of a count: the owner of a larger site is told a lower bound. */
const previewMs = 20_000

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

/** Counts what a rewrite would change. DriverFailure where the site does not answer. */
export async function previewRewrite(
  deps: Pick<PrimaryDeps, 'db' | 'driver' | 'addressing'>,
  siteId: string,
): Promise<RewritePreview> {
  const change = await changeOf(deps.db, deps.addressing, siteId)
  let tables: Record<string, number> = {}
  const skipped = new Set<string>()
  let after: AddressStep['after'] = null
  const until = performance.now() + previewMs
  if (change.from.length > 0)
    do {
      const step = await deps.driver.replaceAddresses(siteId, { ...change, dryRun: true }, after)
      tables = added(tables, step.tables)
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

const shown = (row: {
  state: string
  to_url: string
  from_hosts: string[]
  tables: unknown
  problem: string | null
  created_at: Date
  ended_at: Date | null
}): Rewrite => ({
  state: row.state as Rewrite['state'],
  to: row.to_url,
  from: row.from_hosts,
  values: sumOf(row.tables as Record<string, number>),
  problem: row.problem,
  createdAt: row.created_at.toISOString(),
  endedAt: row.ended_at?.toISOString() ?? null,
})

/** The newest rewrite; null: there was none. */
export async function newestRewrite(db: Queryable, siteId: string): Promise<Rewrite | null> {
  const row = await db
    .selectFrom('site_rewrite')
    .selectAll()
    .where('site_id', '=', siteId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ? shown(row) : null
}

/** Begins a rewrite. Refuses with conflict while another one runs. */
export async function beginRewrite(tx: Tx, deps: PrimaryDeps, siteId: string): Promise<Rewrite> {
  await lockSite(tx, siteId)
  const { from, to } = await changeOf(tx, deps.addressing, siteId)
  try {
    const row = await tx
      .insertInto('site_rewrite')
      .values({ site_id: siteId, from_hosts: [...from], to_url: to, created_at: deps.clock.now() })
      .returningAll()
      .executeTakeFirstOrThrow()
    await deps.jobs.add(tx, rewriteJob, { rewriteId: String(row.id) })
    return shown(row)
  } catch (error) {
    if (databaseError(error)?.constraint === 'site_rewrite_running') throw new Refusal('conflict')
    throw error
  }
}

/** Defines the job. A step that ran twice finds nothing left the second time. */
export function defineRewriting({ db, clock, jobs, driver }: PrimaryDeps): void {
  async function go(rewriteId: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const row = await db
        .selectFrom('site_rewrite as r')
        .innerJoin('site as s', 's.id', 'r.site_id')
        .selectAll('r')
        .select('s.status')
        .where('r.id', '=', BigInt(rewriteId))
        .where('r.state', '=', 'running')
        .executeTakeFirst()
      if (!row) return
      const isOver = ['deleting', 'failed'].includes(row.status)
      const change = { from: row.from_hosts, to: row.to_url, dryRun: false }
      const step: AddressStep =
        isOver || change.from.length === 0
          ? { after: null, tables: {}, samples: [], skipped: [] }
          : await driver.replaceAddresses(row.site_id, change, row.after as AddressStep['after'])
      await db
        .updateTable('site_rewrite')
        .set({
          after: step.after === null ? null : sql`${JSON.stringify(step.after)}::jsonb`,
          tables: sql`${JSON.stringify(
            added(row.tables as Record<string, number>, step.tables),
          )}::jsonb`,
          ...(step.after === null && { state: 'done', ended_at: clock.now() }),
        })
        .where('id', '=', row.id)
        .where('state', '=', 'running')
        .execute()
    }
  }
  jobs.define<{ rewriteId: string }>({
    name: rewriteJob,
    concurrency: 2,
    retries: 8,
    retryDelaySeconds: 5,
    limitSeconds: 3600,
    run: async ({ rewriteId }, { last, signal }) => {
      try {
        await go(rewriteId, signal)
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
