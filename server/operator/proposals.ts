/**
 * Acts that wait for a second member. One is approved within 24 hours by another member whose role
 * may do the act, of the proposer's role or an owner, and never by the proposer.
 */
import type { Proposal } from '../../contract/operator-desk.ts'
import type { ActName } from '../../contract/operator-acts.ts'
import { mayApproveFor, mayDo, type StaffRole } from '../../contract/staff-roles.ts'
import { showCustomers } from '../auth/index.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import type { StaffCaller } from '../platform/http.ts'
import { approversOf, memberOf } from '../staff/index.ts'
import type { ActNeeds, Actor } from './acts.ts'
import type { Facts } from './canonical.ts'
import { tellEnded } from './ended-proposals.ts'
import { carryOut, endpointOf, keptOf, refuseFormer } from './perform.ts'
import { holdTrail, writeAct } from './trail.ts'

const shownAtOnce = 100

interface Proposed {
  readonly act: string
  readonly staff_id: string | null
  readonly role: string | null
}
/** Whether a member may approve it. */
const mayDecide = (staff: StaffCaller, { act, staff_id: by, role }: Proposed): boolean => {
  const may = endpointOf(act)?.may
  return (
    by !== staff.staffId &&
    may !== undefined &&
    mayDo(staff.role, may) &&
    mayApproveFor(staff.role, role as StaffRole | null)
  )
}

/** The row has the full input that the act runs with; parts of it are shown to nobody. */
const shownInput = ({ act, input }: { readonly act: string; readonly input: unknown }): Facts =>
  endpointOf(act) ? (keptOf(act as ActName, input as never) as Facts) : {}

/** Shown to the proposer if no member may approve. */
export const nobodyApproves: Sentence = {
  en:
    'Nobody else may approve this yet: another owner, or another member of your role. Invite one ' +
    'under “Staff”, or have an owner do so. What nobody approves within 24 hours is void.',
  vi:
    'Hiện chưa có ai khác được phép duyệt việc này: cần một chủ sở hữu khác hoặc một nhân viên ' +
    'cùng vai trò với bạn. Hãy mời thêm người ở mục “Nhân viên”, hoặc nhờ chủ sở hữu mời. Sau 24 ' +
    'giờ không ai duyệt thì đề xuất hết hiệu lực.',
}

/** How many members may decide on each, by their ids. */
async function approversOfEach(
  db: Queryable,
  rows: readonly (Proposed & { readonly id: string })[],
): Promise<ReadonlyMap<string, number>> {
  // Many proposals of one member and permission are one question.
  const asked = new Map<string, Promise<number>>()
  const countOf = ({ act, staff_id: staffId, role }: Proposed): Promise<number> => {
    const permission = endpointOf(act)?.may
    if (permission === undefined) return Promise.resolve(0)
    const key = `${permission} ${staffId} ${role}`
    const of = { permission, staffId, role: role as StaffRole | null }
    const count = asked.get(key) ?? approversOf(db, of).then(({ length }) => length)
    asked.set(key, count)
    return count
  }
  return new Map(await Promise.all(rows.map(async (row) => [row.id, await countOf(row)] as const)))
}

/** Number of proposals that wait, regardless of who may decide on them. */
export async function countProposals(db: Queryable, now: Date): Promise<number> {
  const { n } = await db
    .selectFrom('operator_proposal')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('act_seq', 'is', null)
    .where('rejected_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** Open ones, the oldest first. */
export async function listProposals(
  db: Queryable,
  now: Date,
  staff: StaffCaller,
): Promise<Proposal[]> {
  const rows = await db
    .selectFrom('operator_proposal')
    .selectAll()
    .where('act_seq', 'is', null)
    .where('rejected_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('created_at')
    .limit(shownAtOnce)
    .execute()
  const customers = await showCustomers(
    db,
    rows.flatMap(({ customer_id: id }) => (id === null ? [] : [id])),
  )
  const approvers = await approversOfEach(db, rows)
  return rows.map((row) => ({
    id: row.id,
    act: row.act,
    input: shownInput(row),
    reason: row.reason,
    by: row.actor,
    byRole: row.role as StaffRole | null,
    at: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    mine: row.staff_id === staff.staffId,
    decidable: mayDecide(staff, row),
    approvers: approvers.get(row.id) ?? 0,
    customer: customers.get(row.customer_id ?? '') ?? null,
  }))
}

/**
 * Locks the proposal until the transaction ends. Refuses with not_found, and with conflict when it
 * is decided already.
 */
async function openProposal(tx: Tx, now: Date, id: string) {
  const row = isUuid(id)
    ? await tx
        .selectFrom('operator_proposal')
        .selectAll()
        .where('id', '=', id)
        .forUpdate()
        .executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  if (row.act_seq !== null || row.rejected_at !== null)
    throw new Refusal('conflict', {
      fields: {
        proposal: { en: 'This is decided already.', vi: 'Đề xuất này đã được quyết định.' },
      },
    })
  if (row.expires_at <= now)
    throw new Refusal('conflict', {
      fields: {
        proposal: {
          en: 'Nobody approved this within 24 hours: it is void.',
          vi: 'Không ai duyệt trong 24 giờ nên đề xuất đã hết hiệu lực.',
        },
      },
    })
  return row
}

/** The proposal, locked, and the actor. Refuses with forbidden, not_found and conflict. */
export async function approvable(
  tx: Tx,
  needs: Pick<ActNeeds, 'clock'>,
  staff: StaffCaller,
  { id, address }: { readonly id: string; readonly address: string },
) {
  await holdTrail(tx)
  const row = await openProposal(tx, needs.clock.now(), id)
  if (!mayDecide(staff, row)) throw new Refusal('forbidden')
  await refuseFormer(tx, staff, row.act)
  // The proposer may have left meanwhile or lost the right.
  if (row.staff_id !== null) {
    const proposer = await memberOf(tx, row.staff_id)
    const may = endpointOf(row.act)?.may
    if (proposer.disabledAt !== null || may === undefined || !mayDo(proposer.role, may))
      throw new Refusal('conflict', {
        fields: {
          proposal: {
            en: 'Who proposed this may not do it any more.',
            vi: 'Người đề xuất không còn quyền thực hiện việc này.',
          },
        },
      })
  }
  const actor: Actor = {
    staffId: row.staff_id,
    name: row.actor,
    role: row.role as StaffRole | null,
    address,
    approvedBy: { staffId: staff.staffId, name: staff.name },
    proposedAt: row.created_at,
  }
  return { row, actor }
}

/**
 * Approves and runs the act. Refuses with forbidden a member who may not approve, and as the act
 * itself does. Answers the act's number in the trail.
 */
export async function approve(
  tx: Tx,
  needs: ActNeeds,
  staff: StaffCaller,
  of: { readonly id: string; readonly address: string },
): Promise<number> {
  const { row, actor } = await approvable(tx, needs, staff, of)
  const { act } = await carryOut(tx, needs, actor, {
    name: row.act as ActName,
    input: row.input as never,
    reason: row.reason,
    key: null,
  })
  await tx
    .updateTable('operator_proposal')
    .set({ act_seq: BigInt(act ?? 0) })
    .where('id', '=', row.id)
    .execute()
  await needs.outbox.tellOperator(tx, {
    event: 'proposal.decided',
    customerId: row.customer_id,
    payload: { proposal: { id: row.id, act: row.act, approved: true } },
  })
  return act ?? 0
}

/**
 * Rejects a proposal and tells its proposer, who may also withdraw it. Refuses with forbidden,
 * not_found, conflict.
 */
export async function reject(
  tx: Tx,
  needs: ActNeeds,
  staff: StaffCaller,
  of: { readonly id: string; readonly reason: string; readonly address: string },
): Promise<void> {
  await holdTrail(tx)
  const row = await openProposal(tx, needs.clock.now(), of.id)
  if (row.staff_id !== staff.staffId && !mayDecide(staff, row)) throw new Refusal('forbidden')
  await tx
    .updateTable('operator_proposal')
    .set({ rejected_at: needs.clock.now(), rejected_by: staff.name })
    .where('id', '=', of.id)
    .execute()
  const { staffId, name, role } = staff
  const isWithdrawn = row.staff_id === staffId
  await tellEnded(tx, needs, row, isWithdrawn ? undefined : { by: name, why: of.reason })
  await writeAct(
    tx,
    needs.clock,
    { staffId, name, role, address: of.address },
    {
      act: 'proposal.reject',
      reason: of.reason,
      subject: { kind: 'proposal', id: of.id },
      customerId: row.customer_id,
      input: {},
      before: { act: row.act, input: shownInput(row) },
      after: null,
      key: null,
    },
  )
}
