/** Sessions that ended by themselves: their sockets close when their rows go. */
import { dropOld } from '../platform/batches.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import type { EndNeeds } from './session.ts'

/** Expired sessions that one transaction ends. */
const expiredAtOnce = 500

/** Deletes expired sessions, and closes what is still open under them. */
export async function dropExpired(db: Database, { clock, endLive }: EndNeeds): Promise<void> {
  // One moment for all: what expires meanwhile waits for the next run, and is closed by it.
  const now = clock.now()
  const endSome = async (tx: Tx): Promise<number> => {
    const expired = await tx
      .selectFrom('session')
      .select('id')
      .where('expires_at', '<', now)
      .orderBy('id')
      .limit(expiredAtOnce)
      .forUpdate()
      .execute()
    const ids = expired.map(({ id }) => id)
    if (ids.length === 0) return 0
    await endLive(tx, ids)
    await tx.deleteFrom('session').where('id', 'in', ids).execute()
    return ids.length
  }
  while ((await transaction(db, endSome)) === expiredAtOnce);
  await dropOld(db, { now: () => now }, 'session')
}
