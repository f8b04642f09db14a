/**
 * What a merchant and the banks do to an existing payment: refunds that fail, disputes that are
 * opened, won and lost.
 */
import type { Transaction } from '../database.ts'
import { invalid, missing, ok, type Answer } from './answer.ts'
import type { Charge, Payment, Tell } from './intents.ts'
import { noteMovement } from './balance.ts'
import { load, newId, publicFields, save, type Stored } from './store.ts'

interface Refund extends Stored {
  amount: number
  currency: string
  charge: string
  status: string
}
export interface Dispute extends Stored {
  amount: number
  charge: string
  payment_intent: string
  status: string
  currency: string
  balance_transactions: Stored[]
  evidence: Record<string, unknown>
  evidence_details: {
    due_by: number
    has_evidence: boolean
    past_due: boolean
    submission_count: number
  }
}
/** Time for evidence in seconds, and Stripe's dispute fee in minor units. */
const evidenceSeconds = 7 * 86_400
const disputeFee = 1500

/** Makes a succeeded refund fail: the bank did not accept the money. */
export async function failRefund(tx: Transaction, id: string, tell: Tell): Promise<Answer> {
  const refund = await load<Refund>(tx, 'refund', id)
  const charge = refund && (await load<Charge>(tx, 'charge', refund.charge))
  if (!refund || !charge || refund.status !== 'succeeded')
    return invalid('No such refund.', {}, 404)
  refund.status = 'failed'
  charge.amount_refunded -= refund.amount
  charge.refunded = false
  await save(tx, refund)
  await save(tx, charge)
  await noteMovement(tx, { of: refund, category: 'refund_failure', amount: refund.amount })
  await tell(tx, 'refund.failed', refund)
  return ok(refund)
}

/**
 * Opens a dispute: the cardholder asks the bank for the money back. It leaves the merchant's
 * balance at once, unless the bank only inquires.
 */
export async function openDispute(
  tx: Transaction,
  payment: Payment,
  tell: Tell,
  isInquiry = false,
): Promise<Answer> {
  const charge =
    payment.latest_charge === null
      ? undefined
      : await load<Charge>(tx, 'charge', payment.latest_charge)
  if (!charge || charge.disputed) return invalid('Nothing can be disputed.')
  charge.disputed = true
  const dispute: Dispute = {
    id: newId('dp'),
    object: 'dispute',
    created: Math.floor(Date.now() / 1000),
    amount: charge.amount - charge.amount_refunded,
    charge: charge.id,
    currency: charge.currency,
    payment_intent: payment.id,
    reason: 'fraudulent',
    status: isInquiry ? 'warning_needs_response' : 'needs_response',
    balance_transactions: [],
    evidence: {},
    evidence_details: {
      due_by: Math.floor(Date.now() / 1000) + evidenceSeconds,
      has_evidence: false,
      past_due: false,
      submission_count: 0,
    },
    metadata: {},
    livemode: false,
  }
  await save(tx, charge)
  if (!isInquiry)
    dispute.balance_transactions.push(
      await noteMovement(tx, {
        of: dispute,
        category: 'dispute',
        amount: -dispute.amount,
        fee: disputeFee,
      }),
    )
  await save(tx, dispute)
  await tell(tx, 'charge.dispute.created', dispute)
  if (!isInquiry) await tell(tx, 'charge.dispute.funds_withdrawn', dispute)
  return ok(dispute)
}

/** Takes evidence as the API does: submitted evidence goes to the bank and cannot be changed. */
export async function answerDispute(
  tx: Transaction,
  id: string,
  input: { readonly evidence: Record<string, unknown>; readonly submit: boolean },
  tell: Tell,
): Promise<Answer> {
  const dispute = await load<Dispute>(tx, 'dispute', id)
  if (!dispute) return missing('dispute', id, 'id')
  if (!dispute.status.endsWith('needs_response'))
    return invalid('This dispute is closed, or its evidence was submitted before.')
  Object.assign(dispute.evidence, input.evidence)
  dispute.evidence_details.has_evidence = Object.keys(dispute.evidence).length > 0
  if (input.submit) {
    dispute.status = dispute.status.replace('needs_response', 'under_review')
    dispute.evidence_details.submission_count += 1
  }
  await save(tx, dispute)
  await tell(tx, 'charge.dispute.updated', dispute)
  return ok(publicFields(dispute))
}

export async function closeDispute(
  tx: Transaction,
  id: string,
  won: boolean,
  tell: Tell,
): Promise<Answer> {
  const dispute = await load<Dispute>(tx, 'dispute', id)
  const isOpen = /^(warning_)?(needs_response|under_review)$/.test(dispute?.status ?? '')
  if (!dispute || !isOpen) return invalid('No such dispute.', {}, 404)
  // An inquiry has moved no money, so its end moves none.
  const isInquiry = dispute.status.startsWith('warning_')
  if (isInquiry) {
    dispute.status = 'warning_closed'
    await save(tx, dispute)
    await tell(tx, 'charge.dispute.closed', dispute)
    return ok(publicFields(dispute))
  }
  dispute.status = won ? 'won' : 'lost'
  if (won)
    dispute.balance_transactions.push(
      await noteMovement(tx, {
        of: dispute,
        category: 'dispute_reversal',
        amount: dispute.amount,
        fee: -disputeFee,
      }),
    )
  await save(tx, dispute)
  if (won) await tell(tx, 'charge.dispute.funds_reinstated', dispute)
  await tell(tx, 'charge.dispute.closed', dispute)
  return ok(dispute)
}
