/** Deletes from large tables in short statements, so that no lock and no transaction lasts long. */
import { sql } from 'kysely'
import type { DB } from './db-types.ts'
import type { Queryable } from './db.ts'

const rowsAtOnce = 5000

/** Deletes the rows whose `column` lies before `before`, in batches of 5000. */
export async function deleteInBatches<T extends keyof DB>(
  db: Queryable,
  table: T,
  column: keyof DB[T] & string,
  before: Date,
): Promise<void> {
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid = any (array(
        select ctid from ${sql.table(table)} where ${sql.ref(column)} < ${before}
        limit ${rowsAtOnce}
      ))`.execute(db)
    if (numAffectedRows < BigInt(rowsAtOnce)) return
  }
}
