/** Disputes at Stripe: https://docs.stripe.com/api/disputes */
import type Stripe from 'stripe'
import { DriverFailure } from '../../../platform/errors.ts'
import type { DisputeCalls, GatewayDispute } from '../../driver.ts'
import { callStripe, callStripeOrNull } from './failure.ts'
import { currencyOf, idOf, momentOf } from './wire.ts'

const pageSize = 100

const states: Readonly<Record<string, GatewayDispute['state']>> = {
  warning_needs_response: 'needs_evidence',
  warning_under_review: 'under_review',
  warning_closed: 'closed',
  needs_response: 'needs_evidence',
  under_review: 'under_review',
  // An appeal is made and answered at Stripe's own desk: nothing is sent from here.
  appeal_needs_response: 'under_review',
  appeal_under_review: 'under_review',
  won: 'won',
  lost: 'lost',
  prevented: 'closed',
}

/** Undefined: the dispute's currency or kind is not one of ours. */
function disputeOf(dispute: Stripe.Dispute): GatewayDispute | undefined {
  const currency = currencyOf(dispute.currency)
  const paymentRef = idOf(dispute.payment_intent)
  const state = states[dispute.status]
  if (currency === undefined || paymentRef === null || state === undefined) return undefined
  const moved = dispute.balance_transactions
  const total = moved.reduce((sum, { amount }) => sum + amount, 0)
  let money: GatewayDispute['money'] = 'kept'
  if (moved.length > 0) money = total < 0 ? 'taken' : 'returned'
  const due = dispute.evidence_details?.due_by ?? null
  return {
    id: dispute.id,
    paymentRef,
    state,
    isInquiry: dispute.status.startsWith('warning_'),
    amount: BigInt(dispute.amount),
    currency,
    reason: dispute.reason,
    openedAt: momentOf(dispute.created),
    evidenceDueAt: due === null ? null : momentOf(due),
    fee: moved.length === 0 ? null : BigInt(moved.reduce((sum, { fee }) => sum + fee, 0)),
    money,
  }
}

function known(dispute: Stripe.Dispute): GatewayDispute {
  const read = disputeOf(dispute)
  if (!read) throw new DriverFailure('rejected', 'stripe: a dispute of another kind')
  return read
}

export function disputesOf(stripe: Stripe): DisputeCalls {
  return {
    longestText: 20_000,
    async get(id) {
      const found = await callStripeOrNull(stripe.disputes.retrieve(id))
      return (found && disputeOf(found)) ?? null
    },
    async list(since) {
      const found: GatewayDispute[] = []
      const created = { gte: Math.floor(since.getTime() / 1000) }
      let after: string | undefined
      for (;;) {
        const page = await callStripe(
          stripe.disputes.list({
            created,
            limit: pageSize,
            ...(after !== undefined && { starting_after: after }),
          }),
        )
        found.push(...page.data.flatMap((dispute) => disputeOf(dispute) ?? []))
        after = page.data.at(-1)?.id
        if (!page.has_more || after === undefined) return found
      }
    },
    submit: async (id, { answerId, text }) =>
      known(
        await callStripe(
          stripe.disputes.update(
            id,
            { evidence: { uncategorized_text: text }, submit: true },
            { idempotencyKey: `answer-${answerId}` },
          ),
        ),
      ),
    accept: async (id, answerId) =>
      known(
        await callStripe(stripe.disputes.close(id, {}, { idempotencyKey: `answer-${answerId}` })),
      ),
  }
}
