/** SQL of sites that are moved in, and how the API shows them. */
import { sql, type Selectable } from 'kysely'
import * as z from 'zod/mini'
import { ImportPage, type Import } from '../../contract/wordpress-import.ts'
import type { DB } from '../platform/db-types.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import type { ImportFound, ImportedSite, ImportProblem } from './driver.ts'

export type ImportRow = Selectable<DB['site_import']>

export const buildJob = 'build-import'
export const switchJob = 'switch-import'
export const cleanJob = 'clean-import'

const text = z.string().check(z.maxLength(2_000))
const note = z.object({ code: text, detail: text })
const Files = z.array(z.object({ name: z.string(), bytes: z.int() }))
const Found = z.object({
  maker: z.enum(['portal', 'updraftplus', 'duplicator', 'all-in-one', 'files']),
  prefix: text,
  version: z.nullable(text),
  files: z.int(),
  fileBytes: z.int(),
  tables: z.int(),
  rows: z.int(),
  stageBytes: z.int(),
  notes: z.array(note),
})
const Copied = z.object({
  home: text,
  admins: z.array(text),
  paths: z.array(text),
  notes: z.array(note),
})

/** Text from a foreign site in a form that PostgreSQL can hold: without NUL and lone surrogates. */
export const storable = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) =>
    typeof one === 'string' ? one.replaceAll('\0', '').toWellFormed() : one,
  )

export const filesOf = (row: Pick<ImportRow, 'files'>) => Files.parse(row.files)
export const foundOf = (row: Pick<ImportRow, 'found'>) =>
  row.found === null ? null : Found.parse(row.found)
export const copiedOf = (row: Pick<ImportRow, 'copied'>) =>
  row.copied === null ? null : Copied.parse(row.copied)

export const importById = async (db: Queryable, id: string): Promise<ImportRow | undefined> =>
  isUuid(id)
    ? await db.selectFrom('site_import').selectAll().where('id', '=', id).executeTakeFirst()
    : undefined

/** The import, locked until the transaction ends. */
export const lockImport = async (
  tx: Tx,
  siteId: string,
  id: string,
): Promise<ImportRow | undefined> =>
  isUuid(id)
    ? await tx
        .selectFrom('site_import')
        .selectAll()
        .where('id', '=', id)
        .where('site_id', '=', siteId)
        .forUpdate()
        .executeTakeFirst()
    : undefined

/**
 * The import that the owner is shown. After a discarded one that is the last switch, which can be
 * undone.
 */
export const newestImport = async (
  db: Queryable,
  siteId: string,
): Promise<ImportRow | undefined> => {
  const rows = await db
    .selectFrom('site_import')
    .selectAll()
    .where('site_id', '=', siteId)
    .orderBy('seq', 'desc')
    .limit(20)
    .execute()
  return rows.find(({ state }, index) => (index === 0 ? state !== 'discarded' : state === 'done'))
}

/** How many imports of this customer are being uploaded or built now. */
export async function openImports(db: Queryable, customerId: string): Promise<number> {
  const { n } = await db
    .selectFrom('site_import')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('customer_id', '=', customerId)
    .where('state', 'in', ['uploading', 'building'])
    .executeTakeFirstOrThrow()
  return Number(n)
}

export const piecesOf = (db: Queryable, importId: string) =>
  db
    .selectFrom('site_import_piece')
    .selectAll()
    .where('import_id', '=', importId)
    .orderBy('file')
    .orderBy('at')
    .execute()

export async function pieceCount(db: Queryable, importId: string): Promise<number> {
  const { n } = await db
    .selectFrom('site_import_piece')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('import_id', '=', importId)
    .executeTakeFirstOrThrow()
  return Number(n)
}

/**
 * Bytes that all customers' unfinished uploads will still bring; of one customer at most `most`,
 * because whoever announces uploads and sends nothing must not take the room of all others.
 */
export async function awaitedBytes(db: Queryable, most: number): Promise<number> {
  const { rows } = await sql<{ bytes: bigint }>`
    select coalesce(sum(least(bytes, ${Math.floor(most)}::bigint)), 0)::bigint as bytes from (
      select sum(i.total_bytes - (
        select coalesce(sum(p.bytes), 0) from site_import_piece p where p.import_id = i.id
      )) as bytes
      from site_import i join site s on s.id = i.site_id
      where i.state = 'uploading' group by s.customer_id) as of_customer`.execute(db)
  return Number(rows[0]?.bytes ?? 0n)
}

/** Bytes of each file that have arrived, by the file's index in the list. */
export async function receivedOf(db: Queryable, importId: string): Promise<Map<number, number>> {
  const { rows } = await sql<{ file: number; received: bigint }>`
    select file, sum(bytes)::bigint as received from site_import_piece
    where import_id = ${importId} group by file`.execute(db)
  return new Map(rows.map(({ file, received }) => [file, Number(received)]))
}

/**
 * Imports that have expired or ended, or whose server is deleted, and that are neither cleaned up
 * nor about to be by a job.
 */
export async function importsToEnd(db: Queryable, now: Date): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select i.id from site_import i join site s on s.id = i.site_id
    where i.cleaned_at is null and i.state <> 'switching'
      and (i.expires_at < ${now} or s.deleted_at is not null
        or i.state in ('done', 'undone', 'failed', 'discarded'))
      -- The node of a copy may be away for days, and its job waits for it.
      and not exists (select from pgboss.job j where j.name = ${cleanJob}
        and j.state in ('created', 'retry', 'active') and j.data ->> 'importId' = i.id::text)
    limit 500`.execute(db)
  return rows.map(({ id }) => id)
}

const problemOf = (row: ImportRow): ImportProblem | null =>
  row.problem === null ? null : (note.parse(row.problem) as ImportProblem)

export async function presentImport(
  db: Queryable,
  row: ImportRow,
  undoMs: number,
): Promise<Import> {
  const received = await receivedOf(db, row.id)
  const found: ImportFound | null = foundOf(row) as ImportFound | null
  const copied: ImportedSite | null = copiedOf(row) as ImportedSite | null
  const isWhole = row.state !== 'uploading'
  const canUndo = row.state === 'done' && row.switched_at !== null && row.backup_id !== null
  return {
    id: row.id,
    state: row.state as Import['state'],
    files: filesOf(row).map((file, index) => ({
      ...file,
      received: isWhole ? file.bytes : (received.get(index) ?? 0),
    })),
    origin: row.origin,
    phase: row.state === 'building' ? ((row.phase ?? 'unpack') as Import['phase']) : null,
    share: row.share,
    found: found && {
      maker: found.maker,
      version: found.version,
      files: found.files,
      fileBytes: found.fileBytes,
      tables: found.tables,
      rows: found.rows,
    },
    home: copied?.home ?? null,
    admins: [...(copied?.admins ?? [])],
    notes: [...(found?.notes ?? []), ...(copied?.notes ?? [])],
    problem: problemOf(row),
    pages: row.pages === null ? null : z.array(ImportPage).parse(row.pages),
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    switchedAt: row.switched_at?.toISOString() ?? null,
    undoUntil: canUndo ? new Date(row.switched_at!.getTime() + undoMs).toISOString() : null,
  }
}
