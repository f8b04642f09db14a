/** What the operator's desk reads of gateways' webhooks (decision 114). */
import * as z from 'zod/mini'
import { endpoint, idParam, pageQuery } from './endpoint.ts'
import { currency, minor } from './money.ts'

const time = z.string()
/**
 * How it was judged. `posted`: it was handled, and what it said of money is in the ledger;
 * `duplicate`: that was done before; `suspense`: the money waits there, for no payment fits;
 * `forged`: its signature is wrong; `failed`: it could not be handled; `unfinished`: nobody wrote
 * down how it ended.
 */
export const noticeOutcomes = [
  'posted',
  'duplicate',
  'suspense',
  'forged',
  'failed',
  'unfinished',
] as const
export type NoticeOutcome = (typeof noticeOutcomes)[number]

const fields = {
  id: z.int(),
  gateway: z.string(),
  at: time,
  outcome: z.enum(noticeOutcomes),
  /** The transaction code of the payment that it was about. */
  payment: z.nullable(z.string()),
  /** When it was last handled again, and how that ended. */
  replayedAt: z.nullable(time),
  replayOutcome: z.nullable(z.enum(noticeOutcomes)),
}
export const GatewayNotice = z.object(fields)
export type GatewayNotice = z.output<typeof GatewayNotice>

export const notices = endpoint({
  method: 'GET',
  path: '/api/operator/webhooks',
  access: 'staff',
  may: 'look',
  summary:
    'Webhooks of gateways as received, newest first; with `trouble` those that were not posted',
  query: z.object({ ...pageQuery, show: z.optional(z.enum(['trouble', 'all'])) }),
  result: z.array(GatewayNotice),
  paged: true,
})

export const NoticeDetail = z.object({
  ...fields,
  method: z.string(),
  /** What came in the address and in the body, cut, without secrets and card data. */
  query: z.array(z.object({ name: z.string(), value: z.string() })),
  body: z.string(),
  /** Whether the text was longer than what is shown. */
  isCut: z.boolean(),
  /** What it says, as its driver read it; null where that is not known. */
  says: z.nullable(
    z.object({
      event: z.string(),
      /** `ask`: only which payment to ask about; `dispute`: which dispute. */
      status: z.string(),
      reference: z.nullable(z.string()),
      amount: z.nullable(minor),
      currency: z.nullable(currency),
    }),
  ),
  replayable: z.boolean(),
})
export type NoticeDetail = z.output<typeof NoticeDetail>
export const notice = endpoint({
  method: 'GET',
  path: '/api/operator/webhooks/:id',
  access: 'staff',
  may: 'money',
  summary: 'A webhook of a gateway, without secrets and card data',
  params: idParam,
  result: NoticeDetail,
})
