/**
 * The list of retention times is true: it contains every table; the jobs delete what it says and
 * nothing else by age; an index finds what is old; and rows that are deleted with others can be.
 */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { transaction } from '../server/platform/db.ts'
import { agesOf, retention, type AgedTable } from '../server/platform/retention.ts'
import { eventually, openTestPortal, type TestPortal } from './portal.ts'
import { owners } from './tables.ts'

const root = path.resolve(import.meta.dirname, '../server')
const sources = globSync('**/*.ts', { cwd: root })
  .filter((file) => !file.endsWith('.test.ts'))
  .map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }))
const tables = Object.keys(retention) as (keyof typeof retention)[]
const aged = tables.filter((table): table is AgedTable => retention[table].ages.length > 0)

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal()
})
afterAll(() => portal.close())

test('every table is in it, and says why', async () => {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public'
      and table_name not like 'kysely%'`.execute(portal.app.db)
  expect(tables.toSorted()).toEqual(rows.map(({ name }) => name).toSorted())
  for (const table of tables) expect(retention[table].text, table).toMatch(/\w.*\.\s*$/)
  expect(aged.length).toBeGreaterThan(25)
})

test('whoever deletes by age asks the list, and owns the table', () => {
  const calls = sources.flatMap(({ file, text }) =>
    [...text.matchAll(/\bdropOld\([^']*'(\w+)'\)/g)].map(
      ([, table = '']) => [table, file] as const,
    ),
  )
  expect(calls.map(([table]) => table).toSorted()).toEqual(aged.toSorted())
  for (const [table, file] of calls)
    expect(owners[file.split('/')[0] ?? ''], `${file} drops ${table}`).toContain(table)
  // No other code deletes in batches; limits have a pool of their own.
  const others = sources.filter(({ text }) => /delete\s+from[^;`]*\bctid\b/i.test(text))
  expect(others.map(({ file }) => file).toSorted()).toEqual([
    'platform/batches.ts',
    'platform/limits.ts',
  ])
})

test('the jobs delete from each of them', async () => {
  const { db, jobs } = portal.app
  await sql`create table deleted_from (name text primary key)`.execute(db)
  await sql`
    create function note_deletion() returns trigger language plpgsql as $$ begin
      insert into deleted_from values (tg_table_name) on conflict do nothing; return null;
    end $$`.execute(db)
  // The trigger also fires for a statement that finds no row.
  for (const table of aged)
    await sql`create trigger noted after delete on ${sql.table(table)}
      for each statement execute function note_deletion()`.execute(db)
  await transaction(db, async (tx) => {
    await jobs.add(tx, 'tidy', {})
    await jobs.add(tx, 'sum-usage', {})
  })
  let missing: string[] = aged
  await eventually('all of them', async () => {
    const { rows } = await sql<{ name: string }>`select name from deleted_from`.execute(db)
    missing = aged.filter((table) => !rows.some(({ name }) => name === table))
    return missing.length === 0
  }).catch(() => expect(missing).toEqual([]))
})

test('an index leads to what is old', async () => {
  const { rows } = await sql<{ name: string; first: string; second: string | null }>`
    select indrelid::regclass::text as name, one.attname as first, two.attname as second
    from pg_index
    join pg_attribute one on one.attrelid = indrelid and one.attnum = indkey[0]
    left join pg_attribute two on two.attrelid = indrelid and two.attnum = indkey[1]`.execute(
    portal.app.db,
  )
  const leads = (table: string, column: string, before?: string): boolean =>
    rows.some(
      ({ name, first, second }) =>
        name === table && (first === column || (first === before && second === column)),
    )
  const without = aged.flatMap((table) =>
    agesOf(table)
      .filter(({ column, only }) => !leads(table, column, only?.column))
      .map(({ column }) => `${table}.${column}`),
  )
  expect(without).toEqual([])
})

test('what goes with something else can go', async () => {
  const { rows } = await sql<{ name: string; parent: string }>`
    select conrelid::regclass::text as name, confrelid::regclass::text as parent
    from pg_constraint
    where contype = 'f' and confdeltype = 'c'`.execute(portal.app.db)
  // The list of stored data deletes nothing.
  const code = sources
    .filter(({ file }) => file !== 'privacy/stored.ts')
    .map(({ text }) => text)
    .join('\n')
  const listed = [...code.matchAll(/^\s*'(\w+)',$/gm)].map(([, name = '']) => name)
  const going = tables.filter(
    (table) => retention[table].ages.length === 0 && retention[table].end === 'event',
  )
  // Customer rows stay, but without personal data.
  const doesGo = (parent: string): boolean =>
    parent !== 'customer' && retention[parent as AgedTable].end !== ('never' as string)
  const stuck = going.filter(
    (table) =>
      !rows.some(({ name, parent }) => name === table && doesGo(parent)) &&
      !new RegExp(`deleteFrom\\('${table}'|delete from ${table}\\b`).test(code) &&
      // A loop over a list of table names.
      !listed.includes(table),
  )
  expect(stuck).toEqual([])
})
