/** The tables that a dump makes: columns and keys, without what only MySQL's storage uses. */
import { splitList } from './sql-statements.ts'

/** A name in backticks, in double quotes or plain. */
const plainName = '`(?:[^`]|``)+`|"[^"]+"|[\\w$]+'
/** A name with or without a database's name before it. */
const nameShape = `(?:(?:${plainName})\\s*\\.\\s*)?(${plainName})`
const createShape = new RegExp(
  `^CREATE\\s+TABLE\\s+(?:IF\\s+NOT\\s+EXISTS\\s+)?${nameShape}\\s*\\(`,
  'i',
)
const alterShape = new RegExp(`^ALTER\\s+TABLE\\s+(?:ONLY\\s+)?${nameShape}\\s+`, 'i')
const indexShape = new RegExp(
  `^CREATE\\s+(UNIQUE\\s+|FULLTEXT\\s+)?INDEX\\s+(${plainName})\\s+ON\\s+${nameShape}` +
    '\\s*(\\(.*\\))',
  'is',
)
const insertShape = new RegExp(
  `^(INSERT|REPLACE)\\s+(?:LOW_PRIORITY\\s+|DELAYED\\s+|HIGH_PRIORITY\\s+)?(?:IGNORE\\s+)?` +
    `(?:INTO\\s+)?${nameShape}\\s*(\\([^()]*\\))?\\s*VALUES?\\s*(?=\\()`,
  'i',
)
const keyShape = new RegExp(
  `^(?:CONSTRAINT\\s+(?:${plainName})?\\s*)?` +
    '(PRIMARY\\s+KEY|(?:UNIQUE|FULLTEXT)(?:\\s+(?:KEY|INDEX))?|KEY|INDEX)' +
    `\\s*(${plainName})?\\s*(?:USING\\s+\\w+\\s*)?` +
    '(\\(.*?\\)(?=\\s*(?:$|USING|COMMENT|KEY_BLOCK_SIZE|WITH|VISIBLE|INVISIBLE|/)))',
  'is',
)
const otherItem = /^(?:CONSTRAINT\b|FOREIGN\s+KEY\b|SPATIAL\b|CHECK\b|PERIOD\b)/i

export const bare = (name: string): string =>
  name.startsWith('`') ? name.slice(1, -1).replaceAll('``', '`') : name.replaceAll('"', '')
const quoted = (name: string): string => `\`${name.replaceAll('`', '``')}\``

/** A table as the dump makes it. */
export interface DumpTable {
  readonly name: string
  readonly columns: { readonly name: string; definition: string }[]
  /** PRIMARY KEY, UNIQUE KEY, …; with their columns. */
  readonly keys: string[]
}

const generated = /\s*(?:VIRTUAL|STORED|PERSISTENT)\b/iy
/**
 * The text without a word and the bracket after it; an unclosed bracket is removed up to the end.
 */
function withoutCalls(text: string, word: RegExp): string {
  const kept: string[] = []
  let from = 0
  for (const found of text.matchAll(word)) {
    if (found.index < from) continue
    kept.push(text.slice(from, found.index))
    const close = closingOf(text, found.index + found[0].length - 1)
    generated.lastIndex = close + 1
    if (close < 0) from = text.length
    else from = close + 1 + (generated.exec(text)?.[0].length ?? 0)
  }
  return [...kept, text.slice(from)].join('')
}

/** A column's definition in words that the site's database understands. */
const definitionOf = (text: string): string =>
  withoutCalls(text, /\bCHECK\s*\(|\b(?:GENERATED\s+ALWAYS\s+)?AS\s*\(/gi)
    .replace(/\bCHARACTER\s+SET\s+\w+/gi, '')
    .replace(/\bCHARSET\s+\w+/gi, '')
    .replace(/\bCOLLATE\s+['"]?(\w+)['"]?/gi, (_all, name: string) =>
      name.endsWith('_bin') ? 'COLLATE utf8mb4_bin' : '',
    )
    .replace(/\bCOMMENT\s+'(?:[^'\\]|\\.|'')*'/gis, '')
    .replace(/\bDEFAULT\s+current_timestamp\(\)/gi, 'DEFAULT CURRENT_TIMESTAMP')
    .replace(/\bON\s+UPDATE\s+current_timestamp\(\)/gi, 'ON UPDATE CURRENT_TIMESTAMP')
    .replace(/\s+/g, (blank) => (blank.includes('\n') ? ' ' : blank))
    .trim()

function keyOf(item: string): string | undefined {
  const found = keyShape.exec(item.trim())
  if (!found) return undefined
  const kind = found[1]!.toUpperCase().replace(/\s+/g, ' ')
  const columns = found[3]!.replace(/\s+(?:ASC|DESC)\b/gi, '')
  if (kind === 'PRIMARY KEY') return `PRIMARY KEY ${columns}`
  let word = 'KEY'
  if (kind.startsWith('UNIQUE')) word = 'UNIQUE KEY'
  else if (kind.startsWith('FULLTEXT')) word = 'FULLTEXT KEY'
  return `${word} ${found[2] ? `${quoted(bare(found[2]))} ` : ''}${columns}`
}

/** The position at which the bracket that opens at `from` closes. */
function closingOf(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const char = text[at]!
    if (char === "'" || char === '"' || char === '`') {
      for (at++; at < text.length && text[at] !== char; at++) if (text[at] === '\\') at++
    } else if (char === '(') depth++
    else if (char === ')' && --depth === 0) return at
  }
  return -1
}

const columnShape = /^(`(?:[^`]|``)+`|"[^"]+"|[\w$]+)\s+([\s\S]+)$/

/** Longest CREATE TABLE: MySQL itself keeps table definitions shorter. */
const longestCreate = 131_072

/** A CREATE TABLE with columns; undefined for any other statement. */
export function readCreate(statement: string): DumpTable | undefined {
  const head = statement.length > longestCreate ? null : createShape.exec(statement)
  if (!head) return undefined
  const open = head[0].length - 1
  const close = closingOf(statement, open)
  if (close < 0) return undefined
  const table: DumpTable = { name: bare(head[1]!), columns: [], keys: [] }
  for (const item of splitList(statement.slice(open + 1, close))) {
    const key = keyOf(item)
    if (key !== undefined) table.keys.push(key)
    else if (!otherItem.test(item)) {
      const column = columnShape.exec(item)
      if (column)
        table.columns.push({ name: bare(column[1]!), definition: definitionOf(column[2]!) })
    }
  }
  return table.columns.length > 0 ? table : undefined
}

/** Applies keys and AUTO_INCREMENT that come after the rows, as phpMyAdmin writes them. */
export function applyAlter(statement: string, tables: Map<string, DumpTable>): boolean {
  if (statement.length > longestCreate) return false
  const index = indexShape.exec(statement)
  if (index) {
    const table = tables.get(bare(index[3]!))
    const key = keyOf(`${(index[1] ?? '').trim()} KEY ${index[2]} ${index[4]}`)
    if (table && key !== undefined) table.keys.push(key)
    return true
  }
  const head = alterShape.exec(statement)
  if (!head) return false
  const table = tables.get(bare(head[1]!))
  if (!table) return true
  for (const clause of splitList(statement.slice(head[0].length))) {
    const added = /^ADD\s+([\s\S]+)$/i.exec(clause)
    const key = added ? keyOf(added[1]!) : undefined
    if (key !== undefined) table.keys.push(key)
    const changed = /^MODIFY\s+(?:COLUMN\s+)?([\s\S]+)$/i.exec(clause)
    const column = changed ? columnShape.exec(changed[1]!) : null
    if (!column) continue
    const held = table.columns.find(({ name }) => name === bare(column[1]!))
    if (held) held.definition = definitionOf(column[2]!)
  }
  return true
}

/** The head of an INSERT or REPLACE with literal rows; `at`: where its rows begin. */
export function readInsert(
  statement: string,
): { table: string; columns: string[] | null; replaces: boolean; at: number } | undefined {
  const head = insertShape.exec(statement)
  if (!head) return undefined
  return {
    table: bare(head[2]!),
    columns: head[3] ? splitList(head[3].slice(1, -1)).map((one) => bare(one.trim())) : null,
    replaces: /^REPLACE/i.test(head[1]!),
    at: head[0].length,
  }
}

/** The statement that makes the table under `name`. */
export function createStatement(table: DumpTable, name: string): string {
  const columns = table.columns.map((one) => `${quoted(one.name)} ${one.definition}`)
  return (
    `CREATE TABLE ${quoted(name)} (${[...columns, ...new Set(table.keys)].join(', ')}) ` +
    'DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci'
  )
}
