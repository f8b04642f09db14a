/**
 * Turns a dump into what the site's own PHP loads, step by step (the runtime's
 * import-database.php): a line of JSON for each table, then lines with rows. Nothing else of the
 * dump is run: no view, trigger, routine, user or file.
 */
import fs from 'node:fs'
import type { ImportNote } from '../../../driver.ts'
import { PackageFault } from './package-fault.ts'
import { rowsOf, StatementReader, type SqlValue } from './sql-statements.ts'
import {
  applyAlter,
  bare,
  createStatement,
  readCreate,
  readInsert,
  type DumpTable,
} from './sql-tables.ts'

/** All-in-One WP Migration writes this instead of the tables' prefix. */
const movedPrefix = 'SERVMASK_PREFIX_'
const usualPrefix = 'wp_'
/** Approximate length of one line, characters. */
const lineLength = 131_072
/** Longest row, characters: PHP holds a row several times over. */
const longestRow = 16 * 1_048_576
/** Tables without which there is no WordPress. */
const needed = ['options', 'posts', 'users', 'usermeta'] as const

export interface StagedDump {
  readonly prefix: string
  readonly tables: number
  readonly rows: number
  readonly notes: readonly ImportNote[]
}

async function* statementsOf(file: string, reader: StatementReader): AsyncGenerator<string> {
  const stream = fs.createReadStream(file, { highWaterMark: 1_048_576, encoding: 'latin1' })
  for await (const chunk of stream as AsyncIterable<string>) yield* reader.push(chunk)
  yield* reader.push('', true)
}

/** The prefix of WordPress's tables. */
export function prefixOf(names: readonly string[], wished: string | undefined): string {
  const all = new Set(names)
  const found = names
    .filter((name) => name.endsWith('options'))
    .map((name) => name.slice(0, -'options'.length))
    .filter((prefix) => needed.every((table) => all.has(prefix + table)))
  const [first] = found
  if (first === undefined) throw new PackageFault('no_tables')
  const chosen = found.length === 1 ? first : wished
  if (chosen === undefined || !found.includes(chosen))
    throw new PackageFault('several_sites', found.join(', '))
  if (all.has(`${chosen}blogs`) && all.has(`${chosen}site`)) throw new PackageFault('multisite')
  return chosen
}

/** The kind of a statement that is not run, in a word. */
function refusedOf(statement: string): string | undefined {
  if (/^(?:SET|LOCK|UNLOCK|DROP|START|COMMIT|BEGIN|ROLLBACK|USE)\b/i.test(statement))
    return undefined
  if (/^CREATE\s+(?:DATABASE|SCHEMA)\b/i.test(statement)) return undefined
  const made = /^CREATE\b[\s\S]{0,200}?\b(VIEW|TRIGGER|PROCEDURE|FUNCTION|EVENT|USER)\b/i.exec(
    statement,
  )
  return (
    made?.[1] ??
    /^\w+(?:\s+\w+)?/.exec(statement)?.[0] ??
    statement.slice(0, 20)
  ).toLowerCase()
}

/**
 * Stages the dump into `target`. `wished`: the prefix in the package's wp-config.php. Throws
 * PackageFault.
 */
export async function stageDump(
  file: string,
  target: string,
  wished: string | undefined,
): Promise<StagedDump> {
  const tables = new Map<string, DumpTable>()
  const refused = new Set<string>()
  const first = new StatementReader()
  for await (const statement of statementsOf(file, first)) {
    if (/^(?:INSERT|REPLACE)\b/i.test(statement)) continue
    const table = readCreate(statement)
    if (table) tables.set(table.name, table)
    else if (!applyAlter(statement, tables)) {
      const what = refusedOf(statement)
      if (what !== undefined && refused.size < 20) refused.add(what)
    }
  }
  for (const what of first.conditional) refused.add(what)
  const prefix = prefixOf([...tables.keys()], wished)
  const isMoved = prefix === movedPrefix
  const renamed = (name: string): string =>
    isMoved ? usualPrefix + name.slice(movedPrefix.length) : name
  /** Keys such as `wp_capabilities` begin with the prefix, too. */
  const valueOf = (value: SqlValue): SqlValue =>
    isMoved && typeof value === 'string' && value.startsWith(movedPrefix) ? renamed(value) : value

  const own = [...tables.values()].filter(({ name }) => name.startsWith(prefix))
  const foreign = [...tables.keys()].filter((name) => !name.startsWith(prefix))
  const descriptor = fs.openSync(target, 'w', 0o600)
  let rows = 0
  let odd = 0
  try {
    const write = (line: object): void => void fs.writeSync(descriptor, `${JSON.stringify(line)}\n`)
    for (const table of own)
      write({ table: renamed(table.name), create: createStatement(table, renamed(table.name)) })
    for await (const statement of statementsOf(file, new StatementReader())) {
      const insert = readInsert(statement)
      if (!insert) {
        if (/^(?:INSERT|REPLACE)\b/i.test(statement)) odd++
        continue
      }
      const table = tables.get(insert.table)
      if (!table || !insert.table.startsWith(prefix)) continue
      const columns = insert.columns ?? table.columns.map(({ name }) => name)
      const head = { table: renamed(insert.table), columns, replaces: insert.replaces }
      let held: unknown[][] = []
      let length = 0
      const flush = (): void => {
        if (held.length > 0) write({ ...head, rows: held })
        held = []
        length = 0
      }
      for (const row of rowsOf(statement, insert.at)) {
        const bytes = row?.reduce<number>((sum, value) => sum + (value?.length ?? 0), 0) ?? 0
        if (row === undefined || row.length !== columns.length || bytes > longestRow) {
          odd++
          continue
        }
        held.push(
          row.map((value) => {
            const kept = valueOf(value)
            return Buffer.isBuffer(kept) ? { b: kept.toString('base64') } : kept
          }),
        )
        rows++
        length += bytes + 16 * row.length
        if (length > lineLength) flush()
      }
      flush()
    }
  } finally {
    fs.closeSync(descriptor)
  }
  const notes: ImportNote[] = []
  if (refused.size > 0)
    notes.push({ code: 'statements_left_out', detail: [...refused].slice(0, 10).join(', ') })
  if (foreign.length > 0)
    notes.push({ code: 'tables_left_out', detail: foreign.slice(0, 10).map(bare).join(', ') })
  if (odd > 0) notes.push({ code: 'rows_left_out', detail: String(odd) })
  return { prefix: isMoved ? usualPrefix : prefix, tables: own.length, rows, notes }
}
