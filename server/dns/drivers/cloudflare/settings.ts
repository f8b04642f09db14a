/** Settings of the Cloudflare driver. */
import * as z from 'zod/mini'

const filled = z.string().check(z.regex(/\S/, { error: 'must not be blank' }))

export const settings = z.object({
  /** Needs Zone:Edit and DNS:Edit on the account's zones. Never printed. */
  apiToken: filled,
  accountId: filled,
  url: z._default(
    z.url({ protocol: /^https?$/, error: 'a URL that begins with https://' }),
    'https://api.cloudflare.com/client/v4',
  ),
  /** 60; 30 with an Enterprise plan. A shorter TTL is served as this. */
  minTtlSeconds: z._default(z.int().check(z.gte(30)), 60),
  /**
   * Changes per call: 200 on the free plan, 3500 on others. The state record takes two of them, so
   * below 3 nothing else would fit.
   */
  changesPerCall: z._default(z.int().check(z.gte(3)), 200),
  /** Time limit of one call, in milliseconds. */
  timeoutMs: z._default(z.int().check(z.gte(1)), 15_000),
})
export type CloudflareSettings = z.output<typeof settings>
