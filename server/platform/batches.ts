/** Deletes from large tables in short statements, so that no lock and no transaction lasts long. */
import { sql } from 'kysely'
import type { DB } from './db-types.ts'
import type { Queryable } from './db.ts'

const rowsAtOnce = 5000

/**
 * Deletes the rows whose `column` lies before `before`, in batches of 5000; with `only`, those of
 * them where another column holds one value. An index has to lead to them.
 */
export async function deleteInBatches<T extends keyof DB>(
  db: Queryable,
  table: T,
  column: keyof DB[T] & string,
  before: Date,
  only?: { readonly column: keyof DB[T] & string; readonly is: string },
): Promise<void> {
  // As text of the statement, for a prepared plan knows no index that holds one value only.
  const too = only ? sql`and ${sql.ref(only.column)} = ${sql.lit(only.is)}` : sql``
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid = any (array(
        select ctid from ${sql.table(table)} where ${sql.ref(column)} < ${before} ${too}
        limit ${rowsAtOnce}
      ))`.execute(db)
    if (numAffectedRows < BigInt(rowsAtOnce)) return
  }
}
