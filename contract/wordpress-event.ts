/** What the events of a server tell. The pages read their payloads without it. */
import * as z from 'zod/mini'
import { Status } from './wordpress.ts'

/**
 * Payload of wordpress.status. `deleted` is told of a server that no call shows any more; every
 * other state is that of the server.
 */
export const StatusEvent = z.object({
  wp: z.object({
    id: z.string(),
    name: z.string(),
    status: z.enum([...Status.options, 'deleted']),
    reason: z.nullable(z.string()),
  }),
})
export type StatusEvent = z.output<typeof StatusEvent>
