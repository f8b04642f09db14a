/**
 * Releases of different age on one database: which may start, and how interrupted migrations end.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { sql, type Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { ConfigFault } from './config-fault.ts'
import { connect, migrate } from './db.ts'
import { lockKeys } from './lock-keys.ts'
import { migrationOf, readHeader, thisRelease, type Release } from './migrations.ts'

let database: TestDatabase
let admin: pg.Client
let present: Release
beforeAll(async () => {
  present = await thisRelease()
})
beforeEach(async () => {
  database = await testDatabase()
  admin = await client()
})
afterEach(async () => {
  for (const each of clients.splice(0)) await each.end()
  await database.drop()
})
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

const clients: pg.Client[] = []
async function client(): Promise<pg.Client> {
  const made = new pg.Client({ connectionString: database.url })
  await made.connect()
  clients.push(made)
  return made
}

/** This release and what a later one adds: texts by name. */
const later = (number: number, added: Readonly<Record<string, string>>): Release => ({
  number,
  migrations: [
    ...present.migrations,
    ...Object.entries(added).map(([name, text]) => migrationOf(name, text)),
  ],
})
const thing = 'create table thing (id int primary key, name text);'
const emptied = (): Promise<unknown> =>
  admin.query('drop schema public cascade; create schema public')
const names = async (query: string): Promise<unknown[]> =>
  (await admin.query<{ name: string }>(query)).rows.map(({ name }) => name)
const indexes = (): Promise<unknown[]> =>
  names(`select relname || case when indisvalid then '' else ' (half made)' end as name
    from pg_index join pg_class on oid = indexrelid where relname like 'thing\\_%'
    and not indisprimary order by 1`)
/** Waits until a migration's connection matches the condition on pg_stat_activity. */
const seen = (condition: string): Promise<void> =>
  expect
    .poll(() =>
      names(`select application_name as name from pg_stat_activity
        where datname = current_database() and application_name = 'portal-migrations'
        and ${condition}`),
    )
    .toHaveLength(1)

/** Starts as release 1 did: with Kysely's own migrator and the migrations of its time. */
async function startRelease1(): Promise<unknown> {
  const { db, close } = connect(database.url, 1, () => undefined)
  const early = present.migrations.filter(({ name }) => name < '0048')
  const provider = {
    getMigrations: () =>
      Promise.resolve(
        Object.fromEntries(
          early.map(({ name, text }) => [
            name,
            { up: async (tx: Kysely<unknown>) => void (await sql.raw(text).execute(tx)) },
          ]),
        ),
      ),
  }
  const { error } = await new Migrator({ db, provider }).migrateToLatest()
  await close()
  return error
}

test('release 1 starts on the schema of this one, as its migrator left the database', async () => {
  expect(await startRelease1()).toBeUndefined()
  const before = await names('select name || timestamp as name from kysely_migration order by 1')
  expect(before.length).toBeGreaterThan(40)
  await migrate(database.url)
  expect(await names('select name || timestamp as name from kysely_migration order by 1')).toEqual(
    before,
  )
  expect(await startRelease1()).toBeUndefined()
})

test('release 1 starts on a database that this one has made, until more is demanded', async () => {
  await emptied()
  await migrate(database.url)
  expect(await startRelease1()).toBeUndefined()
  await migrate(database.url, later(2, { '9001_less': `-- oldest-release: 2\n${thing}` }))
  expect(await startRelease1()).toMatchObject({
    message: expect.stringContaining('9001_less is missing') as string,
  })
})

test('an older release starts on a newer schema that does not demand a newer one', async () => {
  await migrate(database.url, later(4, { '9001_more': `-- oldest-release: 2\n${thing}` }))
  expect(await migrate(database.url, present)).toEqual([])
})

test('an older release refuses a schema that demands a newer one, in one sentence', async () => {
  await migrate(
    database.url,
    later(4, {
      '9001_less': `-- oldest-release: 3\n${thing}`,
      '9002_more': 'create table more ();',
    }),
  )
  const refusal = migrate(database.url, { ...present, number: 2 })
  await expect(refusal).rejects.toThrow(ConfigFault)
  await expect(refusal).rejects.toThrow(
    'This is release 2, and the database has been changed for release 3 or newer ' +
      '(by 9001_less): start that one, or restore a backup from before.',
  )
  // The older one changes nothing either, though it has something to apply.
  const other = later(2, { '9003_own': 'create table own ();' })
  await expect(migrate(database.url, other)).rejects.toThrow('release 3 or newer')
  expect(await migrate(database.url, { ...other, number: 3 })).toEqual(['9003_own'])
})

test('what is missing in the middle is applied in order', async () => {
  await migrate(database.url, later(2, { '9001_thing': thing, '9004_last': 'create table a ();' }))
  const whole = later(2, {
    '9001_thing': thing,
    '9002_column': 'alter table thing add column a int;',
    '9003_index': 'create index thing_a on thing (a);',
    '9004_last': 'create table a ();',
  })
  expect(await migrate(database.url, whole)).toEqual(['9002_column', '9003_index'])
  expect(await migrate(database.url, whole)).toEqual([])
})

const index =
  '-- no-transaction\ncreate index concurrently if not exists thing_name on thing (name);'

test('two processes migrate at once, and each file is applied by one of them', async () => {
  await emptied()
  const release = later(2, { '9001_thing': thing, '9002_index': index })
  const [one, other] = await Promise.all([
    migrate(database.url, release),
    migrate(database.url, release),
  ])
  expect([...one, ...other].toSorted()).toEqual(release.migrations.map(({ name }) => name))
  expect(await indexes()).toEqual(['thing_name'])
})

const children: ReturnType<typeof spawn>[] = []
/** A process of its own that migrates. */
function migrating(release: Release): ReturnType<typeof spawn> {
  const module = pathToFileURL(path.join(import.meta.dirname, 'db.ts')).href
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-']
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'ignore', 'ignore'] })
  // All migrations are longer than an argument may be.
  child.stdin.end(
    `const { migrate } = await import(${JSON.stringify(module)})
    await migrate(${JSON.stringify(database.url)}, ${JSON.stringify(release)})`,
  )
  children.push(child)
  return child
}

test('a process that is killed on the way leaves whole files; the next one goes on', async () => {
  const holder = await client()
  await holder.query('begin; lock table schema_migration in share mode')
  const child = migrating(later(2, { '9001_thing': thing }))
  // The table is made, and that is about to be written down.
  await seen(`wait_event_type = 'Lock' and query like 'insert into "schema_migration"%'`)
  child.kill('SIGKILL')
  await once(child, 'exit')
  await holder.query('rollback')
  await expect
    .poll(() =>
      names(`select query as name from pg_stat_activity
        where datname = current_database() and application_name = 'portal-migrations'`),
    )
    .toEqual([])
  expect(await names("select relname as name from pg_class where relname = 'thing'")).toEqual([])
  const release = later(2, { '9001_thing': thing, '9002_index': index })
  expect(await migrate(database.url, release)).toEqual(['9001_thing', '9002_index'])
})

test('an index that was interrupted half made is made anew', async () => {
  await migrate(database.url, later(2, { '9001_thing': thing }))
  const release = later(2, { '9001_thing': thing, '9002_index': index })
  const writer = await client()
  await writer.query("begin; insert into thing values (1, 'a')")
  const interrupted = migrate(database.url, release).catch((error: unknown) => error)
  // It waits for the writer, after it has created the index's catalogue entry.
  await seen("wait_event_type = 'Lock' and query like '%concurrently%'")
  await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'portal-migrations'`)
  expect(await interrupted).toBeInstanceOf(Error)
  await writer.query('commit')
  expect(await indexes()).toEqual(['thing_name (half made)'])
  expect(await migrate(database.url, release)).toEqual(['9002_index'])
  expect(await indexes()).toEqual(['thing_name'])
  // As if the process had been killed after making the index and before recording it.
  await admin.query("delete from schema_migration where name = '9002_index'")
  expect(await migrate(database.url, release)).toEqual(['9002_index'])
  expect(await indexes()).toEqual(['thing_name'])
})

test('others that wait to migrate do not make an index fail', async () => {
  await migrate(database.url, later(2, { '9001_thing': thing }))
  const writer = await client()
  await writer.query("begin; insert into thing values (1, 'a')")
  const release = later(2, { '9001_thing': thing, '9002_index': index })
  const applied = migrate(database.url, release)
  await seen("wait_event_type = 'Lock' and query like '%concurrently%'")
  const other = migrate(database.url, release)
  // It has queried the lock and runs no statement.
  await seen("state = 'idle' and query like '%pg_try_advisory_lock%'")
  expect(await startRelease1()).toBeUndefined()
  await writer.query('commit')
  expect(await applied).toEqual(['9002_index'])
  expect(await other).toEqual([])
  expect(await indexes()).toEqual(['thing_name'])
})

test('release 1 and this one make a database together', async () => {
  await emptied()
  await admin.query('select pg_advisory_lock($1)', [lockKeys.migrateByKysely])
  const both = Promise.allSettled([migrate(database.url), startRelease1()])
  await seen("wait_event = 'advisory'")
  await admin.query('select pg_advisory_unlock($1)', [lockKeys.migrateByKysely])
  expect(await both).toEqual([
    {
      status: 'fulfilled',
      value: expect.arrayContaining(['0048_oldest_release']) as string[],
    },
    { status: 'fulfilled', value: undefined },
  ])
  expect(await names('select name from kysely_migration order by name')).toEqual(
    present.migrations.map(({ name }) => name).filter((name) => name < '0048'),
  )
})

test('who reads a table that a migration waits for is let past', async () => {
  await migrate(database.url, later(2, { '9001_thing': thing }))
  const reader = await client()
  await reader.query('begin; select from thing')
  const applied = migrate(
    database.url,
    later(2, { '9001_thing': thing, '9002_column': 'alter table thing add column a int;' }),
  )
  await seen("wait_event_type = 'Lock'")
  await admin.query("set statement_timeout = '10s'")
  await admin.query('select from thing')
  await reader.query('commit')
  expect(await applied).toEqual(['9002_column'])
})

test('a header says what it means or is refused', () => {
  expect(readHeader('create table a ();')).toEqual({
    oldestRelease: 1,
    contract: undefined,
    inTransaction: true,
  })
  expect(
    readHeader('-- What it is.\n-- oldest-release: 12\n-- contract: gone\n-- no-transaction\nx;'),
  ).toEqual({ oldestRelease: 12, contract: 'gone', inTransaction: false })
  expect(readHeader('create table a ();\n-- oldest-release: 3')).toMatchObject({
    oldestRelease: 1,
  })
  expect(readHeader('-- no-transaction round it\n-- contract of a gateway')).toMatchObject({
    contract: undefined,
    inTransaction: true,
  })
  for (const wrong of ['two', '', '0', '2.1'])
    expect(() => readHeader(`-- oldest-release: ${wrong}`), wrong).toThrow('number of a release')
  expect(() => readHeader('-- contract:')).toThrow('needs the reason')
})
