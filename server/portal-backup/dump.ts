/**
 * Dumps the database at one moment, by COPY of every table in one transaction with one snapshot
 * (decision 54). Rows stream from the server to the store; none is kept in memory.
 */
import { createGzip } from 'node:zlib'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { newClient } from '../platform/database-client.ts'
import type { DB } from '../platform/db-types.ts'
import type { Queryable } from '../platform/db.ts'
import { planMigrations, thisRelease } from '../platform/migrations.ts'
import type { Manifest } from './manifest.ts'

type Table = Manifest['tables'][number]
type Sequence = Manifest['sequences'][number]

/** Text of a database is mostly words; higher levels cost twice the time for some per cent. */
const gzipLevel = 4

/**
 * Tables to dump. Of the job queue: jobs, schedules and queue settings; its statistics and warnings
 * are made anew. The record of migrations is written by migrating. host_change is left out because
 * it contains transaction ids, which mean nothing on another server.
 */
const tablesOf = `
  select n.nspname as schema, c.relname as name,
    array_agg(a.attname::text order by a.attnum) as columns
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    and a.attgenerated = ''
  where c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence = 'p' and (
    n.nspname = 'public' and c.relname not in
      ('kysely_migration', 'kysely_migration_lock', 'schema_migration', 'host_change')
    or n.nspname = 'pgboss'
      and c.relname in ('queue', 'schedule', 'subscription', 'job', 'job_dependency'))
  group by 1, 2 order by 1, 2`

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
export const qualified = ({ schema, name }: Pick<Table, 'schema' | 'name'>): string =>
  `${quoted(schema)}.${quoted(name)}`
export const listed = ({ columns }: Pick<Table, 'columns'>): string =>
  columns.map(quoted).join(', ')

/** The builder of queries on this one connection, in whatever transaction it is. */
export const queriesOn = (client: pg.Client): Queryable =>
  new Kysely<DB>({
    dialect: new PostgresDialect({
      pool: {
        connect: async () => Object.assign(client, { release: () => undefined }) as never,
        end: async () => undefined,
        options: {},
      },
    }),
  })

/**
 * A connection of its own without the limits of calls: a large table takes its time. Its
 * transaction is undone where `work` fails.
 */
export async function inOneTransaction<T>(
  url: string,
  mode: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = newClient(url, { application_name: 'portal-backup' })
  // An error while it is idle also fails the next query, which reports it.
  client.on('error', () => undefined)
  await client.connect()
  try {
    // Text must be written and read independently of the server's and the role's settings.
    await client.query(`set statement_timeout = 0; set lock_timeout = 0;
      set idle_in_transaction_session_timeout = 0; set client_encoding = 'UTF8';
      set timezone = 'UTC'; set datestyle = 'ISO'; set intervalstyle = 'postgres';
      set extra_float_digits = 3; set bytea_output = 'hex'`)
    await client.query(`begin ${mode}`)
    const result = await work(client)
    await client.query('commit')
    return result
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Every table, written by `save` to a file each. */
export async function dumpTables(
  client: pg.Client,
  save: (name: string, write: (into: Writable) => Promise<void>) => Promise<void>,
): Promise<Table[]> {
  const { rows: tables } = await client.query<Pick<Table, 'schema' | 'name' | 'columns'>>(tablesOf)
  const dumped: Table[] = []
  for (const table of tables) {
    const file = `database/${table.schema}.${table.name}.copy.gz`
    let rows = 0
    await save(file, async (into) => {
      const copy = client.query(
        copyTo(`copy (select ${listed(table)} from ${qualified(table)}) to stdout`),
      )
      await pipeline(copy, createGzip({ level: gzipLevel }), into)
      rows = copy.rowCount
    })
    dumped.push({ ...table, rows, file })
  }
  return dumped
}

/**
 * Sequences are not part of a snapshot. They are read after the tables, so none is behind its rows.
 */
export async function dumpSequences(client: pg.Client): Promise<Sequence[]> {
  const { rows } = await client.query<Sequence>(`
    select schemaname as schema, sequencename as name, last_value::text as last
    from pg_sequences where schemaname in ('public', 'pgboss') order by 1, 2`)
  return rows
}

/** Names of the applied migrations, and the version of the job queue's schema. */
export async function schemaOf(
  client: pg.Client,
): Promise<Pick<Manifest, 'migrations' | 'queueVersion'>> {
  const release = await thisRelease()
  const { missing, unknown } = await planMigrations(queriesOn(client), release)
  const applied = release.migrations.filter((each) => !missing.includes(each))
  const { rows: found } = await client.query<{ there: boolean }>(
    `select to_regclass('pgboss.version') is not null as there`,
  )
  let queueVersion: number | null = null
  if (found[0]?.there === true) {
    const { rows } = await client.query<{ version: number }>('select version from pgboss.version')
    queueVersion = rows[0]?.version ?? null
  }
  return { migrations: [...applied.map(({ name }) => name), ...unknown].toSorted(), queueVersion }
}
