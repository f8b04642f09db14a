/** What the PowerDNS driver needs from the operator. */
import * as z from 'zod/mini'

export const settings = z.object({
  /** Where its HTTP API listens, before /api/v1. Keep it in a network of your own. */
  url: z.url({ protocol: /^https?$/, error: 'a URL that begins with https:// or http://' }),
  /** Never printed. */
  apiKey: z.string().check(z.regex(/\S/, { error: 'must not be blank' })),
  serverId: z._default(z.string().check(z.minLength(1)), 'localhost'),
  /** Time limit of one call, in milliseconds. */
  timeoutMs: z._default(z.int().check(z.gte(1)), 10_000),
})
export type PowerdnsSettings = z.output<typeof settings>
