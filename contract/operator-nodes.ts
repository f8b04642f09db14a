/** Nodes that are lost, as the operator's desk shows them (decision 123). */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

const sentence = z.object({ en: z.string(), vi: z.string() })
const moment = z.iso.datetime({ offset: true })

export const NodeLoss = z.object({
  node: z.string(),
  /** It was not heard of for a minute. */
  isAway: z.boolean(),
  /** Null: it was never heard of. */
  heardAt: z.nullable(moment),
  /** Until when it may take writes; null: it keeps to no lease. */
  writesUntil: z.nullable(moment),
  /** That time is over: it takes no write any more. */
  isFenced: z.boolean(),
  servers: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      /** It is being brought up on `to`. */
      isUnderWay: z.boolean(),
      /** Where it would come up; null: nowhere. */
      to: z.nullable(z.string()),
      /** Of when its mirror or newest proven backup is: what was written since would be lost. */
      contentAt: z.nullable(moment),
      /** That is a mirror. */
      isMirrored: z.boolean(),
      /** Why it cannot come up elsewhere; null: it can. */
      why: z.nullable(sentence),
      /** What the last try failed with; null: there was none, or it did not fail. */
      failed: z.nullable(z.string()),
    }),
  ),
  /** Servers that came up elsewhere, and whose old content is on it. */
  elsewhere: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      to: z.string(),
      at: moment,
      contentAt: z.nullable(moment),
      /** Until when the old content is kept; null: the node was not heard of since. */
      keptUntil: z.nullable(moment),
    }),
  ),
})
export type NodeLoss = z.output<typeof NodeLoss>

export const nodeLoss = endpoint({
  method: 'GET',
  path: '/api/operator/nodes/:id/loss',
  access: 'staff',
  may: 'look',
  summary: 'A node, and where each of its servers would come up if it were lost',
  params: z.object({ id: z.string().check(z.maxLength(40)) }),
  result: NodeLoss,
})
