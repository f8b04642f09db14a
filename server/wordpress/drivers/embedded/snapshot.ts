// The SQLite database of a site: one moment of it, and what it comes to.
import { createHash } from 'node:crypto'
import fs from 'node:fs/promises'
import { backup, DatabaseSync } from 'node:sqlite'
import type { CopyFigures } from '../../driver.ts'

/** As long as one of WordPress's own transactions may last. */
const lockWaitMs = 60_000

/** The file is the customer's: its schema is not trusted with functions, and nothing is loaded. */
function open(file: string, readOnly: boolean): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly, allowExtension: false, enableForeignKeyConstraints: false, timeout: lockWaitMs })
  database.exec('pragma trusted_schema = off')
  return database
}

/** Rows and checksum of each table, in the order of the names. */
function countTables(database: DatabaseSync): CopyFigures['tables'] {
  const names = database.prepare("select name from sqlite_schema where type = 'table' order by name").all() as { name: string }[]
  return names.map(({ name }) => {
    // Without an index the rows come in the order in which they are stored, which a copy keeps.
    const rows = database.prepare(`select * from "${name.replaceAll('"', '""')}" not indexed`)
    rows.setReturnArrays(true)
    rows.setReadBigInts(true)
    const sum = createHash('sha256')
    let count = 0
    for (const row of rows.iterate() as unknown as Iterable<readonly unknown[]>) {
      count++
      for (const value of row) {
        const bytes = value instanceof Uint8Array ? value : Buffer.from(String(value))
        // Type and length keep neighbours apart: NULL is not 'null', and 'ab','c' is not 'a','bc'.
        sum.update(`${value === null ? 'null' : typeof value} ${bytes.length} `).update(bytes)
      }
    }
    return { name, rows: count, sha256: sum.digest('hex') }
  })
}

/** Copies the database as it is at one moment into `target`, and counts it in the same transaction; writers wait for that long. */
export async function snapshotDatabase(file: string, target: string): Promise<CopyFigures['tables']> {
  await fs.rm(target, { force: true })
  // SQLite would make an empty one.
  await fs.access(file)
  // Not read-only: a transaction that a kill cut short is rolled back first.
  const database = open(file, false)
  try {
    database.exec('begin')
    const tables = countTables(database)
    await backup(database, target, { rate: 10_000 })
    database.exec('commit')
    return tables
  } finally {
    database.close()
  }
}

/** Counts a database that nobody writes to. Throws when its structure is damaged. */
export function readDatabase(file: string): CopyFigures['tables'] {
  const database = open(file, true)
  try {
    const [verdict] = database.prepare('pragma integrity_check(1)').all() as { integrity_check: string }[]
    if (verdict?.integrity_check !== 'ok') throw new Error(`the database is damaged: ${verdict?.integrity_check}`)
    return countTables(database)
  } finally {
    database.close()
  }
}
