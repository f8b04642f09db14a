/**
 * What a merchant and the banks do to a payment that was made: refunds that fail, disputes that are
 * opened, won and lost.
 */
import type { Transaction } from '../database.ts'
import { invalid, ok, type Answer } from './answer.ts'
import type { Charge, Payment, Tell } from './intents.ts'
import { load, newId, save, type Stored } from './store.ts'

interface Refund extends Stored {
  amount: number
  charge: string
  status: string
}
export interface Dispute extends Stored {
  amount: number
  charge: string
  payment_intent: string
  status: string
}

/** The bank did not take the money of a refund that had gone through. */
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
  await tell(tx, 'refund.failed', refund)
  return ok(refund)
}

/** The cardholder asks the bank for the money back; it leaves the merchant's balance at once. */
export async function openDispute(tx: Transaction, payment: Payment, tell: Tell): Promise<Answer> {
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
    status: 'needs_response',
    balance_transactions: [],
    metadata: {},
    livemode: false,
  }
  await save(tx, charge)
  await save(tx, dispute)
  await tell(tx, 'charge.dispute.created', dispute)
  await tell(tx, 'charge.dispute.funds_withdrawn', dispute)
  return ok(dispute)
}

export async function closeDispute(
  tx: Transaction,
  id: string,
  won: boolean,
  tell: Tell,
): Promise<Answer> {
  const dispute = await load<Dispute>(tx, 'dispute', id)
  if (dispute?.status !== 'needs_response') return invalid('No such dispute.', {}, 404)
  dispute.status = won ? 'won' : 'lost'
  await save(tx, dispute)
  if (won) await tell(tx, 'charge.dispute.funds_reinstated', dispute)
  await tell(tx, 'charge.dispute.closed', dispute)
  return ok(dispute)
}
