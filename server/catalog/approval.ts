/** Whether a publication needs a second member. */
import { hours, later, type Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { changesMuch } from './changes.ts'
import { read, type Prepared } from './publish.ts'
import { sellingOf } from './selling.ts'
import { versionBefore, type VersionRow } from './versions.ts'

/** Price changes within this time count as one. */
export const aloneMs = hours(24)

/** Whether a second member approved the use of a shell's file as this version. */
export type IsApprovedUse = (version: number) => Promise<boolean>

async function isApproved(
  db: Queryable,
  row: VersionRow,
  isApprovedUse: IsApprovedUse,
): Promise<boolean> {
  if (row.publication_id === null) return await isApprovedUse(row.version)
  const { approved_by: approvedBy } = await db
    .selectFrom('catalog_publication')
    .select('approved_by')
    .where('id', '=', row.publication_id)
    .executeTakeFirstOrThrow()
  return approvedBy !== null
}

/**
 * Whether a second member must approve: a plan is new, or a price changes by more than a fifth,
 * also by several changes within a day that nobody approved. A version that this release cannot
 * read is skipped: the comparison goes on with the one before it.
 */
export async function needsApproval(
  db: Queryable,
  clock: Clock,
  { present, after }: Pick<Prepared, 'present' | 'after'>,
  isApprovedUse: IsApprovedUse,
): Promise<boolean> {
  const since = later(clock.now(), -aloneMs)
  const wanted = sellingOf(after)
  for (let row: VersionRow | undefined = present; row;) {
    const catalog = read(row)
    if (catalog && changesMuch(sellingOf(catalog), wanted)) return true
    // A file that a process brought at its start is no act that could be approved: the comparison
    // ends there.
    const ends = row.at < since || row.source === 'file'
    if (catalog && (ends || (await isApproved(db, row, isApprovedUse)))) return false
    row = await versionBefore(db, row.version)
  }
  return false
}
