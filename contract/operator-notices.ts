/** What the operator's desk reads about gateways' webhooks (decision 114). */
import * as z from 'zod/mini'
import { endpoint, idParam, pageQuery } from './endpoint.ts'
import { currency, minor } from './money.ts'

const time = z.string()
/**
 * The outcome of a webhook. `posted`: it was handled, and its money is in the ledger. `duplicate`:
 * it was handled before. `suspense`: its money is in suspense, because no payment matches.
 * `forged`: its signature is wrong. `failed`: handling it failed. `unfinished`: its outcome was
 * never recorded.
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
  /** The transaction code of the payment that the webhook is about. */
  payment: z.nullable(z.string()),
  /** When it was last replayed, and with which outcome. */
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
  /** Its query and body, shortened, without secrets and card data. */
  query: z.array(z.object({ name: z.string(), value: z.string() })),
  body: z.string(),
  /** Whether the body was longer than what is shown. */
  isCut: z.boolean(),
  /** Its content as the driver read it; null where that is unknown. */
  says: z.nullable(
    z.object({
      event: z.string(),
      /** `ask`: it only names a payment to query; `dispute`: it only names a dispute. */
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
