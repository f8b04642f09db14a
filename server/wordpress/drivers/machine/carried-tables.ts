/**
 * Reads tables of MariaDB, as SHOW CREATE TABLE writes them, for a site that goes to SQLite. An
 * import may leave something out and tell the customer. A move may lose nothing: what SQLite would
 * not keep unchanged, or what is not known here, is refused by name.
 */
import { bare, createStatement, readCreate, type DumpTable } from './import/sql-tables.ts'
import { splitList } from './import/sql-statements.ts'
import { UnfitDatabase } from './snapshot.ts'

/** The kind of a column's values, named after SQLite's type. */
export type Kind = 'INTEGER' | 'REAL' | 'TEXT' | 'BLOB'

export interface CarriedTable {
  readonly name: string
  readonly columns: ReadonlyMap<string, { readonly kind: Kind; readonly isRequired: boolean }>
  /** The CREATE TABLE in MySQL's words, which WordPress's SQLite driver understands. */
  readonly create: string
  /**
   * The next number of the counting column; null: there is no such column, or the number follows
   * the highest one.
   */
  readonly next: bigint | null
  /** The column that is numbered automatically. */
  readonly counted: string | null
}

const kindOf = new Map<string, Kind>(
  (
    [
      ['INTEGER', 'tinyint smallint mediumint int bigint'],
      // FLOAT is left out: a dump has only six of its digits.
      ['REAL', 'double decimal'],
      ['TEXT', 'char varchar tinytext text mediumtext longtext enum set'],
      ['TEXT', 'date time year datetime timestamp'],
      ['BLOB', 'binary varbinary tinyblob blob mediumblob longblob'],
    ] as const
  ).flatMap(([kind, types]) => types.split(' ').map((type) => [type, kind] as const)),
)

const text = "'(?:[^'\\\\]|\\\\.|'')*'"
const columnShape = new RegExp(
  "^(`(?:[^`]|``)+`) (([a-z]+)(?:\\([^()']*\\)|\\(" +
    `${text}(?:,${text})*\\))?)( unsigned)?( zerofill)?` +
    '(?: CHARACTER SET \\w+)?(?: COLLATE (\\w+))?(?: (NOT NULL|NULL))?' +
    `(?: DEFAULT (NULL|-?[\\d.]+(?:e[-+]?\\d+)?|${text}|current_timestamp\\(\\)))?` +
    '( ON UPDATE current_timestamp\\(\\))?( AUTO_INCREMENT)?' +
    // MariaDB writes this for a column of type JSON.
    `(?: COMMENT ${text})?( CHECK \\(json_valid\\(\\1\\)\\))?$`,
  'is',
)
const names = '\\((?:`(?:[^`]|``)+`(?:\\(\\d+\\))?(?: (?:ASC|DESC))?,?)+\\)'
const keyShape = new RegExp(
  `^(?:PRIMARY KEY|(?:UNIQUE |FULLTEXT )?KEY \`(?:[^\`]|\`\`)+\`) ${names}` +
    `(?: USING (?:BTREE|HASH))?(?: COMMENT ${text})?$`,
  'is',
)
const bondShape = new RegExp(
  `^CONSTRAINT \`(?:[^\`]|\`\`)+\` FOREIGN KEY ${names} REFERENCES \`(?:[^\`]|\`\`)+\` ${names}` +
    '(?: ON (?:DELETE|UPDATE) (?:RESTRICT|CASCADE|SET NULL|NO ACTION))*$',
  'is',
)

/** Throws UnfitDatabase. */
export const refuseToCarry = (what: string): never => {
  throw new UnfitDatabase(`SQLite would not keep what MariaDB has: ${what}`)
}
const refuse = refuseToCarry

const reserved = /^(?:_wp_sqlite_|sqlite_|portal_import$)/i

type Column = DumpTable['columns'][number] & {
  readonly kind: Kind
  readonly isRequired: boolean
  readonly isCounted: boolean
}

function columnOf(table: string, item: string): Column {
  const found = columnShape.exec(item)
  if (!found) return refuse(`the table ${table} has ${item.slice(0, 120)}`)
  const [, quoted = '', type = '', word = '', , zerofill, collation, empty, value, update, counts] =
    found
  const name = bare(quoted)
  const kind = kindOf.get(word.toLowerCase())
  if (kind === undefined || zerofill !== undefined)
    return refuse(`the type ${type}${zerofill ?? ''} of ${table}.${name}`)
  const isRequired = empty?.toUpperCase() === 'NOT NULL'
  const isMoment = value !== undefined && /^current_timestamp/i.test(value)
  const parts = [
    type + (found[4] ?? ''),
    collation?.endsWith('_bin') && kind === 'TEXT' ? 'COLLATE utf8mb4_bin' : '',
    isRequired ? 'NOT NULL' : 'NULL',
    value === undefined ? '' : `DEFAULT ${isMoment ? 'CURRENT_TIMESTAMP' : value}`,
    update === undefined ? '' : 'ON UPDATE CURRENT_TIMESTAMP',
    counts === undefined ? '' : 'AUTO_INCREMENT',
  ]
  const definition = parts.filter((part) => part !== '').join(' ')
  return { name, definition, kind, isRequired, isCounted: counts !== undefined }
}

/**
 * Reads a CREATE TABLE in MariaDB's own form; undefined for any other statement.
 * @throws UnfitDatabase for what SQLite would not keep
 */
export function carriedTable(statement: string): CarriedTable | undefined {
  const read = readCreate(statement)
  if (!read) return undefined
  const { name } = read
  if (reserved.test(name)) refuse(`a table with the name ${name}, which SQLite has for itself`)
  const open = statement.indexOf('(')
  const close = statement.lastIndexOf(') ENGINE=')
  if (close < open) refuse(`the table ${name}, which is written in a way that is not known`)
  const columns: Column[] = []
  const bonds: string[] = []
  let keys = 0
  for (const item of splitList(statement.slice(open + 1, close))) {
    if (item.startsWith('`')) columns.push(columnOf(name, item))
    else if (keyShape.test(item)) keys++
    else if (bondShape.test(item)) bonds.push(item)
    else refuse(`the table ${name} has ${item.slice(0, 120)}`)
  }
  if (keys !== read.keys.length) refuse(`the table ${name} has keys that are not known`)
  const counted = columns.find(({ isCounted }) => isCounted)?.name ?? null
  const primary = read.keys.find((key) => key.startsWith('PRIMARY KEY'))
  if (counted !== null && primary !== `PRIMARY KEY (\`${counted.replaceAll('`', '``')}\`)`)
    refuse(`the table ${name} numbers its rows by ${counted}, which is not its primary key`)
  const options = statement.slice(close).replace(new RegExp(text, 'gs'), '')
  const next = /\bAUTO_INCREMENT=(\d+)/.exec(options)?.[1]
  const made: DumpTable = { name, columns, keys: [...read.keys, ...bonds] }
  return {
    name,
    columns: new Map(columns.map((one) => [one.name, one])),
    create: createStatement(made, name),
    next: next === undefined ? null : BigInt(next),
    counted,
  }
}
