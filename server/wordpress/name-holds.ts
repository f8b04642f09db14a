/**
 * Accounts' entries for host names, and how an entry ends because another account proved the name.
 */
import type { Queryable, Tx } from '../platform/db.ts'
import type { OtherHold } from './ownership.ts'

interface Hold extends OtherHold {
  /** The token by which the name was taken from another account; null: it was not taken. */
  readonly challenge: string | null
}

/** The entry of whichever account that holds exactly this name. */
export const holdOf = (db: Queryable, name: string): Promise<Hold | undefined> =>
  db
    .selectFrom('site_domain')
    .select(['id', 'customer_id as customerId', 'challenge'])
    .where('name', '=', name)
    .where('released_at', 'is', null)
    .executeTakeFirst()

/** As `holdOf`, but only an entry of another account. */
export async function otherHoldOf(
  db: Queryable,
  name: string,
  customerId: string,
): Promise<OtherHold | null> {
  const hold = await holdOf(db, name)
  return hold && hold.customerId !== customerId ? hold : null
}

/**
 * Ends the entry that a proof was made against, if it still belongs to the same account; answers
 * the server that loses the name. An entry made since then needs a proof of its own.
 */
export async function releaseOther(
  tx: Tx,
  of: { readonly name: string; readonly hold: OtherHold | null; readonly now: Date },
): Promise<string | undefined> {
  if (!of.hold) return undefined
  const former = await tx
    .updateTable('site_domain')
    .set({ released_at: of.now })
    .where('id', '=', of.hold.id)
    .where('name', '=', of.name)
    .where('customer_id', '=', of.hold.customerId)
    .where('released_at', 'is', null)
    .returning('site_id')
    .executeTakeFirst()
  return former?.site_id
}
