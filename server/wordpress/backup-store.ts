/** SQL of backups, and backups as the API shows them. */
import { randomUUID } from 'node:crypto'
import { sql, type Selectable } from 'kysely'
import * as z from 'zod/mini'
import type { Backup } from '../../contract/wordpress-backups.ts'
import { newestFirst, type KeysetPage, type PageRequest } from '../platform/cursor.ts'
import type { DB } from '../platform/db-types.ts'
import { hours, type Clock } from '../platform/clock.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { CopyFigures } from './driver.ts'
import { firstNode } from './store.ts'
import { hasUpdateUnderWay } from './update-store.ts'

export type BackupRow = Selectable<DB['site_backup']>

export const makeJob = 'backup-site'
export const restoreJob = 'restore-site'

/** Longest time of one step: a site of many gigabytes, behind the backups of others. */
export const stepMs = hours(2)

/** Begins a backup and answers its id; a job makes it. The caller has locked the site's row. */
export async function beginBackup(
  { jobs, clock }: { readonly jobs: Pick<Jobs, 'add'>; readonly clock: Clock },
  tx: Tx,
  siteId: string,
  kind: Backup['kind'],
): Promise<string> {
  const id = randomUUID()
  const forUpdate = kind === 'update'
  await tx
    .insertInto('site_backup')
    .values({
      id,
      site_id: siteId,
      // Releases without updates know two kinds only: such a backup is stored as `manual`.
      kind: forUpdate ? 'manual' : kind,
      for_update: forUpdate,
      state: 'making',
      created_at: clock.now(),
    })
    .execute()
  // An update keeps its place from others until it is done.
  await jobs.add(tx, makeJob, { backupId: id }, { priority: forUpdate ? 1 : 0 })
  return id
}

/** The database that the server's node reports; null while that is unknown. */
export const databaseOf = (siteId: string) => sql<string | null>`(select n.database from site s
  join node n on n.id = coalesce(s.node_id, ${firstNode}::text) where s.id = ${siteId})`

/** The database that a node reports for its servers; null while that is unknown. */
export async function databaseAt(db: Queryable, node: string): Promise<string | null> {
  const found = await db
    .selectFrom('node')
    .select('database')
    .where('id', '=', node)
    .executeTakeFirst()
  return found?.database ?? null
}

const databaseNames: Readonly<Record<string, string>> = { sqlite: 'SQLite', mariadb: 'MariaDB' }

/** Refuses with conflict a backup from before the server moved to a node with another database. */
export async function refuseOtherDatabase(tx: Tx, backup: BackupRow): Promise<void> {
  const { rows } = await sql<{ now: string | null }>`
    select ${databaseOf(backup.site_id)} as now`.execute(tx)
  const now = rows[0]?.now ?? null
  const { database: then } = backup
  if (now === null || then === null || now === then) return
  const [old, present] = [then, now].map((one) => databaseNames[one] ?? one)
  throw new Refusal('conflict', {
    said: {
      en:
        `This backup was made on ${old}, and your server runs on ${present} now, so it cannot be ` +
        'restored. Download it and bring it in with “Move in”.',
      vi:
        `Bản sao lưu này được tạo trên ${old}, còn máy chủ nay dùng ${present} nên không khôi ` +
        'phục được. Hãy tải bản sao lưu về rồi dùng mục “Chuyển về”.',
    },
  })
}

const Figures = z.object({
  files: z.int(),
  fileBytes: z.int(),
  filesSha256: z.string(),
  databaseBytes: z.int(),
  tables: z.array(z.object({ name: z.string(), rows: z.int(), sha256: z.string() })),
})
export const figuresOf = (stored: unknown): CopyFigures => Figures.parse(stored)

export const backupById = async (db: Queryable, id: string): Promise<BackupRow | undefined> =>
  isUuid(id)
    ? await db.selectFrom('site_backup').selectAll().where('id', '=', id).executeTakeFirst()
    : undefined

export const backupToRestore = (db: Queryable, restoreId: string) =>
  db
    .selectFrom('site_restore as r')
    .innerJoin('site_backup as b', 'b.id', 'r.backup_id')
    .select(['r.state', 'r.attempts', 'r.site_id', 'r.backup_id', 'b.figures'])
    .where('r.id', '=', restoreId)
    .executeTakeFirst()

/** Restores, imports and moves that replace a server's content, or put it on another node. */
const otherContent = (siteId: string) => sql`
  select 1 from site_restore where site_id = ${siteId} and state = 'restoring'
  union all
  select 1 from site_import where site_id = ${siteId} and state = 'switching'
  union all
  select 1 from site_move where site_id = ${siteId}
    and state in ('copying', 'switching', 'undoing')`
export const hasOtherContent = async (db: Queryable, siteId: string): Promise<boolean> =>
  (await sql`${otherContent(siteId)} limit 1`.execute(db)).rows.length > 0

/**
 * Whether a backup of the site is being made or restored, a copy takes its place, or it is moved to
 * another node.
 */
export async function hasUnfinishedCopy(db: Queryable, siteId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from site_backup where site_id = ${siteId} and state = 'making'
    union all ${otherContent(siteId)} limit 1`.execute(db)
  return rows.length > 0
}

/**
 * Whether the site's stored addresses are being rewritten. Its progress is kept here and not in the
 * site: after a restore or a move it would go on behind rows that have the former addresses again.
 */
export async function hasRewriteUnderWay(db: Queryable, siteId: string): Promise<boolean> {
  const { rows } = await sql`select 1 from site_rewrite
    where site_id = ${siteId} and state = 'running'`.execute(db)
  return rows.length > 0
}

/** Refusal while content of the site is copied, exchanged or written anew. Its row is locked. */
export async function refuseUnfinished(tx: Tx, siteId: string): Promise<void> {
  if (await hasUnfinishedCopy(tx, siteId)) throw new Refusal('backup_in_progress')
  if (await hasRewriteUnderWay(tx, siteId)) throw new Refusal('rewrite_in_progress')
}

/**
 * Whether the portal must not begin a backup by itself: content is copied or rewritten, or an
 * update is under way. Such a backup would keep half-done work as the newest content, and block the
 * restore that undoes it.
 */
export const isNoTimeForBackup = async (db: Queryable, siteId: string): Promise<boolean> =>
  (await hasUnfinishedCopy(db, siteId)) ||
  (await hasRewriteUnderWay(db, siteId)) ||
  (await hasUpdateUnderWay(db, siteId))

/** How many backups of all servers are being made or wait for it. */
export async function unfinishedBackups(db: Queryable): Promise<number> {
  const { n } = await db
    .selectFrom('site_backup')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('state', '=', 'making')
    .executeTakeFirstOrThrow()
  return Number(n)
}

const shown = (db: Queryable, siteId: string) =>
  db
    .selectFrom('site_backup as b')
    .selectAll('b')
    .select([
      sql<boolean>`exists (select 1 from site_restore r where r.backup_id = b.id
        and r.state = 'restoring')`.as('restoring'),
      sql<Date | null>`(select max(ended_at) from site_restore r where r.backup_id = b.id
        and r.state = 'restored')`.as('restored_at'),
      sql<Date | null>`(select max(ended_at) from site_restore r where r.backup_id = b.id
        and r.state = 'failed')`.as('restore_failed_at'),
    ])
    .where('b.site_id', '=', siteId)
    .where('b.state', '<>', 'removed')

type Shown = Awaited<ReturnType<ReturnType<typeof shown>['executeTakeFirstOrThrow']>>

export function presentBackup(row: Shown): Backup {
  const figures = row.state === 'proven' ? figuresOf(row.figures) : null
  return {
    id: row.id,
    kind: row.for_update ? 'update' : (row.kind as Backup['kind']),
    state: row.state as Backup['state'],
    createdAt: row.created_at.toISOString(),
    provenAt: row.proven_at?.toISOString() ?? null,
    size: row.archive_bytes === null ? null : Number(row.archive_bytes),
    files: figures?.files ?? null,
    rows: figures?.tables.reduce((sum, { rows }) => sum + rows, 0) ?? null,
    restoring: row.restoring,
    restoredAt: row.restored_at?.toISOString() ?? null,
    restoreFailedAt: row.restore_failed_at?.toISOString() ?? null,
  }
}

/** One page of a server's backups, newest first. */
export const backupPage = (
  db: Queryable,
  of: PageRequest & { siteId: string },
): Promise<KeysetPage<Shown>> => newestFirst(shown(db, of.siteId), 'b.seq', of)

export const shownBackup = (db: Queryable, siteId: string, backupId: string): Promise<Shown> =>
  shown(db, siteId).where('b.id', '=', backupId).executeTakeFirstOrThrow()
