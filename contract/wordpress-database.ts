/**
 * The database of a server's site, as its owner browses and changes it. A password opens it for
 * half an hour, only for the session that gave it.
 */
import * as z from 'zod/mini'
import { endpoint, idParam } from './endpoint.ts'

export const rowsOnPage = 50
/** Most rows of a statement's result; most rows of an exported table. */
export const mostStatementRows = 1_000
export const mostExportedRows = 100_000
export const openMinutes = 30
/** Most characters of a statement, and of a written value. */
export const mostStatementLength = 50_000

const name = z.string().check(z.minLength(1), z.maxLength(200))
const key = z.record(name, z.string().check(z.maxLength(2_000)))

/** A value as it is shown; `value` is shortened where `bytes` is larger. */
export const Cell = z.nullable(
  z.object({
    /** `hex`: not UTF-8 text. `masked`: a password or the like, whose value was not requested. */
    kind: z.enum(['text', 'hex', 'masked']),
    value: z.string(),
    bytes: z.int(),
  }),
)
export type Cell = z.output<typeof Cell>
/** A value to be written. */
const Written = z.nullable(
  z.strictObject({
    kind: z.enum(['text', 'hex']),
    value: z.string().check(z.maxLength(200_000)),
  }),
)
export type Written = z.output<typeof Written>
const written = z.record(name, Written).check(
  z.refine(
    (values) =>
      Object.values(values).every(
        (one) => one?.kind !== 'hex' || /^(?:[0-9a-f]{2})*$/i.test(one.value),
      ),
    {
      params: {
        en: 'Bytes are written as hexadecimal.',
        vi: 'Hãy nhập dữ liệu dạng thập lục phân.',
      },
    },
  ),
)

export const TableColumn = z.object({
  name: z.string(),
  type: z.string(),
  mayBeNull: z.boolean(),
  /** Part of the primary key. */
  isKey: z.boolean(),
  default: z.nullable(z.string()),
  isAutomatic: z.boolean(),
})
export type TableColumn = z.output<typeof TableColumn>
export const Rows = z.object({
  columns: z.array(z.string()),
  rows: z.array(z.array(Cell)),
  /** True: there are more rows than one answer holds. */
  isCut: z.boolean(),
})
export type Rows = z.output<typeof Rows>

export const openDatabase = endpoint({
  method: 'POST',
  path: '/api/wp/:id/database/ticket',
  access: 'customer',
  member: 'servers:write',
  summary: 'A ticket that opens the database of a server once, within a minute; wants the password',
  params: idParam,
  body: z.strictObject({ password: z.string().check(z.minLength(1), z.maxLength(128)) }),
  result: z.object({ ticket: z.string() }),
  asksAgain: true,
})
export const enterDatabase = endpoint({
  method: 'POST',
  path: '/api/wp/:id/database/session',
  access: 'customer',
  member: 'servers:write',
  summary: 'Open the database for 30 minutes, for this sign-in alone, by a ticket',
  params: idParam,
  body: z.strictObject({ ticket: z.string().check(z.maxLength(100)) }),
  result: z.object({ until: z.string() }),
})
export const databaseState = endpoint({
  method: 'GET',
  path: '/api/wp/:id/database/session',
  access: 'customer',
  member: 'servers:write',
  summary: 'Until when the database is open for this sign-in',
  params: idParam,
  result: z.object({ until: z.nullable(z.string()) }),
})
export const leaveDatabase = endpoint({
  method: 'DELETE',
  path: '/api/wp/:id/database/session',
  access: 'customer',
  member: 'servers:write',
  summary: 'Close the database',
  params: idParam,
  result: z.null(),
})

export const listTables = endpoint({
  method: 'GET',
  path: '/api/wp/:id/database/tables',
  access: 'customer',
  member: 'servers:write',
  summary: 'The tables, their rows and bytes; null where the database is too large to count',
  params: idParam,
  result: z.array(
    z.object({ name: z.string(), rows: z.nullable(z.int()), bytes: z.nullable(z.int()) }),
  ),
})
export const describeTable = endpoint({
  method: 'GET',
  path: '/api/wp/:id/database/columns',
  access: 'customer',
  member: 'servers:write',
  summary: 'The columns and keys of a table',
  params: idParam,
  query: z.object({ table: name }),
  result: z.object({
    columns: z.array(TableColumn),
    keys: z.array(
      z.object({ name: z.string(), isUnique: z.boolean(), columns: z.array(z.string()) }),
    ),
  }),
})
export const RowsQuery = z.object({
  table: name,
  offset: z.optional(z.coerce.number().check(z.int(), z.gte(0), z.lte(1_000_000_000))),
  sort: z.optional(name),
  descends: z.optional(z.enum(['1'])),
  column: z.optional(name),
  how: z.optional(z.enum(['is', 'contains'])),
  value: z.optional(z.string().check(z.maxLength(2_000))),
  /** Also show passwords and the like. */
  reveals: z.optional(z.enum(['1'])),
})
export const listRows = endpoint({
  method: 'GET',
  path: '/api/wp/:id/database/rows',
  access: 'customer',
  member: 'servers:write',
  summary: 'Fifty rows of a table, sorted and filtered by a column',
  params: idParam,
  query: RowsQuery,
  result: z.extend(Rows, { total: z.int() }),
})
export const readRow = endpoint({
  method: 'POST',
  path: '/api/wp/:id/database/row',
  access: 'customer',
  member: 'servers:write',
  summary: 'One row with its values in full, passwords and the like where `reveals` says so',
  params: idParam,
  body: z.strictObject({ table: name, key, reveals: z.boolean() }),
  result: Rows,
})
export const changeRow = endpoint({
  method: 'PUT',
  path: '/api/wp/:id/database/row',
  access: 'customer',
  member: 'servers:write',
  summary:
    'Change, insert or delete one row, by its primary key. `expected` are values that must stand ' +
    'there still. The former values come back, to be written again by whoever wants to undo it',
  params: idParam,
  body: z.strictObject({
    table: name,
    change: z.enum(['update', 'insert', 'delete']),
    key: z.optional(key),
    values: z.optional(written),
    expected: z.optional(written),
  }),
  maxBodyBytes: 1_048_576,
  result: z.object({
    /**
     * The previous values of the columns that were written, or of the deleted row; null: there are
     * none to restore.
     */
    former: z.nullable(z.record(z.string(), Cell)),
    /** The auto-increment number of the new row; 0: there is none. */
    inserted: z.int(),
  }),
})
export const runStatement = endpoint({
  method: 'POST',
  path: '/api/wp/:id/database/statement',
  access: 'customer',
  member: 'servers:write',
  summary:
    'Run one statement of SQL for 10 s at most. SELECT, SHOW, DESCRIBE and EXPLAIN; statements ' +
    'that write only with `allowsChanges`',
  params: idParam,
  body: z.strictObject({
    sql: z.string().check(z.maxLength(mostStatementLength)),
    allowsChanges: z.boolean(),
    reveals: z.optional(z.boolean()),
  }),
  result: z.extend(Rows, { changed: z.nullable(z.int()), ms: z.int() }),
})
export const exportTable = endpoint({
  method: 'GET',
  path: '/api/wp/:id/database/export',
  access: 'customer',
  member: 'servers:write',
  summary: 'A table as CSV, of at most 100,000 rows; what a spreadsheet would compute is quoted',
  params: idParam,
  query: z.object({ table: name, reveals: z.optional(z.enum(['1'])) }),
  result: z.string(),
  bare: true,
  files: ['text/csv'],
})

const reading = new Set(['select', 'show', 'describe', 'desc', 'explain'])
const writing = new Set('insert replace update delete create alter drop truncate rename'.split(' '))
/** The kind of one statement; `sql` gets a limit if it reads and has none itself. */
export type Statement =
  | { readonly kind: 'reads' | 'writes'; readonly sql: string }
  | { readonly kind: 'empty' | 'several' | 'open' | 'other' }

/**
 * The text with each string, backticked name and comment replaced by a blank; undefined: one is not
 * closed.
 */
function bare(sql: string): string | undefined {
  let text = ''
  for (let at = 0; at < sql.length;) {
    const rest = sql.slice(at, at + 3)
    const [comment] = /^(?:#|-- |--\t|--\n|--$)/.exec(rest) ?? []
    let end = at + 1
    if (comment !== undefined) {
      const line = sql.indexOf('\n', at)
      end = line < 0 ? sql.length : line
    } else if (rest.startsWith('/*')) {
      // MySQL executes the content of /*! … */.
      if (rest === '/*!' || rest === '/*+') return undefined
      end = sql.indexOf('*/', at + 2) + 2
      if (end < 2) return undefined
    } else if (`'"\``.includes(rest[0] ?? ' ')) {
      const quote = rest[0] ?? ''
      while (end < sql.length && sql[end] !== quote)
        end += sql[end] === '\\' && quote !== '`' ? 2 : 1
      if (end >= sql.length) return undefined
      end++
    } else {
      text += sql[at] ?? ''
      at = end
      continue
    }
    text += ' '
    at = end
  }
  return text
}
export function judgeStatement(sql: string, limit = mostStatementRows): Statement {
  if (sql.includes('\0')) return { kind: 'other' }
  const text = bare(sql)
  if (text === undefined) return { kind: 'open' }
  if (text.trim() === '') return { kind: 'empty' }
  if (/;\s*\S/.test(text)) return { kind: 'several' }
  const [word = ''] = /^[\s(]*([a-z]+)/i.exec(text)?.slice(1) ?? []
  const first = word.toLowerCase()
  // A reading statement may end in a semicolon, after which no limit may follow.
  const whole = sql.trimEnd().replace(/;$/, '')
  // Writes a file, or executes what it explains.
  const isOdd = /\binto\s+(?:out|dump)file\b|\bload_file\b|^\s*explain\s+analyze\b/i.test(text)
  if (isOdd) return { kind: 'other' }
  if (reading.has(first)) {
    if (/^[\s(]*explain\b/i.test(text) || first !== 'select') return { kind: 'reads', sql: whole }
    if (/\binto\b|\bfor\s+update\b/i.test(text)) return { kind: 'other' }
    const hasLimit = /\blimit\b(?![^(]*\))/i.test(text)
    return { kind: 'reads', sql: hasLimit ? whole : `${whole}\nLIMIT ${limit + 1}` }
  }
  return writing.has(first) ? { kind: 'writes', sql: whole } : { kind: 'other' }
}
