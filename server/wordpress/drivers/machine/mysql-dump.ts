/**
 * A site's SQLite database as SQL for MySQL and MariaDB, so that a backup works at another host.
 * WordPress's SQLite driver keeps the MySQL types, defaults and indexes of every table that it has
 * made in tables of its own, after MySQL's information_schema. A table made without the driver is
 * named in a comment. The file is the customer's: an invalid type becomes `longtext`, names and
 * values are quoted.
 */
import type { DatabaseSync } from 'node:sqlite'

const prefix = '_wp_sqlite_mysql_information_schema_'
/** Finds `đường` by `duong`; WordPress chooses it where the server has it. */
const collation = 'utf8mb4_unicode_520_ci'
/** Approximate length of one INSERT, characters; below every usual max_allowed_packet (16 MB). */
const statementLength = 524_288

/** The columns that are read of each of these tables. */
const described = {
  tables: ['TABLE_NAME', 'TABLE_TYPE'],
  columns: [
    'TABLE_NAME',
    'COLUMN_NAME',
    'ORDINAL_POSITION',
    'COLUMN_DEFAULT',
    'IS_NULLABLE',
    'COLUMN_TYPE',
    'COLLATION_NAME',
    'EXTRA',
  ],
  statistics: [
    'TABLE_NAME',
    'INDEX_NAME',
    'SEQ_IN_INDEX',
    'NON_UNIQUE',
    'COLUMN_NAME',
    'SUB_PART',
    'INDEX_TYPE',
  ],
} as const

interface Column {
  readonly COLUMN_NAME: string
  readonly COLUMN_DEFAULT: string | null
  readonly IS_NULLABLE: string
  readonly COLUMN_TYPE: string
  readonly COLLATION_NAME: string | null
  readonly EXTRA: string
}
interface IndexPart {
  readonly INDEX_NAME: string
  readonly NON_UNIQUE: number
  readonly COLUMN_NAME: string | null
  readonly SUB_PART: number | null
  readonly INDEX_TYPE: string
}

const name = (text: string): string => `\`${text.replaceAll('`', '``')}\``
const escapes: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\n': '\\n',
  '\r': '\\r',
  '\x1a': '\\Z',
  "'": "\\'",
  '\\': '\\\\',
}
/** A string literal (MySQL 8 reference, 11.1.1). */
const text = (value: string): string =>
  // oxlint-disable-next-line no-control-regex
  `'${value.replace(/[\0\n\r\x1a'\\]/g, (char) => escapes[char] ?? char)}'`

const literal = "'(?:[^'\\\\]|'')*'"
const typeShape = new RegExp(
  `^[a-z]+(?:\\((?:\\d+(?:,\\d+)?|${literal}(?:,${literal})*)\\))?(?: unsigned| zerofill)*$`,
  'i',
)
const isText = (type: string): boolean => /char|text|enum|set/i.test(type)
/** Types for which MySQL permits no default except null. */
const withoutDefault = /text|blob|json|geometry/i

function columnOf(column: Column): string {
  const type = typeShape.test(column.COLUMN_TYPE) ? column.COLUMN_TYPE : 'longtext'
  const parts = [name(column.COLUMN_NAME), type]
  if (isText(type) && column.COLLATION_NAME?.endsWith('_bin')) parts.push('COLLATE utf8mb4_bin')
  if (column.IS_NULLABLE !== 'YES') parts.push('NOT NULL')
  const isCounted = /auto_increment/i.test(column.EXTRA)
  const value = column.COLUMN_DEFAULT
  if (value !== null && !isCounted && !withoutDefault.test(type)) {
    const isMoment = /^current_timestamp(\(\d?\))?$/i.test(value)
    parts.push(`DEFAULT ${isMoment ? value : text(value)}`)
    if (/on update current_timestamp/i.test(column.EXTRA)) parts.push('ON UPDATE CURRENT_TIMESTAMP')
  }
  if (isCounted) parts.push('AUTO_INCREMENT')
  return `  ${parts.join(' ')}`
}

function indexOf(parts: readonly IndexPart[]): string {
  const [first] = parts
  const columns = parts
    .map(({ COLUMN_NAME: column, SUB_PART: length }) =>
      length === null ? name(column ?? '') : `${name(column ?? '')}(${Number(length)})`,
    )
    .join(', ')
  if (first?.INDEX_NAME === 'PRIMARY') return `  PRIMARY KEY (${columns})`
  let kind = first?.NON_UNIQUE === 0 ? 'UNIQUE KEY' : 'KEY'
  if (first?.INDEX_TYPE === 'FULLTEXT') kind = 'FULLTEXT KEY'
  return `  ${kind} ${name(first?.INDEX_NAME ?? '')} (${columns})`
}

function valueOf(value: unknown): string {
  if (value === null) return 'NULL'
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'NULL'
  if (value instanceof Uint8Array)
    return value.length === 0 ? "''" : `0x${Buffer.from(value).toString('hex')}`
  return text(value as string)
}

/** The rows of one table as INSERT statements. */
function* rowsOf(
  database: DatabaseSync,
  table: string,
  columns: readonly Column[],
): Generator<string> {
  const names = columns.map(({ COLUMN_NAME: column }) => column)
  const sqlite = names.map((column) => `"${column.replaceAll('"', '""')}"`).join(', ')
  const rows = database.prepare(
    `select ${sqlite} from main."${table.replaceAll('"', '""')}" not indexed`,
  )
  rows.setReturnArrays(true)
  rows.setReadBigInts(true)
  const head = `INSERT INTO ${name(table)} (${names.map(name).join(', ')}) VALUES\n`
  let held = ''
  for (const row of rows.iterate() as unknown as Iterable<readonly unknown[]>) {
    held += `${held === '' ? head : ',\n'}(${row.map(valueOf).join(', ')})`
    if (held.length < statementLength) continue
    yield `${held};\n`
    held = ''
  }
  if (held !== '') yield `${held};\n`
}

/**
 * Tables that the dump leaves out: they were made without WordPress's driver, so their MySQL types
 * are unknown. All tables where the whole database was made without it.
 */
export function tablesLeftOut(database: DatabaseSync): string[] {
  const isKnown = storedTables(database).has(`${prefix}tables`)
  const known = new Set(
    isKnown
      ? (
          database
            .prepare(`select TABLE_NAME from ${prefix}tables where TABLE_TYPE = 'BASE TABLE'`)
            .all() as { TABLE_NAME: string }[]
        ).map((one) => one.TABLE_NAME)
      : [],
  )
  return [...storedTables(database)].filter(
    (one) => !known.has(one) && !one.startsWith('_wp_sqlite_') && !one.startsWith('sqlite_'),
  )
}

const storedTables = (database: DatabaseSync): Set<string> =>
  new Set(
    (
      database
        .prepare("select name from pragma_table_list where schema = 'main' and type = 'table'")
        .all() as { name: string }[]
    ).map((one) => one.name),
  )

/**
 * The whole dump, in pieces of about half a megabyte. Nobody may write to the database meanwhile.
 * Empty where the database was made without WordPress's SQLite driver.
 */
export function* mysqlDump(database: DatabaseSync): Generator<string> {
  const stored = storedTables(database)
  // Only stored columns are read: a computed one may be made arbitrarily costly.
  const xinfo = database.prepare('select name from pragma_table_xinfo(?) where hidden = 0')
  const storedIn = (table: string): Set<string> =>
    new Set((xinfo.all(table) as { name: string }[]).map((one) => one.name))
  for (const [table, columns] of Object.entries(described)) {
    const there = storedIn(prefix + table)
    if (!stored.has(prefix + table) || !columns.every((column) => there.has(column))) return
  }
  const select = (table: keyof typeof described, rest: string) =>
    database.prepare(`select ${described[table].join(', ')} from ${prefix}${table} ${rest}`)
  const names = select('tables', "where TABLE_TYPE = 'BASE TABLE' order by TABLE_NAME").all()
  const columnsOf = select('columns', 'where TABLE_NAME = ? order by ORDINAL_POSITION')
  const indexesOf = select('statistics', 'where TABLE_NAME = ? order by INDEX_NAME, SEQ_IN_INDEX')
  yield `-- For MySQL 5.7 and MariaDB 10.4 or newer.
SET NAMES utf8mb4;
SET SQL_MODE = 'NO_AUTO_VALUE_ON_ZERO';
SET FOREIGN_KEY_CHECKS = 0;
SET UNIQUE_CHECKS = 0;
`
  const tables = (names as { TABLE_NAME: string }[])
    .map((one) => one.TABLE_NAME)
    .filter((one) => stored.has(one))
  for (const table of tables) {
    const held = storedIn(table)
    const columns = (columnsOf.all(table) as unknown as Column[]).filter((column) =>
      held.has(column.COLUMN_NAME),
    )
    if (columns.length === 0) continue
    const indexes = Map.groupBy(
      indexesOf.all(table) as unknown as IndexPart[],
      (part) => part.INDEX_NAME,
    )
    const lines = [
      ...columns.map(columnOf),
      ...[...indexes.values()]
        .filter((parts) => parts.every((part) => held.has(part.COLUMN_NAME ?? '')))
        .map(indexOf),
    ]
    yield `\nDROP TABLE IF EXISTS ${name(table)};\nCREATE TABLE ${name(table)} (\n${lines.join(
      ',\n',
    )}\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=${collation};\n`
    yield* rowsOf(database, table, columns)
  }
  for (const other of tablesLeftOut(database))
    yield `-- Not here, since it was not made through WordPress: ${JSON.stringify(other)}\n`
  yield '\nSET FOREIGN_KEY_CHECKS = 1;\nSET UNIQUE_CHECKS = 1;\n'
}
