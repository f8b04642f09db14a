/** What the operator's desk reads of money that gateways hold, take and dispute (decision 109). */
import * as z from 'zod/mini'
import { endpoint, idParam, pageQuery } from './endpoint.ts'
import { currency, minor } from './money.ts'

const time = z.string()
const who = z.nullable(z.object({ id: z.string(), name: z.string(), email: z.string() }))

const disputeFields = {
  id: z.string(),
  /** The gateway's id of it. */
  reference: z.string(),
  gateway: z.string(),
  state: z.enum(['needs_evidence', 'under_review', 'won', 'lost', 'closed']),
  /** The bank only asks: no money has moved. */
  isInquiry: z.boolean(),
  amount: minor,
  currency,
  /** In the gateway's own word. */
  reason: z.string(),
  /** What the gateway charges for it; null: it does not say. */
  fee: z.nullable(minor),
  /** What the gateway has done with the money. */
  money: z.enum(['kept', 'taken', 'returned']),
  openedAt: time,
  evidenceDueAt: z.nullable(time),
  closedAt: z.nullable(time),
  /** The transaction code of the top-up. */
  payment: z.string(),
  customer: who,
  /** How an answer stands; null: there is none. */
  answer: z.nullable(z.enum(['requested', 'done', 'refused', 'unclear'])),
}
export const Dispute = z.object(disputeFields)
export type Dispute = z.output<typeof Dispute>

export const disputes = endpoint({
  method: 'GET',
  path: '/api/operator/disputes',
  access: 'staff',
  may: 'look',
  summary: 'Disputes of card payments, newest first; with `open`, those that are not decided yet',
  query: z.object({ ...pageQuery, show: z.optional(z.enum(['open', 'all'])) }),
  result: z.array(Dispute),
  paged: true,
})
export const dispute = endpoint({
  method: 'GET',
  path: '/api/operator/disputes/:id',
  access: 'staff',
  may: 'look',
  summary: 'A dispute: what was taken from the wallet, what is owed, and what was answered',
  params: idParam,
  result: z.object({
    ...disputeFields,
    /** Characters of evidence that the gateway takes; null: it takes none by a call. */
    evidenceAtMost: z.nullable(z.int()),
    /** What the dispute was posted as; null: nothing was. */
    posted: z.nullable(
      z.object({
        at: time,
        fromWallet: minor,
        /** What the wallet did not hold, and what of it was set off since. */
        owed: minor,
        setOff: minor,
      }),
    ),
    returnedAt: z.nullable(time),
    answers: z.array(
      z.object({
        id: z.string(),
        at: time,
        kind: z.enum(['evidence', 'acceptance']),
        text: z.string(),
        status: z.enum(['requested', 'done', 'refused', 'unclear']),
        detail: z.nullable(z.string()),
      }),
    ),
  }),
})
