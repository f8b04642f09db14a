/**
 * Loads a dumped database into an empty one: migrates to exactly the dump's migrations, and fills
 * the tables in one transaction. The tables' owner may do it, no superuser is needed: foreign keys
 * and triggers are removed meanwhile, and the keys are validated when they are restored.
 */
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type pg from 'pg'
import { PgBoss } from 'pg-boss'
import { from as copyFrom } from 'pg-copy-streams'
import { connectionConfig } from '../platform/database-client.ts'
import { migrate } from '../platform/db.ts'
import { thisRelease, type Release } from '../platform/migrations.ts'
import { inOneTransaction, listed, qualified, quoted, schemaOf } from './dump.ts'
import type { Manifest } from './manifest.ts'
import { BackupFault } from './fault.ts'

/** Throws BackupFault if the database contains anything. */
export async function refuseUnlessEmpty(url: string): Promise<void> {
  const { rows } = await inOneTransaction(url, 'read only', (client) =>
    client.query<{ name: string }>(`
      select format('%I.%I', n.nspname, c.relname) as name
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema'
      order by 1 limit 1`),
  )
  if (rows[0])
    throw new BackupFault(
      `The database is not empty (${rows[0].name} is there): a backup is restored into an ` +
        'empty one only.',
    )
}

/**
 * This release with the migrations of then alone.
 * @throws BackupFault where it lacks one of them
 */
export async function releaseOf(manifest: Manifest): Promise<Release> {
  const { number, migrations } = await thisRelease()
  const then = migrations.filter(({ name }) => manifest.migrations.includes(name))
  const unknown = manifest.migrations.find((name) => !then.some((each) => each.name === name))
  if (unknown !== undefined)
    throw new BackupFault(
      `The backup has the migration ${unknown}, which this release does not have: restore with ` +
        'the release that made it, or a newer one.',
    )
  if (then.length === 0) throw new BackupFault('The backup is of a database without migrations.')
  return { number, migrations: then }
}

/** The job queue's tables, as this release's library makes them. */
async function makeQueue(url: string): Promise<void> {
  const boss = new PgBoss({
    ...connectionConfig(url, { application_name: 'portal-backup' }),
    max: 1,
    schedule: false,
    supervise: false,
  })
  boss.on('error', () => undefined)
  await boss.start()
  await boss.stop({ graceful: false, close: true })
}

interface Put {
  /** The qualified name: `public.site`. */
  readonly relation: string
  readonly name: string
  readonly definition: string
}

const keysOfTables = `
  select format('%I.%I', n.nspname, c.relname) as relation, k.conname as name,
    pg_get_constraintdef(k.oid) as definition
  from pg_constraint k join pg_class c on c.oid = k.conrelid
  join pg_namespace n on n.oid = c.relnamespace
  where k.contype = 'f' and k.conparentid = 0 and n.nspname in ('public', 'pgboss')
  order by 1, 2`
const triggersOfTables = `
  select format('%I.%I', n.nspname, c.relname) as relation, t.tgname as name, '' as definition
  from pg_trigger t join pg_class c on c.oid = t.tgrelid
  join pg_namespace n on n.oid = c.relnamespace
  where not t.tgisinternal and t.tgparentid = 0 and n.nspname in ('public', 'pgboss')
  order by 1, 2`

/** Tables of the backup that neither migrations nor the queue create: they are somebody else's. */
async function strangersIn(client: pg.Client, manifest: Manifest): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(
    `select name from unnest($1::text[]) as name where to_regclass(name) is null`,
    [manifest.tables.map(qualified)],
  )
  return new Set(rows.map(({ name }) => name))
}

/** A stream that was ended because the other one failed. */
const isAftermath = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE'

async function fill(
  table: Manifest['tables'][number],
  client: pg.Client,
  read: (file: string, into: Writable) => Promise<void>,
): Promise<void> {
  const copy = client.query(copyFrom(`copy ${qualified(table)} (${listed(table)}) from stdin`))
  const unzip = createGunzip()
  const ends = await Promise.allSettled([read(table.file, unzip), pipeline(unzip, copy)])
  const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []))
  if (reasons.length > 0) throw reasons.find((reason) => !isAftermath(reason)) ?? reasons[0]
  if (copy.rowCount !== table.rows)
    throw new BackupFault(
      `${table.schema}.${table.name} has ${copy.rowCount} rows; ${table.rows} were written.`,
    )
}

/**
 * Fills the empty database at `url`. `read` writes a file of the backup into a stream. Answers the
 * tables that were left out, which are not the portal's.
 * @throws BackupFault where the backup is not what its manifest says, or of a later release
 */
export async function loadDatabase(
  url: string,
  manifest: Manifest,
  read: (file: string, into: Writable) => Promise<void>,
): Promise<string[]> {
  await refuseUnlessEmpty(url)
  await migrate(url, await releaseOf(manifest))
  if (manifest.queueVersion !== null) await makeQueue(url)
  return await inOneTransaction(url, '', async (client) => {
    const { queueVersion } = await schemaOf(client)
    if ((queueVersion ?? 0) < (manifest.queueVersion ?? 0))
      throw new BackupFault(
        `The backup’s job queue is of a later release (schema ${manifest.queueVersion}, this ` +
          `one has ${queueVersion}): restore with release ${manifest.release}.`,
      )
    const strangers = await strangersIn(client, manifest)
    const tables = manifest.tables.filter((table) => !strangers.has(qualified(table)))
    const { rows: keys } = await client.query<Put>(keysOfTables)
    const { rows: triggers } = await client.query<Put>(triggersOfTables)
    for (const { relation, name } of triggers)
      await client.query(`alter table ${relation} disable trigger ${quoted(name)}`)
    for (const { relation, name } of keys)
      await client.query(`alter table ${relation} drop constraint ${quoted(name)}`)
    // Migrations write rows too.
    await client.query(`truncate ${tables.map(qualified).join(', ')}`)
    for (const table of tables) await fill(table, client, read)
    for (const { relation, name, definition } of keys)
      await client.query(`alter table ${relation} add constraint ${quoted(name)} ${definition}`)
    for (const { relation, name } of triggers)
      await client.query(`alter table ${relation} enable trigger ${quoted(name)}`)
    for (const { schema, name, last } of manifest.sequences)
      if (last !== null)
        await client.query(
          `select setval(to_regclass($1), $2::bigint) where to_regclass($1) is not null`,
          [`${quoted(schema)}.${quoted(name)}`, last],
        )
    return [...strangers]
  })
}
