// For a process of its own: fills a SQLite database, whose empty tables WordPress's driver has
// made, with the rows of a dump that the engine's tool has written. Either every value stays the
// same, or nothing is kept.
import { createHash, type Hash } from 'node:crypto'
import fs from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { CopyFigures } from '../../driver.ts'
import { carriedTable, refuseToCarry as refuse, type CarriedTable } from './carried-tables.ts'
import { PackageFault } from './import/package-fault.ts'
import { rowsOf, StatementReader, type SqlValue } from './import/sql-statements.ts'
import { readInsert } from './import/sql-tables.ts'
import { addToSum, readDatabase, UnfitDatabase, withWritten } from './snapshot.ts'

/** A table's figures, counted in the transaction of the dump. */
export type CountedTable = Pick<CopyFigures['tables'][number], 'name' | 'rows'>

/** The statements that make the tables of a dump, and a key that differs for other tables. */
export interface TablesToMake {
  readonly key: string
  readonly creates: readonly { readonly table: string; readonly create: string }[]
}

type Bound = string | bigint | number | Uint8Array | null

/** Statements are read as Latin-1, so that no byte is lost; names are UTF-8. */
const named = (latin1: string): string => Buffer.from(latin1, 'latin1').toString('utf8')

function* statementsOf(file: string): Generator<string> {
  const reader = new StatementReader()
  const descriptor = fs.openSync(file, 'r')
  try {
    const chunk = Buffer.alloc(1_048_576)
    for (let read; (read = fs.readSync(descriptor, chunk, 0, chunk.length, null)) > 0;)
      yield* reader.push(chunk.toString('latin1', 0, read))
    yield* reader.push('', true)
  } catch (error) {
    if (error instanceof PackageFault) throw new UnfitDatabase(error.message, { cause: error })
    throw error
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Statements that the tool writes besides tables and rows. */
const ofTheTool = /^(?:SET|DROP TABLE IF EXISTS) /

/** The tables that a dump makes. Throws UnfitDatabase for what SQLite would not keep. */
function tablesIn(dump: string): Map<string, CarriedTable> {
  const tables = new Map<string, CarriedTable>()
  const seen = new Set<string>()
  for (const statement of statementsOf(dump)) {
    if (ofTheTool.test(statement) || readInsert(statement)) continue
    const table = carriedTable(named(statement))
    if (!table) return refuse(`the statement ${named(statement).slice(0, 120)}`)
    const folded = table.name.toLowerCase()
    if (seen.has(folded)) return refuse(`two tables with the name ${folded}`)
    seen.add(folded)
    tables.set(table.name, table)
  }
  return tables
}

/**
 * Throws UnfitDatabase where SQLite would not keep the tables of a dump, whatever their rows are.
 */
export function requireCarried(dump: string): void {
  tablesIn(dump)
}

const toMake = (tables: ReadonlyMap<string, CarriedTable>): TablesToMake => {
  const creates = [...tables.values()].map(({ name, create }) => ({ table: name, create }))
  const key = createHash('sha256').update(JSON.stringify(creates)).digest('hex')
  return { key, creates }
}

const [least, most] = [-(2n ** 63n), 2n ** 63n - 1n]

/** Digits and exponent of a decimal, in a form that is the same for equal numbers. */
function plainly(written: string): string {
  const found = /^[-+]?(\d*)(?:\.(\d*))?(?:e([-+]?\d+))?$/i.exec(written)
  if (!found) return `${written} is no number`
  const [, whole = '', rest = '', power = '0'] = found
  const digits = (whole + rest).replace(/^0+/, '')
  const kept = digits.replace(/0+$/, '')
  return kept === '' ? '0' : `${kept}e${Number(power) - rest.length + digits.length - kept.length}`
}

/** The value as SQLite stores it; undefined where it would change. */
function boundOf(value: SqlValue, kind: string): Bound | undefined {
  if (value === null) return null
  if (kind === 'BLOB') return typeof value === 'string' ? Buffer.from(value) : value
  // Bytes that are not text.
  if (typeof value !== 'string') return undefined
  if (kind === 'TEXT') return value
  if (kind === 'INTEGER') {
    const number = /^-?\d{1,20}$/.test(value) ? BigInt(value) : most + 1n
    return number < least || number > most ? undefined : number
  }
  const number = Number(value)
  // SQLite keeps 15 digits exactly, and a DECIMAL may have 65.
  return plainly(value) === plainly(String(number)) ? number : undefined
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Throws unless the driver has made the table as it was asked to. */
function checkMade(database: DatabaseSync, { name, columns, counted }: CarriedTable): void {
  const found = database
    .prepare('select name, type, "notnull" as required, pk from pragma_table_xinfo(?)')
    .all(name) as { name: string; type: string; required: number; pk: number }[]
  const isAsked = found.every((one) => {
    const asked = columns.get(one.name)
    // SQLite's driver declares a key that is not the row number as INT
    // (class-wp-mysql-on-sqlite.php).
    const type = one.type === 'INT' ? 'INTEGER' : one.type
    if (one.name === counted && one.pk !== 1) return false
    return asked !== undefined && asked.kind === type && asked.isRequired === (one.required === 1)
  })
  if (!isAsked || found.length !== columns.size)
    refuse(`the table ${name}, which the SQLite driver makes otherwise`)
}

/** The rows of one table that were added so far, and their checksum. */
interface Filling {
  readonly table: CarriedTable
  readonly sum: Hash
  rows: number
}

/** Adds the rows of one statement. Throws UnfitDatabase for a value that would change. */
function addRows(database: DatabaseSync, filling: Filling, statement: string): void {
  const head = readInsert(statement)
  const { table, sum } = filling
  const columns = (head?.columns ?? []).map(named)
  const kinds = columns.map((column) => table.columns.get(column)?.kind)
  const isWhole = kinds.length === table.columns.size && !kinds.includes(undefined)
  if (!head || !isWhole) return refuse(`rows of ${table.name} that are not known`)
  const marks = columns.map(() => '?').join(', ')
  const insert = database.prepare(
    `insert into ${quoted(table.name)} (${columns.map(quoted).join(', ')}) values (${marks})`,
  )
  for (const row of rowsOf(statement, head.at)) {
    if (row?.length !== columns.length) return refuse(`a row of ${table.name} that is not known`)
    const values = row.map((value, at): Bound => {
      const bound = boundOf(value, kinds[at] ?? '')
      if (bound === undefined)
        return refuse(`a value of ${table.name}.${columns[at]}: ${String(value).slice(0, 60)}`)
      addToSum(sum, bound)
      return bound
    })
    try {
      insert.run(...values)
    } catch (error) {
      // SQLITE_CONSTRAINT: two values that differ for MariaDB's key are equal for SQLite's.
      if ((((error as { errcode?: number }).errcode ?? 0) & 255) !== 19) throw error
      refuse(`a row of ${table.name} (${(error as Error).message})`)
    }
    filling.rows++
  }
}

/** Sets the next row's number to what it would have been in MariaDB. */
function countOn(database: DatabaseSync, { name, next }: CarriedTable): void {
  if (next === null) return
  if (next > most) refuse(`the next number of ${name}, ${next}`)
  database.prepare('delete from sqlite_sequence where name = ?').run(name)
  database.prepare('insert into sqlite_sequence (name, seq) values (?, ?)').run(name, next - 1n)
}

/** Checks that all foreign keys still find their rows. */
function checkBonds(database: DatabaseSync): void {
  let loose
  try {
    loose = database.prepare('select "table" as name from pragma_foreign_key_check').get()
  } catch (error) {
    // A foreign key to columns that SQLite does not accept as a key.
    refuse(`a foreign key (${(error as Error).message})`)
  }
  if (loose) refuse(`a foreign key of ${String(loose['name'])}, to rows that are not there`)
}

function fill(
  database: DatabaseSync,
  dump: string,
  tables: ReadonlyMap<string, CarriedTable>,
): ReadonlyMap<string, Filling> {
  for (const table of tables.values()) checkMade(database, table)
  const fillings = new Map<string, Filling>()
  for (const [name, table] of tables)
    fillings.set(name, { table, sum: createHash('sha256'), rows: 0 })
  database.exec('begin')
  for (const statement of statementsOf(dump)) {
    const found = readInsert(statement)
    if (!found) continue
    const filling = fillings.get(named(found.table))
    if (!filling) return refuse(`rows of the table ${named(found.table)}, which is not there`)
    addRows(database, filling, statement)
  }
  for (const table of tables.values()) countOn(database, table)
  database.exec('commit')
  checkBonds(database)
  return fillings
}

/**
 * Makes a database in `target` out of a dump and a database with empty tables.
 * @param made a file with the tables of `key` (`TablesToMake`), made by WordPress's driver; null:
 *   there is none
 * @param counted the figures from where the dump was written
 * @returns the tables that PHP must make first, where `made` has others; null: `target` is complete
 * @throws UnfitDatabase where a value would change
 */
export function carryToSqlite(
  dump: string,
  target: string,
  made: { readonly key: string; readonly file: string } | null,
  counted: readonly CountedTable[],
): TablesToMake | null {
  const tables = tablesIn(dump)
  const wanted = toMake(tables)
  if (made?.key !== wanted.key) return wanted
  fs.copyFileSync(made.file, target)
  const fillings = withWritten(target, (database) => fill(database, dump, tables))
  const stands = new Map(readDatabase(target).map((one) => [one.name, one]))
  for (const [name, { sum, rows }] of fillings) {
    const found = stands.get(name)
    if (found?.rows !== rows || found.sha256 !== sum.digest('hex'))
      refuse(`the rows of ${name} as they were (${found?.rows ?? 0} of ${rows})`)
  }
  const differs = counted.find(({ name, rows }) => fillings.get(name)?.rows !== rows)
  if (differs || counted.length !== fillings.size)
    refuse(`as many rows of ${differs?.name ?? 'every table'} as were counted`)
  return null
}
