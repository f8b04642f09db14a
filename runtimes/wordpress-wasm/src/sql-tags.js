/**
 * What a statement reads and writes, as tags. A page is kept with the tags of what was read for it,
 * and dropped by a write that has one of them. Tags of a table `t`:
 *
 * - `t*`: a read of the table otherwise than by keys; every write has it
 * - `t~`: a read by keys; a write that does not name its keys has it
 * - `t#key`: one row by its key (`#postmeta` rows by the post's id); writes by key have it
 *
 * A statement that is not understood counts as reading or writing everything. The database is never
 * queried: views, triggers and functions that write are not noticed (decision 68).
 */
import {
  countOf,
  depthsOf,
  isSign,
  isWord,
  keyOf,
  keysAllowed,
  namesIn,
  tableAt,
  words,
} from './sql-clauses.js'
import { tokensOf } from './sql-tokens.js'

/** The column that identifies rows of WordPress's own tables. Names without the prefix. */
const keyColumns = new Map([
  ['options', 'option_name'],
  ['posts', 'id'],
  ['postmeta', 'post_id'],
  ['terms', 'term_id'],
  ['termmeta', 'term_id'],
  ['users', 'id'],
  ['usermeta', 'user_id'],
  ['comments', 'comment_id'],
  ['commentmeta', 'comment_id'],
])

/**
 * Names that WordPress writes all the time and hardly any page shows. Such a write drops pages that
 * have read the row by its name (`t!name`), and pages that have read the table otherwise than
 * WordPress's own caches do.
 */
const quietMeta = new Map([
  ['postmeta', new Set(['_edit_lock'])],
  ['usermeta', new Set(['session_tokens'])],
])

/** Statements that change neither rows nor tables, and read no rows. */
const harmless = words('begin start commit rollback savepoint release lock unlock use')
/** Statements that read the schema: a change of the schema drops everything. */
const ofSchema = words('describe desc')
const shown =
  'columns|fields|tables|index|indexes|keys|create|variables|engines|databases|collation|' +
  'character|charset|warnings|errors|grants|global|session'
const shownSchema = new RegExp(`^show (?:full |extended )?(?:${shown})\\b`)
/** Words that may stand before the table that a statement changes. */
const modifiers = ['low_priority', 'delayed', 'high_priority', 'quick', 'ignore']
const wholeReads = (tokens) => [...namesIn(tokens)].map((name) => `${name}*`)

/** A write to rows that cannot be identified: of its one table, or of all that it names. */
function wholeWrites(tokens) {
  const table = targetOf(tokens)
  const names = table === null ? namesIn(tokens) : [table]
  return [...names].flatMap((name) => [`${name}*`, `${name}~`])
}

/** The only table that a statement changes; null: it may change several. */
function targetOf(tokens) {
  const [first] = tokens
  let at = 1
  while (isWord(tokens[at], ...modifiers)) at++
  if (isWord(first, 'truncate') && isWord(tokens[at], 'table')) at++
  else if (isWord(first, 'insert', 'replace') && isWord(tokens[at], 'into')) at++
  else if (isWord(first, 'delete')) {
    if (!isWord(tokens[at], 'from')) return null
    at++
  }
  const found = tableAt(tokens, at)
  if (!found) return null
  const after = tokens[found.next]
  if (isWord(first, 'update')) return isWord(after, 'set') ? found.table : null
  if (isWord(first, 'delete', 'truncate'))
    return after === undefined || isWord(after, 'where', 'order', 'limit') ? found.table : null
  return found.table
}

const bareName = (table, prefix) =>
  table.startsWith(prefix) ? table.slice(prefix.length).replace(/^\d+_/, '') : null

/** `SELECT … FROM one table WHERE its key is …`: tags by key; null for any other statement. */
function rowReads(tokens, prefix) {
  if (countOf(tokens, 'select') !== 1 || countOf(tokens, 'from') !== 1) return null
  if (countOf(tokens, 'join', 'union', 'intersect', 'except', 'into', 'procedure') > 0) return null
  const depths = depthsOf(tokens)
  const from = tokens.findIndex((token) => isWord(token, 'from'))
  if (depths[from] !== 0) return null
  const found = tableAt(tokens, from + 1)
  if (!found || !isWord(tokens[found.next], 'where')) return null
  const bare = bareName(found.table, prefix)
  const column = bare === null ? undefined : keyColumns.get(bare)
  if (column === undefined) return null
  const keys = keysAllowed(tokens.slice(found.next + 1), column, found.names)
  if (!keys) return null
  const { table } = found
  const quiet = [...(quietMeta.get(bare) ?? [])].map((name) => `${table}!${name}`)
  // WordPress fills its own cache with such a statement; code that asks the cache for a quiet name
  // is recognised separately (page-tags.js).
  const isCacheFill =
    quiet.length > 0 &&
    tokens.length > 7 &&
    tokens
      .slice(0, from)
      .map(({ value }) => value)
      .join(' ') === `select ${column} , meta_key , meta_value`
  return [`${table}~`, ...keys.map((key) => `${table}#${key}`), ...(isCacheFill ? [] : quiet)]
}

/** Tags of a write to rows of one table whose keys are in the statement; null for any other. */
function rowWrites(tokens, prefix) {
  if (countOf(tokens, 'select', 'join', 'with', 'returning') > 0) return null
  const [first] = tokens
  let at = 1
  while (isWord(tokens[at], ...modifiers)) at++
  if (isWord(first, 'insert', 'replace', 'delete') && isWord(tokens[at], 'into', 'from')) at++
  const found = tableAt(tokens, at)
  if (!found) return null
  const { table, names, next } = found
  const bare = bareName(table, prefix)
  const column = bare === null ? undefined : keyColumns.get(bare)
  if (column === undefined) return null
  const written = isWord(first, 'insert', 'replace')
    ? insertedKeys(tokens, next, bare, column)
    : changedKeys(tokens, next, column, names, isWord(first, 'update'))
  if (!written) return null
  const quiet = quietName(tokens, next, bare, isWord(first, 'insert'))
  return [
    `${table}*`,
    ...(quiet === null ? written.map((key) => `${table}#${key}`) : [`${table}!${quiet}`]),
  ]
}

/** UPDATE and DELETE: the keys that their WHERE allows, unless the key itself is changed. */
function changedKeys(tokens, next, column, names, isUpdate) {
  const depths = depthsOf(tokens)
  if (isUpdate && !isWord(tokens[next], 'set')) return null
  const where = tokens.findIndex(
    (token, index) => index >= next && depths[index] === 0 && isWord(token, 'where'),
  )
  if (where < 0 || (!isUpdate && where !== next)) return null
  const assigned = tokens.slice(next, where)
  if (assigned.some(({ kind, value }) => kind === 'name' && value === column)) return null
  return keysAllowed(tokens.slice(where + 1), column, names)
}

/** `(columns) VALUES (…), (…)`: the list of columns, and the values of each row; or null. */
function insertedRows(tokens, next) {
  if (!isSign(tokens[next], '(')) return null
  const close = tokens.findIndex((token, at) => at > next && isSign(token, ')'))
  const columns = tokens.slice(next + 1, close).filter((token) => !isSign(token, ','))
  if (!columns.every(({ kind }) => kind === 'name')) return null
  if (!isWord(tokens[close + 1], 'values', 'value')) return null
  const rows = []
  let at = close + 2
  for (;;) {
    if (!isSign(tokens[at], '(')) return null
    const row = []
    let value = []
    let depth = 0
    for (at++; at < tokens.length; at++) {
      const token = tokens[at]
      if (depth === 0 && (isSign(token, ',') || isSign(token, ')'))) {
        row.push(value)
        value = []
        if (isSign(token, ')')) break
        continue
      }
      if (isSign(token, '(')) depth++
      if (isSign(token, ')')) depth--
      value.push(token)
    }
    rows.push(row)
    at++
    if (!isSign(tokens[at], ',')) break
    at++
  }
  const names = columns.map(({ value }) => value)
  if (rows.some((row) => row.length !== names.length)) return null
  return { names, rows, rest: tokens.slice(at) }
}

function insertedKeys(tokens, next, bare, column) {
  const found = insertedRows(tokens, next)
  if (!found) return null
  const { names, rows, rest } = found
  // Existing rows may be removed or changed. Only for options does the key identify them.
  const mayReplace = rest.length > 0 || isWord(tokens[0], 'replace')
  if (mayReplace && (bare !== 'options' || names.includes('option_id'))) return null
  if (
    rest.some(
      ({ kind, value }, index) => kind === 'name' && value === column && isTarget(rest, index),
    )
  )
    return null
  const place = names.indexOf(column)
  if (place < 0) return null
  const keys = rows.map((row) => (row[place].length === 1 ? keyOf(row[place][0], column) : null))
  return keys.includes(null) ? null : keys
}

/** Whether ON DUPLICATE KEY UPDATE sets the column to another value than the insert would. */
function isTarget(rest, index) {
  if (!isSign(rest[index + 1], '=')) return false
  const [value, open, column, close] = rest.slice(index + 2, index + 6)
  const isSame =
    isWord(value, 'values') &&
    isSign(open, '(') &&
    column?.value === rest[index].value &&
    isSign(close, ')')
  return !isSame
}

/** The quiet name that a write is about; null when it concerns any other, or is unclear. */
function quietName(tokens, next, bare, isInsert) {
  const quiet = quietMeta.get(bare)
  if (!quiet) return null
  if (isInsert) {
    const found = insertedRows(tokens, next)
    const place = found?.names.indexOf('meta_key') ?? -1
    const [row, ...others] = found?.rows ?? []
    if (place < 0 || others.length > 0) return null
    const [token] = row[place]
    return row[place].length === 1 && token.kind === 'text' && quiet.has(token.value)
      ? token.value
      : null
  }
  const depths = depthsOf(tokens)
  const where = tokens.findIndex(
    (token, at) => at >= next && depths[at] === 0 && isWord(token, 'where'),
  )
  if (tokens.slice(next, where).some(({ value }) => value === 'meta_key')) return null
  const keys = keysAllowed(tokens.slice(where + 1), 'meta_key', new Set())
  return keys?.length === 1 && quiet.has(keys[0]) ? keys[0] : null
}

/**
 * Options that change all the time and that every page reads, because WordPress loads them with all
 * others: its schedule, and the mark that jobs are running. A job's own changes to the site are
 * separate writes.
 */
export const scheduleOptions = new Set(['cron', '_transient_doing_cron'])

/**
 * @param {string} sql one statement, as it is sent to the database
 * @param {string} prefix of the site's tables
 * @returns {{reads: string[] | null, writes: string[] | null}} tags; null: everything
 */
export function tagsOfSql(sql, prefix) {
  const tokens = tokensOf(sql)
  if (tokens === null) return { reads: null, writes: null }
  if (tokens.length === 0) return { reads: [], writes: [] }
  const first = tokens.find((token) => !isSign(token, '('))
  const verb = first?.kind === 'name' && !first.quoted ? first.value : ''
  const lower = prefix.toLowerCase()
  switch (verb) {
    case 'select':
    case 'with':
    case 'values':
      // SELECT … INTO a file or a variable; WITH may begin a write.
      if (
        countOf(tokens, 'into') > 0 ||
        countOf(tokens, 'update', 'delete', 'insert') > countOf(tokens, 'for')
      )
        return { reads: null, writes: null }
      // The value of a variable may come from anywhere.
      if (tokens.some((token) => isSign(token, '@') || isSign(token, ':=')))
        return { reads: null, writes: [] }
      return { reads: rowReads(tokens, lower) ?? wholeReads(tokens), writes: [] }
    case 'insert':
    case 'replace':
    case 'update':
    case 'delete': {
      const rows = rowWrites(tokens, lower)
      // The data that it copies from another table may be read by this page.
      return rows
        ? { reads: [], writes: rows }
        : { reads: wholeReads(tokens), writes: wholeWrites(tokens) }
    }
    case 'truncate':
      return { reads: [], writes: wholeWrites(tokens) }
    case 'set':
      // Modes that change the meaning of quotes; variables that hold what was read.
      return /no_backslash|ansi|sql_log|global/i.test(sql)
        ? { reads: null, writes: null }
        : { reads: countOf(tokens, 'select') > 0 ? null : [], writes: [] }
    case 'show':
      return {
        reads: shownSchema.test(tokens.map(({ value }) => value).join(' ')) ? [] : null,
        writes: [],
      }
    case 'explain':
      return { reads: null, writes: [] }
    default:
      if (harmless.has(verb) || ofSchema.has(verb)) return { reads: [], writes: [] }
      return { reads: null, writes: null }
  }
}
