/**
 * Proposals that end without approval: rejected, void after 24 hours, or about a customer who has
 * left. Whoever proposed one is told by letter, the operator's programs by an event, each once.
 */
import type { Selectable } from 'kysely'
import type { DB } from '../platform/db-types.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import { memberOf } from '../staff/index.ts'
import type { ActNeeds } from './acts.ts'
import { leaver } from './forget.ts'
import { proposalEnded, type ProposalEnd } from './letters.ts'

type Row = Selectable<DB['operator_proposal']>
type Needs = Pick<ActNeeds, 'clock' | 'mail' | 'outbox' | 'brandName' | 'portalUrl'>

const atOnce = 50

/**
 * Tells of the end and notes that it was told. The caller has locked the row. `how` is undefined
 * for a proposal that its proposer withdrew: no letter is sent.
 */
export async function tellEnded(
  tx: Tx,
  needs: Needs,
  row: Row,
  how: ProposalEnd | undefined,
): Promise<void> {
  const { id, act, customer_id: customerId, staff_id: proposer, reason } = row
  await tx
    .updateTable('operator_proposal')
    .set({ told_at: needs.clock.now() })
    .where('id', '=', id)
    .execute()
  await needs.outbox.tellOperator(tx, {
    event: 'proposal.decided',
    customerId,
    payload: { proposal: { id, act, approved: false } },
  })
  // A user of the shell has no address.
  if (how === undefined || proposer === null) return
  const { email, disabledAt } = await memberOf(tx, proposer)
  if (disabledAt !== null) return
  const { subject, text } = proposalEnded({ ...needs, name: act, reason, how })
  await needs.mail(tx, email, subject, text)
}

/** Tells of the proposals that nobody approved in time, and of those whose customers have left. */
export async function tellOfEnded(db: Database, needs: Needs): Promise<void> {
  const tellSome = async (tx: Tx): Promise<number> => {
    const rows = await tx
      .selectFrom('operator_proposal')
      .selectAll()
      .where('act_seq', 'is', null)
      .where('told_at', 'is', null)
      .where((eb) =>
        eb.or([
          eb.and([eb('rejected_at', 'is', null), eb('expires_at', '<=', needs.clock.now())]),
          eb('rejected_by', '=', leaver),
        ]),
      )
      .orderBy('expires_at')
      .limit(atOnce)
      .forUpdate()
      .skipLocked()
      .execute()
    for (const row of rows)
      await tellEnded(tx, needs, row, row.rejected_at === null ? 'nobody approved' : leaver)
    return rows.length
  }
  while ((await transaction(db, tellSome)) === atOnce);
}

/** The job that looks for them. */
export function defineEndedProposals(
  needs: Needs & { readonly db: Database; readonly jobs: Pick<Jobs, 'define'> },
): void {
  needs.jobs.define({
    name: 'tell-ended-proposals',
    cron: '*/5 * * * *',
    run: () => tellOfEnded(needs.db, needs),
  })
}
