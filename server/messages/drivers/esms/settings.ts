/** Settings of the eSMS driver. */
import * as z from 'zod/mini'

const filled = z.string().check(z.regex(/\S/, { error: 'must not be blank' }))

export const settings = z.object({
  apiKey: filled,
  /** Never printed. */
  secretKey: filled,
  /** The sender's name, registered with the carriers. */
  brandname: filled,
  /** The service's base, before /MainService.svc. */
  url: z._default(
    z.url({ protocol: /^https?$/, error: 'a URL that begins with https://' }),
    'https://rest.esms.vn',
  ),
  /** Time limit of one call, in milliseconds. */
  timeoutMs: z._default(z.int().check(z.gte(1)), 10_000),
})
export type EsmsSettings = z.output<typeof settings>

/** The names of the settings in the environment. */
export const environment = {
  apiKey: 'ESMS_API_KEY',
  secretKey: 'ESMS_SECRET_KEY',
  brandname: 'ESMS_BRANDNAME',
  url: 'ESMS_URL',
} as const
