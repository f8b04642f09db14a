/** Erases the staff's texts about customers who have closed their accounts. */
import { sql } from 'kysely'
import { accountsThatAre } from '../auth/index.ts'
import type { Clock } from '../platform/clock.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import { erasure } from './trail-hash.ts'
import { eraseActs, erasers, holdTrail } from './trail.ts'

/** Who has rejected the proposals about a customer who closes the account. */
export const leaver = 'account closed'

/**
 * For a customer who closes the account: erases notes, labels, and personal data in proposals and
 * in the trail, which the caller has locked. Pending proposals become void.
 */
export async function forgetAtDesk(tx: Tx, clock: Clock, customerId: string): Promise<void> {
  await tx
    .updateTable('operator_proposal')
    .set({ rejected_at: clock.now(), rejected_by: leaver })
    .where('customer_id', '=', customerId)
    .where('act_seq', 'is', null)
    .where('rejected_at', 'is', null)
    .execute()
  await tx
    .updateTable('operator_proposal')
    .set({ input: '{}', reason: null })
    .where('customer_id', '=', customerId)
    .execute()
  await eraseActs(tx, clock, customerId, erasers.customer)
  await forgetWords(tx, customerId)
}

async function forgetWords(tx: Tx, customerId: string): Promise<void> {
  await tx.deleteFrom('customer_note').where('customer_id', '=', customerId).execute()
  await tx.deleteFrom('customer_label').where('customer_id', '=', customerId).execute()
}

/** Customers of one run; the next run takes the next ones. */
const customersAtOnce = 20

/** Proposals that can no longer be approved. */
const ended = (now: Date) =>
  sql<boolean>`(act_seq is not null or rejected_at is not null or expires_at <= ${now})`

/**
 * The same for accounts that were closed by a release that erased no acts (2 and older), and for
 * later acts on a closed account. A proposal that waits for approval stays until it is decided.
 */
export async function forgetClosed(db: Database, clock: Clock): Promise<void> {
  const now = clock.now()
  const { rows } = await sql<{ id: string }>`
    select id from (${accountsThatAre(db, 'closed')}) c where (
      exists (select from operator_act where customer_id = c.id and erased_by is null
        and act <> ${erasure})
      or exists (select from operator_proposal where customer_id = c.id and ${ended(now)}
        and (reason is not null or input <> '{}'))
      or exists (select from customer_note where customer_id = c.id)
      or exists (select from customer_label where customer_id = c.id))
    limit ${customersAtOnce}`.execute(db)
  for (const { id } of rows)
    await transaction(db, async (tx) => {
      await holdTrail(tx)
      await tx
        .updateTable('operator_proposal')
        .set({ input: '{}', reason: null })
        .where('customer_id', '=', id)
        .where(ended(now))
        .execute()
      await eraseActs(tx, clock, id, erasers.portal)
      await forgetWords(tx, id)
    })
}
