/** Settings of the PowerDNS driver. */
import * as z from 'zod/mini'

export const settings = z.object({
  /** The address of its HTTP API, without /api/v1. It should be in a private network. */
  url: z.url({ protocol: /^https?$/, error: 'a URL that begins with https:// or http://' }),
  /** Never printed. */
  apiKey: z.string().check(z.regex(/\S/, { error: 'must not be blank' })),
  serverId: z._default(z.string().check(z.minLength(1)), 'localhost'),
  /** Time limit of one call, in milliseconds. */
  timeoutMs: z._default(z.int().check(z.gte(1)), 10_000),
})
export type PowerdnsSettings = z.output<typeof settings>
