/** Acts on disputes. A job calls the gateway; the payments module posts the result. */
import { disputeMoney, NotAnswerable, type Answered } from '../payments/index.ts'
import type { Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { ActNeeds, Done, RegistryOf } from './acts.ts'
import { isAbove } from './second-member.ts'
import { without } from './kept.ts'

async function answer(
  tx: Tx,
  { disputeAnswers }: ActNeeds,
  id: string,
  text?: string,
): Promise<Done> {
  let answered: Answered
  try {
    answered = await disputeAnswers.answerIn(tx, id, text)
  } catch (error) {
    if (!(error instanceof NotAnswerable)) throw error
    throw new Refusal('conflict', { fields: { dispute: error.text } })
  }
  const { dispute, answerId, customerId } = answered
  return {
    subject: { kind: 'dispute', id },
    customerId,
    before: { state: dispute.state },
    after: {
      answer: answerId,
      amount: Number(dispute.amount),
      currency: dispute.currency,
    },
  }
}

export const disputeActs: RegistryOf<'dispute'> = {
  'dispute.answer': {
    // The dispute has the text.
    kept: without('evidence'),
    run: (tx, needs, _actor, { dispute, evidence }) => answer(tx, needs, dispute, evidence),
  },
  'dispute.accept': {
    customer: async (tx, { dispute }) => (await disputeMoney(tx, dispute))?.customerId ?? null,
    async needsSecond(tx, needs, { dispute }) {
      const found = await disputeMoney(tx, dispute)
      if (!found) throw new Refusal('not_found')
      return isAbove(needs, found.currency, found.amount)
    },
    run: (tx, needs, _actor, { dispute }) => answer(tx, needs, dispute),
  },
}
