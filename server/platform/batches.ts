/** Deletes from large tables in short statements, so that no lock and no transaction lasts long. */
import { sql } from 'kysely'
import type { Clock } from './clock.ts'
import { days, later } from './clock.ts'
import type { Queryable } from './db.ts'
import { agesOf, given, type Age, type AgedTable } from './retention.ts'

const rowsAtOnce = 5000

/** Which rows of an age, besides their column. */
function only({ only: one }: Age) {
  if (!one) return sql``
  if (one.is === null) return sql`and ${sql.ref(one.column)} is null`
  if (one.is === given) return sql`and ${sql.ref(one.column)} is not null`
  // The value is a literal in the statement: a prepared plan cannot use a partial index that covers
  // one value only.
  return sql`and ${sql.ref(one.column)} = ${sql.lit(one.is)}`
}

/**
 * Deletes the rows that the list of retention keeps no longer, in batches, the oldest first. An
 * index has to lead to them.
 */
export async function dropOld(db: Queryable, clock: Clock, table: AgedTable): Promise<void> {
  const now = clock.now()
  for (const age of agesOf(table)) {
    const before = later(now, -days(age.days))
    const most = age.rowsAtOnce ?? rowsAtOnce
    for (;;) {
      const { numAffectedRows = 0n } = await sql`
        delete from ${sql.table(table)} where ctid = any (array(
          select ctid from ${sql.table(table)} where ${sql.ref(age.column)} < ${before} ${only(age)}
          order by ${sql.ref(age.column)} limit ${most}
        ))`.execute(db)
      if (numAffectedRows < BigInt(most)) break
    }
  }
}
