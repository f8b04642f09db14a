/**
 * Only its owner writes a table, and tables.ts names every other module that reads it. The guard
 * reads the texts of queries: those of the query builder with a literal name, and those of
 * sql`...`.
 */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { exceptions, owners } from './tables.ts'

const root = path.resolve(import.meta.dirname, '..')
const listed = Object.values(owners).flat()

const writing = [
  /\b(?:insertInto|updateTable|deleteFrom)\(\s*'(\w+)/g,
  /\b(?:insert\s+into|update|delete\s+from)\s+"?(\w+)/gi,
]
const reading = [/\b(?:selectFrom|\w*[jJ]oin)\(\s*\[?\s*'(\w+)/g, /\b(?:from|join)\s+"?(\w+)/gi]

const namesIn = (text: string, patterns: readonly RegExp[]): string[] =>
  patterns
    .flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name))
    .filter((name) => listed.includes(name))

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*(?:\/\/|--).*$/gm, '')

/** Accesses of modules to tables of others; `file` is relative to server/. */
function foreign(files: readonly { readonly file: string; readonly text: string }[]): string[] {
  const found = files.flatMap(({ file, text }) => {
    const [module = ''] = file.split('/')
    const queries = withoutComments(text)
    const isOthers = (table: string): boolean => !owners[module]?.includes(table)
    // A deletion also contains `from`, but it is a write.
    const readable = queries.replaceAll(/delete\s+from/gi, '')
    return [
      ...namesIn(queries, writing)
        .filter(isOthers)
        .map((table) => `${module} writes ${table}`),
      ...namesIn(readable, reading)
        .filter(isOthers)
        .map((table) => `${module} reads ${table}`),
    ]
  })
  return [...new Set(found)].toSorted()
}

const sources = globSync('**/*.ts', { cwd: path.join(root, 'server') })
  .filter((file) => !file.endsWith('.test.ts') && file !== 'platform/db-types.ts')
  .map((file) => ({ file, text: readFileSync(path.join(root, 'server', file), 'utf8') }))

test('each table has one owner', () => {
  const types = readFileSync(path.join(root, 'server/platform/db-types.ts'), 'utf8')
  const [, schema = ''] = types.split('interface DB {')
  const tables = [...schema.matchAll(/^ {2}(\w+): /gm)].map(([, name = '']) => name)
  expect(tables.length).toBeGreaterThan(40)
  expect(listed.toSorted()).toEqual(tables.toSorted())
})

test('only its owner touches a table, but for what is named', () => {
  expect(sources.length).toBeGreaterThan(150)
  // An exception that is no longer needed must be removed.
  expect(foreign(sources)).toEqual(Object.keys(exceptions).toSorted())
})

test.each([
  ["tx.insertInto('invoice')", 'writes invoice'],
  ["tx.updateTable('ledger_account')", 'writes ledger_account'],
  ["tx.deleteFrom('session')", 'writes session'],
  ['sql`insert into dns_zone (id) values (1)`', 'writes dns_zone'],
  ['sql`\n  update subscription s set months = 1`', 'writes subscription'],
  ['sql`delete from session where true`', 'writes session'],
  ["db.selectFrom('invoice_line as l')", 'reads invoice_line'],
  ["db.selectFrom('site').innerJoin('payment', 'a', 'b')", 'reads payment'],
  ['sql`select 1 from site s join message m on true`', 'reads message'],
])('the guard notices %s', (text, breach) => {
  expect(foreign([{ file: 'wordpress/planted.ts', text }])).toEqual([`wordpress ${breach}`])
})

const queriesIn = (text: string): readonly string[] =>
  withoutComments(text).match(
    /\b(?:insertInto|updateTable|deleteFrom|selectFrom)\(|\bsql(?:<[^`]*>)?`/g,
  ) ?? []

test('routes hold no queries: these stand in the store of their module', () => {
  const routes = sources.filter(({ file }) => file.endsWith('routes.ts'))
  expect(routes.length).toBeGreaterThan(20)
  expect(
    routes.flatMap(({ file, text }) => queriesIn(text).map((query) => `${file}: ${query}`)),
  ).toEqual([])
  expect(queriesIn("await tx\n  .updateTable('site')")).toHaveLength(1)
  expect(queriesIn('sql<string>`select 1`')).toHaveLength(1)
})
