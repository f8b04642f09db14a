/** What the desk reads of imports, and of a customer who came by one. */
import { sql } from 'kysely'
import type { CustomerImport } from '../../contract/operator-imports.ts'
import { dropOld } from '../platform/batches.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'

const shownAtOnce = 20

/** Those that were begun, newest first. */
export async function listImports(db: Queryable): Promise<CustomerImport[]> {
  const rows = await db
    .selectFrom('customer_import as i')
    .select([
      'i.id',
      'i.file_name',
      'i.started_at',
      'i.started_by',
      'i.total_rows',
      'i.done_rows',
      'i.created',
      'i.skipped',
      'i.without_phone',
      'i.done_at',
      'i.stopped_at',
      'i.letters_asked_at',
    ])
    .where('i.started_at', 'is not', null)
    .orderBy('i.started_at', 'desc')
    .limit(shownAtOnce)
    .execute()
  const counts = await db
    .selectFrom('imported_customer')
    .select((eb) => [
      'import_id',
      eb.fn.count<bigint>('written_at').as('written'),
      eb.fn.count<bigint>('came_at').as('came'),
    ])
    .where('import_id', '=', sql<string>`any (${rows.map(({ id }) => id)}::uuid[])`)
    .groupBy('import_id')
    .execute()
  const countsOf = new Map(counts.map((each) => [each.import_id, each]))
  return rows.map((row) => ({
    id: row.id,
    fileName: row.file_name,
    startedAt: (row.started_at ?? new Date(0)).toISOString(),
    by: row.started_by ?? '',
    rows: row.total_rows,
    done: row.done_rows,
    created: row.created,
    skipped: row.skipped,
    withoutPhone: row.without_phone,
    doneAt: row.done_at?.toISOString() ?? null,
    stoppedAt: row.stopped_at?.toISOString() ?? null,
    lettersAskedAt: row.letters_asked_at?.toISOString() ?? null,
    written: Number(countsOf.get(row.id)?.written ?? 0),
    came: Number(countsOf.get(row.id)?.came ?? 0),
  }))
}

/** How a customer was brought over; null: they registered here. */
export async function importOfCustomer(
  db: Queryable,
  customerId: string,
): Promise<{
  readonly reference: string | null
  readonly importedAt: string
  /** When the customer chose a password; null: not yet. */
  readonly cameAt: string | null
} | null> {
  const row = await db
    .selectFrom('imported_customer')
    .select(['reference', 'imported_at', 'came_at'])
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
  return row
    ? {
        reference: row.reference,
        importedAt: row.imported_at.toISOString(),
        cameAt: row.came_at?.toISOString() ?? null,
      }
    : null
}

/** Customers whose id in the other panel is this text. */
export async function findByReference(
  db: Queryable,
  text: string,
  limit: number,
): Promise<{ readonly customerId: string; readonly text: string }[]> {
  const rows = await db
    .selectFrom('imported_customer')
    .select(['customer_id', 'reference'])
    .where('reference', 'is not', null)
    .where(sql`lower(reference)`, '=', text.toLowerCase())
    .limit(limit)
    .execute()
  return rows.map((row) => ({ customerId: row.customer_id, text: row.reference ?? '' }))
}

/** The customer has set a password: of those who were brought over, the first one counts. */
export async function noteCame(tx: Tx, clock: Clock, customerId: string): Promise<void> {
  await tx
    .updateTable('imported_customer')
    .set({ came_at: clock.now() })
    .where('customer_id', '=', customerId)
    .where('came_at', 'is', null)
    .execute()
}

/** The account is closed: what it was called elsewhere goes with it. */
export async function forgetImported(tx: Tx, customerId: string): Promise<void> {
  await tx.deleteFrom('imported_customer').where('customer_id', '=', customerId).execute()
}

/** Uploads that nobody imported. */
export const dropOldUploads = (db: Queryable, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'customer_import')
