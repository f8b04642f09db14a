/**
 * What the loss of a node means for its servers, as the operator's desk shows it (decision 123).
 */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

const sentence = z.object({ en: z.string(), vi: z.string() })
const moment = z.iso.datetime({ offset: true })

export const NodeLoss = z.object({
  node: z.string(),
  /** The node has sent no heartbeat for a minute. */
  isAway: z.boolean(),
  /** The last heartbeat; null: there was none. */
  heardAt: z.nullable(moment),
  /** Until when the node's lease lets it accept writes; null: it has no lease. */
  writesUntil: z.nullable(moment),
  /** The lease has expired: the node accepts no writes any more. */
  isFenced: z.boolean(),
  servers: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      /** The server is being started on `to`. */
      isUnderWay: z.boolean(),
      /** The node on which the server would start; null: none. */
      to: z.nullable(z.string()),
      /** The time of its mirror or newest proven backup: later writes would be lost. */
      contentAt: z.nullable(moment),
      /** True: the content comes from a mirror, not from a backup. */
      isMirrored: z.boolean(),
      /** Why it cannot start elsewhere; null: it can. */
      why: z.nullable(sentence),
      /** Why the last attempt failed; null: there was none, or it did not fail. */
      failed: z.nullable(z.string()),
    }),
  ),
  /** Servers that were started elsewhere, and whose old content is still on this node. */
  elsewhere: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      to: z.string(),
      at: moment,
      contentAt: z.nullable(moment),
      /** Until when the old content is kept; null: the node has sent no heartbeat since. */
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
