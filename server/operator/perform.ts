/**
 * Does an act, or proposes it where it needs a second member: checked, done and written into the
 * trail in one transaction. Route and command both come through here.
 */
import { randomUUID } from 'node:crypto'
import { mayDo } from '../../contract/staff-roles.ts'
import { acts, type ActInput, type ActName, type ActOutcome } from '../../contract/operator-acts.ts'
import { hours, later } from '../platform/clock.ts'
import { onCommit, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { approversOf, memberOf } from '../staff/index.ts'
import type { Act, ActNeeds, Actor, Registry } from './acts.ts'
import { canonical, type Facts } from './canonical.ts'
import { catalogActs } from './catalog-acts.ts'
import { couponActs } from './coupon-acts.ts'
import { creditLineActs } from './credit-line-acts.ts'
import { customerActs } from './customer-acts.ts'
import { disputeActs } from './dispute-acts.ts'
import { importActs } from './import-acts.ts'
import { moneyActs } from './money-acts.ts'
import { nodeActs } from './node-acts.ts'
import { outgoingWebhookActs } from './outgoing-webhook-acts.ts'
import { payoutActs } from './payout-acts.ts'
import { privacyActs } from './privacy-acts.ts'
import { reconcileActs } from './reconcile-acts.ts'
import { serverActs } from './server-acts.ts'
import { siteMailActs } from './site-mail-acts.ts'
import { approvalAsked } from './letters.ts'
import { staffActs } from './staff-acts.ts'
import { statusActs } from './status-acts.ts'
import { ticketActs } from './ticket-acts.ts'
import { updateActs } from './update-acts.ts'
import { voucherActs } from './voucher-acts.ts'
import { workActs } from './work-acts.ts'
import { actOfKey, actOfSeq, actsSince, holdTrail, writeAct } from './trail.ts'

const registry: Registry = {
  ...catalogActs,
  ...couponActs,
  ...creditLineActs,
  ...customerActs,
  ...disputeActs,
  ...importActs,
  ...moneyActs,
  ...nodeActs,
  ...outgoingWebhookActs,
  ...payoutActs,
  ...privacyActs,
  ...reconcileActs,
  ...serverActs,
  ...siteMailActs,
  ...staffActs,
  ...statusActs,
  ...ticketActs,
  ...updateActs,
  ...voucherActs,
  ...workActs,
}
/** The act by the name that its input was parsed under. */
const actOf = (name: ActName): Act<ActInput<ActName>> => registry[name] as Act<ActInput<ActName>>

/** Time after which a proposal without approval is void, ms. */
export const proposalMs = hours(24)

export interface Wanted {
  readonly name: ActName
  readonly input: ActInput<ActName>
  readonly reason: string | null
  readonly key: string | null
}

/** A body as the contract reads it, taken apart. */
export function wantedOf(
  name: ActName,
  body: { readonly reason?: string | undefined; readonly key?: string | undefined },
): Wanted {
  const { reason, key, ...input } = body
  return {
    name,
    input: input as ActInput<ActName>,
    reason: reason ?? null,
    key: key ?? null,
  }
}

/** The part of the input that the trail keeps and that is shown. */
export const keptOf = (name: ActName, input: ActInput<ActName>): object =>
  actOf(name).kept?.(input) ?? input
const plain = (value: unknown): Facts => JSON.parse(canonical(value)) as Facts

type Outcome = Omit<ActOutcome, 'notice'> & { readonly told?: Readonly<Record<string, string>> }

/**
 * The act or proposal under this idempotency key. A proposal that has ended without approval gives
 * its key back, because the same press means a new proposal then. Refuses a different act with
 * idempotency_key_reused.
 */
async function earlier(
  tx: Tx,
  now: Date,
  { name, input, key }: Wanted,
): Promise<Outcome | undefined> {
  if (key === null) return undefined
  await tx
    .updateTable('operator_proposal')
    .set({ key: null })
    .where('key', '=', key)
    .where('act_seq', 'is', null)
    .where((eb) => eb.or([eb('rejected_at', 'is not', null), eb('expires_at', '<=', now)]))
    .execute()
  const proposed = await tx
    .selectFrom('operator_proposal')
    .select(['id', 'act', 'input', 'act_seq'])
    .where('key', '=', key)
    .executeTakeFirst()
  // An act that a second member approved is in the trail without the key.
  const approved = proposed?.act_seq ?? null
  const done = approved === null ? await actOfKey(tx, key) : await actOfSeq(tx, approved)
  const found = proposed ?? done
  if (!found) return undefined
  if (found.act !== name) throw new Refusal('idempotency_key_reused')
  // A proposal has the whole input, the trail only the kept part: compare that part, because the
  // rest may differ between tries.
  const before = proposed ? keptOf(name, proposed.input as typeof input) : found.input
  const kept = keptOf(name, input)
  // What this try leaves out as well was fixed when it was proposed.
  const meant = proposed && actOf(name).fixed ? { ...(before as object), ...kept } : kept
  if (canonical(before) !== canonical(meant)) throw new Refusal('idempotency_key_reused')
  const seq = done?.seq ?? null
  return {
    state: seq === null ? 'proposed' : 'done',
    act: seq === null ? null : Number(seq),
    proposal: proposed?.id ?? null,
    repeated: true,
    before: (done?.before ?? null) as Facts | null,
    after: (done?.after ?? null) as Facts | null,
  }
}

/** Runs an act that may be done now. The caller holds the trail. */
export async function carryOut(
  tx: Tx,
  needs: ActNeeds,
  actor: Actor,
  { name, input, reason, key }: Wanted,
): Promise<Outcome> {
  const done = await actOf(name).run(tx, needs, actor, input, reason)
  const before = done.before && plain(done.before)
  const after = done.after && plain(done.after)
  const { seq, hash } = await writeAct(tx, needs.clock, actor, {
    act: name,
    reason,
    subject: done.subject,
    customerId: done.customerId ?? null,
    input: plain(keptOf(name, input)),
    before,
    after,
    key,
  })
  onCommit(tx, () =>
    needs.log.info(
      { event: 'operator_act', act: name, seq: Number(seq), hash: hash.toString('hex') },
      'an act of the operator',
    ),
  )
  return {
    state: 'done',
    act: Number(seq),
    proposal: null,
    repeated: false,
    before,
    after,
    ...(done.told && { told: done.told }),
    ...(done.link !== undefined && { link: done.link }),
    ...(done.secret !== undefined && { secret: done.secret }),
  }
}

/** For so long an equal act of a command counts as a repeat by mistake, ms. */
const repeatMs = hours(24)

/**
 * Refuses with conflict a command without a key whose act was done, or proposed, a short while ago
 * with the same input: a shell that hung up says nothing of what its command did. The desk's
 * dialogs have a key each.
 */
async function refuseRepeat(
  tx: Tx,
  now: Date,
  { staffId }: Actor,
  { name, input, key }: Wanted,
): Promise<void> {
  if (key !== null || staffId !== null || !actOf(name).repeatNeedsKey) return
  const kept = canonical(keptOf(name, input))
  // The trail masks a code that was given, so two codes may look the same there. Nothing is made
  // twice under one code, which the act itself refuses.
  const hasCode = 'code' in input && input.code !== undefined
  const done = (hasCode ? [] : await actsSince(tx, name, later(now, -repeatMs))).find(
    (act) => canonical(act.input) === kept,
  )
  if (done)
    throw repeated(
      `done at ${done.at.toISOString()} (act ${done.seq})`,
      `được thực hiện (act ${done.seq})`,
    )
  const waiting = await tx
    .selectFrom('operator_proposal')
    .select(['id', 'input'])
    .where('act', '=', name)
    .where('act_seq', 'is', null)
    .where('rejected_at', 'is', null)
    .where('expires_at', '>', now)
    .execute()
  // A proposal has the whole input, with its code, and with what was fixed when it was proposed.
  const isSame = (proposed: object): boolean =>
    canonical(proposed) === canonical(actOf(name).fixed ? { ...proposed, ...input } : input)
  const found = waiting.find((one) => isSame(one.input as object))
  if (found)
    throw repeated(
      `proposed and waits for approval (proposal ${found.id})`,
      `được đề xuất và đang chờ duyệt (${found.id})`,
    )
}

const repeated = (how: string, vi: string): Refusal =>
  new Refusal('conflict', {
    fields: {
      key: {
        en: `The same was ${how}. Nothing was done now. To do it once more, add --again.`,
        vi:
          `Thao tác này đã ${vi} nên lần này không làm gì. ` +
          'Nếu muốn làm thêm một lần nữa, hãy thêm --again.',
      },
    },
  })

async function propose(
  tx: Tx,
  needs: ActNeeds,
  actor: Actor,
  { name, input, reason, key }: Wanted,
): Promise<Outcome> {
  const id = randomUUID()
  const now = needs.clock.now()
  const customerId = (await actOf(name).customer?.(tx, input, needs)) ?? null
  await tx
    .insertInto('operator_proposal')
    .values({
      id,
      act: name,
      input: canonical(input),
      reason,
      key,
      staff_id: actor.staffId,
      actor: actor.name,
      role: actor.role,
      customer_id: customerId,
      created_at: now,
      expires_at: later(now, proposalMs),
    })
    .execute()
  await needs.outbox.tellOperator(tx, {
    event: 'proposal.made',
    customerId,
    payload: { proposal: { id, act: name, expires_at: later(now, proposalMs).toISOString() } },
  })
  const permission = endpointOf(name)?.may
  const approvers = permission === undefined ? [] : await approversOf(tx, { permission, ...actor })
  const { subject, text } = approvalAsked({ ...needs, name, by: actor.name, reason })
  for (const email of approvers) await needs.mail(tx, email, subject, text)
  const proposal = { act: name, input: plain(keptOf(name, input)) }
  await writeAct(tx, needs.clock, actor, {
    act: 'proposal.make',
    reason,
    subject: { kind: 'proposal', id },
    customerId,
    input: proposal,
    before: null,
    after: proposal,
    key: null,
  })
  return {
    state: 'proposed',
    approvers: approvers.length,
    act: null,
    proposal: id,
    repeated: false,
    before: null,
    after: null,
  }
}

/**
 * Refuses with forbidden a member who was disabled or lost the right while waiting for the trail's
 * lock.
 */
export async function refuseFormer(
  tx: Tx,
  { staffId }: Pick<Actor, 'staffId'>,
  name: string,
): Promise<void> {
  if (staffId === null) return
  const { disabledAt, role } = await memberOf(tx, staffId)
  const may = endpointOf(name)?.may
  if (disabledAt !== null || may === undefined || !mayDo(role, may)) throw new Refusal('forbidden')
}

/** Refuses as the act does, and with idempotency_key_reused. */
export async function perform(
  tx: Tx,
  needs: ActNeeds,
  actor: Actor,
  wanted: Wanted,
): Promise<Outcome> {
  await holdTrail(tx)
  await refuseFormer(tx, actor, wanted.name)
  const before = await earlier(tx, needs.clock.now(), wanted)
  if (before) return before
  await refuseRepeat(tx, needs.clock.now(), actor, wanted)
  const { name, input } = wanted
  const needsSecond = (await actOf(name).needsSecond?.(tx, needs, input, actor)) ?? false
  const fixed = needsSecond ? await actOf(name).fixed?.(tx, needs, input) : undefined
  return needsSecond
    ? await propose(tx, needs, actor, { ...wanted, input: fixed ?? input })
    : await carryOut(tx, needs, actor, wanted)
}

/** The endpoint of an act by its name. Undefined: no such act. */
export const endpointOf = (name: string): (typeof acts)[ActName] | undefined =>
  Object.hasOwn(acts, name) ? acts[name as ActName] : undefined
