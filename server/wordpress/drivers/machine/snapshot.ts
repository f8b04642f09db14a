// Snapshots and checksums of a site's SQLite database. The file is the customer's, who may have
// written any bytes into it: no expression in it is evaluated, and no file beside it is trusted.
import { createHash, type Hash } from 'node:crypto'
import fs from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { backup, DatabaseSync } from 'node:sqlite'
import type { CopyFigures } from '../../driver.ts'

/** How long a lock is waited for: as long as WordPress's own transactions may last. */
export const lockWaitMs = 60_000
/**
 * Longest value and row, bytes (SQLITE_LIMIT_LENGTH). WordPress writes none above its upload limit,
 * and each is held in memory twice.
 */
export const maxRowBytes = 64 * 1_048_576
/** Most memory of SQLite, bytes; its page cache is far smaller. */
const heapBytes = 4 * maxRowBytes
/**
 * Before this version a forged journal could make SQLite delete any file that the process may
 * delete.
 */
const safeSqlite = [3, 53, 4] as const
/** The last eight bytes of a journal that names a super-journal (SQLite's file format, 3). */
const superJournalMark = Buffer.from('d9d505f920a163d7', 'hex')
/** How often, and at which interval, a journal that is being written is copied again. */
const settleTries = 20
const settleMs = 250

/** The customer's database cannot be backed up, however often it is tried. */
export class UnfitDatabase extends Error {
  override readonly name = 'UnfitDatabase'
}

/** Throws unless Node's version of SQLite is safe for customers' files. */
export function requireSafeSqlite(version: string = process.versions['sqlite'] ?? '0'): void {
  const parts = version.split('.').map(Number)
  const at = safeSqlite.findIndex((least, index) => (parts[index] ?? 0) !== least)
  if (at >= 0 && (parts[at] ?? 0) < safeSqlite[at]!)
    throw new Error(`SQLite ${version} is too old for customers' files: run the pinned Node`)
}

function open(file: string, readOnly: boolean): DatabaseSync {
  requireSafeSqlite()
  const database = new DatabaseSync(file, {
    readOnly,
    allowExtension: false,
    enableForeignKeyConstraints: false,
    timeout: lockWaitMs,
    limits: { length: maxRowBytes, attach: 0 },
  })
  // The schema may call neither functions nor virtual tables, and its own checks do not run.
  database.exec(
    `pragma trusted_schema = off; pragma ignore_check_constraints = on;
     pragma hard_heap_limit = ${heapBytes}`,
  )
  return database
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Adds one value of one row, as SQLite gives it with integers as bigint, to a table's checksum. */
export function addToSum(sum: Hash, value: unknown): void {
  const bytes = value instanceof Uint8Array ? value : Buffer.from(String(value))
  // Type and length separate the values: NULL is not 'null', and 'ab','c' is not 'a','bc'.
  sum.update(`${value === null ? 'null' : typeof value} ${bytes.length} `).update(bytes)
}

/**
 * Rows and checksum of each table, in the order of names. Only stored values count: computed
 * columns and virtual tables store nothing of their own, and may be made arbitrarily costly.
 */
function countTables(database: DatabaseSync): CopyFigures['tables'] {
  const names = database
    .prepare(
      `select name from pragma_table_list
       where schema = 'main' and type in ('table', 'shadow') and name <> 'sqlite_schema'
       order by name`,
    )
    .all() as { name: string }[]
  const stored = database.prepare('select name from pragma_table_xinfo(?) where hidden = 0')
  return names.map(({ name }) => {
    const columns = (stored.all(name) as { name: string }[]).map((one) => quoted(one.name))
    // Without an index the rows come in their stored order, which a copy keeps.
    const rows = database.prepare(
      `select ${columns.join(', ')} from main.${quoted(name)} not indexed`,
    )
    rows.setReturnArrays(true)
    rows.setReadBigInts(true)
    const sum = createHash('sha256')
    let count = 0
    for (const row of rows.iterate() as unknown as Iterable<readonly unknown[]>) {
      count++
      for (const value of row) addToSum(sum, value)
    }
    return { name, rows: count, sha256: sum.digest('hex') }
  })
}

/**
 * An UnfitDatabase with SQLite's message where the error is about the customer's data, and not
 * about this machine.
 */
function judged(error: unknown): unknown {
  const { errcode, message } = error as { errcode?: number; message?: string }
  // SQLITE_TOOBIG, SQLITE_NOMEM.
  if (errcode === 18 || errcode === 7)
    return new UnfitDatabase(
      `a row of the database is larger than ${maxRowBytes / 1_048_576} MB, or takes as much memory`,
    )
  // SQLITE_CORRUPT, SQLITE_NOTADB.
  if (errcode !== undefined && [11, 26].includes(errcode & 255))
    return new UnfitDatabase(`the database is damaged: ${message}`)
  return error
}

async function copyAtOneMoment(
  database: DatabaseSync,
  target: string,
): Promise<CopyFigures['tables']> {
  database.exec('begin')
  const tables = countTables(database)
  await backup(database, target, { rate: 10_000 })
  database.exec('commit')
  return tables
}

const exists = (file: string): Promise<boolean> =>
  fs.access(file).then(
    () => true,
    () => false,
  )

const stateOf = async (file: string): Promise<string> => {
  const { ino, size, mtimeMs } = await fs.stat(file)
  return `${ino} ${size} ${mtimeMs}`
}

/** Whether the journal names another file, which SQLite would look at and remove. */
async function namesAnother(journal: string): Promise<boolean> {
  const handle = await fs.open(journal)
  try {
    const { size } = await handle.stat()
    if (size < superJournalMark.length) return false
    const end = Buffer.alloc(superJournalMark.length)
    await handle.read(end, 0, end.length, size - end.length)
    return end.equals(superJournalMark)
  } finally {
    await handle.close()
  }
}

/**
 * Copies a database that an interrupted transaction left with its journal. Both are copied in the
 * same state, to a place of ours, where the journal may be played back.
 */
async function copyWithJournal(file: string, copy: string): Promise<void> {
  for (let turn = 0; turn < settleTries; turn++) {
    const journals = []
    for (const suffix of ['-journal', '-wal'])
      if (await exists(file + suffix)) journals.push(suffix)
    const names = ['', ...journals]
    try {
      const before = await Promise.all(names.map((suffix) => stateOf(file + suffix)))
      for (const suffix of names) await fs.copyFile(file + suffix, copy + suffix)
      const after = await Promise.all(names.map((suffix) => stateOf(file + suffix)))
      if (before.join() === after.join()) {
        if (journals.includes('-journal') && (await namesAnother(`${copy}-journal`)))
          throw new UnfitDatabase('the journal of the database names another file')
        return
      }
    } catch (error) {
      // The site has just played the journal back itself.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
    for (const suffix of ['', '-journal', '-wal']) await fs.rm(copy + suffix, { force: true })
    await pause(settleMs)
  }
  throw new Error('the database does not come to rest')
}

/**
 * Copies a snapshot of the database into `target`, and counts it in the same transaction; writers
 * wait for that long. The customer's folder is only read: after an interrupted transaction its
 * journal is played back on a copy beside `target`.
 * @throws UnfitDatabase where trying again does not help
 */
export async function snapshotDatabase(
  file: string,
  target: string,
): Promise<CopyFigures['tables']> {
  await fs.rm(target, { force: true })
  // Without this check SQLite would make an empty database.
  await fs.access(file)
  try {
    let database = open(file, true)
    try {
      return await copyAtOneMoment(database, target)
    } catch (error) {
      // SQLITE_READONLY (a journal to be played back), SQLITE_CANTOPEN (a write-ahead log).
      const code = (error as { errcode?: number }).errcode ?? 0
      if (![8, 14].includes(code & 255)) throw error
    } finally {
      database.close()
    }
    const copy = `${target}.cut`
    await copyWithJournal(file, copy)
    database = open(copy, false)
    try {
      return await copyAtOneMoment(database, target)
    } finally {
      database.close()
    }
  } catch (error) {
    throw judged(error)
  }
}

/**
 * Replaces the database in `file` by the one in `source`, in one transaction that a kill undoes;
 * programs that have it open read the new one with their next statement.
 */
export async function replaceDatabase(source: string, file: string): Promise<void> {
  const database = open(source, true)
  try {
    // All pages are copied in one step.
    await backup(database, file, { rate: 1_000_000_000 })
  } catch (error) {
    throw judged(error)
  } finally {
    database.close()
  }
}

/** Lets `read` read a database that nobody writes to. Throws UnfitDatabase where it is damaged. */
export function withDatabase<T>(file: string, read: (database: DatabaseSync) => T): T {
  const database = open(file, true)
  try {
    return read(database)
  } catch (error) {
    throw judged(error)
  } finally {
    database.close()
  }
}

/**
 * Lets `write` write to a database of ours that nobody else uses, and that the caller throws away
 * if this throws. Throws UnfitDatabase for data that SQLite cannot hold.
 */
export function withWritten<T>(file: string, write: (database: DatabaseSync) => T): T {
  const database = open(file, false)
  try {
    database.exec('pragma journal_mode = memory; pragma synchronous = off')
    return write(database)
  } catch (error) {
    throw judged(error)
  } finally {
    database.close()
  }
}

/** Counts a database that nobody writes to. Throws when its structure is damaged. */
export function readDatabase(file: string): CopyFigures['tables'] {
  return withDatabase(file, (database) => {
    // quick_check does not read the indexes' content: an index on an expression would be computed.
    const [verdict] = database.prepare('pragma quick_check(1)').all() as {
      quick_check: string
    }[]
    if (verdict?.quick_check !== 'ok')
      throw new UnfitDatabase(`the database is damaged: ${verdict?.quick_check}`)
    return countTables(database)
  })
}
