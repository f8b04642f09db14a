/**
 * What a backup of the whole portal (server/portal-backup) needs of the servers: the newest proven
 * archive of each, a new one where there is none, and the spec that each has once it is restored.
 */
import { sql } from 'kysely'
import { setTimeout as pause } from 'node:timers/promises'
import { hours, type Clock } from '../platform/clock.ts'
import { transaction, type Database, type Queryable } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Archives } from './archives.ts'
import { beginBackup, figuresOf, isNoTimeForBackup } from './backup-store.ts'
import type { CopyFigures, SiteSpec } from './driver.ts'
import { lostArchive } from './kept-backups.ts'
import { putNode } from './nodes.ts'
import { firstNode, lockSite, specOf, type SiteAddressing } from './store.ts'
import { underWayStates } from './update-store.ts'

/** An archive cannot be tested here; that does not mean that it is bad. */
export class NowhereToProve extends DriverFailure {
  constructor(why: string) {
    super('unavailable', why)
  }
}

export interface NewestArchive {
  readonly siteId: string
  readonly backupId: string
  readonly name: string
  readonly madeAt: Date
  readonly figures: CopyFigures
  /** The database that the archive was made of; null where it was not recorded. */
  readonly database: string | null
}

/**
 * The database that archive `b` was made of. Read through JSON, because a schema of an earlier
 * release may not have the column.
 */
const databaseThen = sql`to_jsonb(b)->>'database'`
/**
 * SQL over `s` and `b`: the server's present database, and whether the archive can be restored
 * where the server is now.
 */
async function databasesOf(db: Queryable) {
  // A schema of an earlier release may have no nodes yet.
  const { rows } = await sql<{ known: boolean }>`
    select to_regclass('node') is not null as known`.execute(db)
  const databaseNow = rows[0]?.known
    ? sql`(select to_jsonb(n)->>'database' from node n
        where n.id = coalesce(s.node_id, ${firstNode}::text))`
    : sql`null::text`
  return { databaseNow, isOfPresent: sql`coalesce(${databaseThen} = ${databaseNow}, true)` }
}

/**
 * The newest archive of every server that has one, deleted servers included as long as their
 * backups are kept. An archive that cannot be restored where the server is now is taken only where
 * there is no other: it can still be moved in.
 */
export async function newestArchives(db: Queryable): Promise<NewestArchive[]> {
  const { databaseNow, isOfPresent } = await databasesOf(db)
  const { rows } = await sql<{
    site_id: string
    id: string
    name: string
    created_at: Date
    figures: unknown
    database: string | null
  }>`
    select distinct on (b.site_id) b.site_id, b.id, s.name, b.created_at, b.figures,
      coalesce(${databaseThen}, case when s.deleted_at is null then ${databaseNow} end) as database
    from site_backup b join site s on s.id = b.site_id
    where b.state = 'proven'
    order by b.site_id, (s.deleted_at is not null or ${isOfPresent}) desc, b.seq desc`.execute(db)
  return rows.map((row) => ({
    siteId: row.site_id,
    backupId: row.id,
    name: row.name,
    madeAt: row.created_at,
    figures: figuresOf(row.figures),
    database: row.database,
  }))
}

export interface SiteToSave {
  readonly siteId: string
  readonly name: string
  /** Whether the server has a proven archive that can be restored where the server is now. */
  readonly proven: boolean
  /** Whether a backup, a restore, or an update, which makes a backup, is under way. */
  readonly busy: boolean
}

/** Servers that run, or will run again: their content must not be lost. */
export async function sitesToSave(db: Queryable): Promise<SiteToSave[]> {
  // A schema of an earlier release may have no updates yet.
  const updates = await sql<{ known: boolean }>`
    select to_regclass('site_update') is not null as known`.execute(db)
  const isUpdating = updates.rows[0]?.known
    ? sql`exists (select 1 from site_update u where u.site_id = s.id
        and u.state = any (${[...underWayStates]}::text[]))`
    : sql`false`
  const { isOfPresent } = await databasesOf(db)
  const { rows } = await sql<{ id: string; name: string; proven: boolean; busy: boolean }>`
    select s.id, s.name,
      exists (select 1 from site_backup b where b.site_id = s.id and b.state = 'proven'
        and ${isOfPresent}) as proven,
      exists (select 1 from site_backup b where b.site_id = s.id and b.state = 'making')
      or exists (select 1 from site_restore r where r.site_id = s.id and r.state = 'restoring')
      or ${isUpdating} as busy
    from site s where s.status in ('running', 'suspended') and s.deleted_at is null
    order by s.seq`.execute(db)
  return rows.map(({ id, name, proven, busy }) => ({ siteId: id, name, proven, busy }))
}

const lookMs = 500
/** How long a backup of the whole portal waits for archives that are missing. */
const missingMs = hours(1)

/**
 * Has the running portal make and prove an archive of every server without one. Waits until each
 * has one or has failed, for at most
 * `patienceMs`, an hour without it.
 */
export async function makeMissing(deps: {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Pick<Jobs, 'add'>
  readonly patienceMs?: number
  readonly signal?: AbortSignal | undefined
}): Promise<void> {
  const { db, signal } = deps
  for (const { siteId, proven } of await sitesToSave(db)) {
    if (proven) continue
    await transaction(db, async (tx) => {
      const site = await lockSite(tx, siteId)
      const there = site?.status === 'running' || site?.status === 'suspended'
      if (there && !(await isNoTimeForBackup(tx, siteId)))
        await beginBackup(deps, tx, siteId, 'nightly')
    })
  }
  const until = performance.now() + (deps.patienceMs ?? missingMs)
  const isWaitedFor = ({ proven, busy }: SiteToSave): boolean => !proven && busy
  while (performance.now() < until && (await sitesToSave(db)).some(isWaitedFor))
    await pause(lookMs, undefined, { signal })
}

/** After a restore: assigns every site to this node, because the other nodes' machines are gone. */
export async function bringAllTo(db: Queryable, node: string): Promise<void> {
  await putNode(db, { id: node, address: null, sitesAddress: null, regions: null })
  await db.updateTable('site').set({ node_id: node }).where('deleted_at', 'is', null).execute()
  await db.deleteFrom('site_placement').execute()
}

/**
 * The specs of servers on `node` that run or will run again, and how many such servers are on other
 * nodes.
 */
export async function specsToRestore(
  db: Queryable,
  addressing: SiteAddressing,
  node: string,
): Promise<{ here: SiteSpec[]; elsewhere: number }> {
  const sites = await db
    .selectFrom('site')
    .selectAll()
    .where('status', 'in', ['running', 'suspended'])
    .where('deleted_at', 'is', null)
    .orderBy('seq')
    .execute()
  const own = sites.filter((site) => (site.node_id ?? firstNode) === node)
  const here: SiteSpec[] = []
  for (const site of own) here.push(await specOf(db, addressing, site))
  return { here, elsewhere: sites.length - own.length }
}

/**
 * After a restore: backups whose archives are not there are offered to no customer, until they are
 * found (archive-watch.ts). Those that the store still has stay, whether or not the portal's
 * backup named them. Answers how many are not there.
 */
export async function hideLostArchives(db: Queryable, archives: Archives): Promise<number> {
  const present = (await archives.list()).map(({ backupId }) => backupId)
  const { rows } = await sql<{ id: string }>`
    update site_backup set state = 'removed', reason = ${lostArchive}
    where state = 'proven' and not id = any (${present}::uuid[]) returning id`.execute(db)
  return rows.length
}
